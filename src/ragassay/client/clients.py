"""The two clients: one waits for each answer, one is asynchronous. They have the same calls.

The names of ML cube's client work, too: `compute_rag_evaluation_report`, `wait_job_completion`,
`get_rag_evaluation_reports`, `export_rag_evaluation_report`.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

try:
    import httpx2
except ModuleNotFoundError as error:
    problem = "The client needs its package: pip install 'ragassay[client]'."
    raise ModuleNotFoundError(problem, name="httpx2") from error

from ragassay.base.errors import UsageError, system_problem
from ragassay.client.archives import pack
from ragassay.client.calls import Call, Calls
from ragassay.client.record_buffer import RecordBuffer
from ragassay.client.service_shapes import (
    Job,
    JobFailed,
    JobIncomplete,
    JobTimeout,
    NotFound,
    RequestRefused,
    Unauthorised,
    Unreachable,
)

T = TypeVar("T")

URL_VARIABLE, TOKEN_VARIABLE = "RAGASSAY_URL", "RAGASSAY_TOKEN"
TIMEOUT_S = 180.0
PAUSES_S = (0.1, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further attempt at a call that reached nobody."""

_KINDS: Mapping[int, type[RequestRefused]] = {
    **dict.fromkeys((401, 403), Unauthorised),
    404: NotFound,
    **dict.fromkeys((502, 503, 504), Unreachable),
}


class _Connected(Calls):
    """What both clients have in common: the calls, the settings, and the connections."""

    _connect: ClassVar[Callable[..., Any]]
    _http: Any

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        polling: float = 1.0,
    ) -> None:
        base = url or os.environ.get(URL_VARIABLE) or "http://127.0.0.1:8765"
        sent = token or os.environ.get(TOKEN_VARIABLE)
        self._polling = polling
        self._buffer = RecordBuffer(partial(Client, url, token, timeout=timeout))
        self._http = self._connect(
            base_url=base.rstrip("/") + "/api/v1",
            headers={"Authorization": f"Bearer {sent}"} if sent else {},
            timeout=timeout,
        )

    def log(self, task_id: str, record: Mapping[str, Any]) -> bool:
        """Logs a record without waiting: a thread sends records in batches, and goes on when a
        service that was away is back. `flush` and `close` wait for it, and so does the end of the
        program (10 s at most). What cannot be logged after all is said by a warning of the logger
        ``ragassay.client``. `add_records` waits for the service.

        Args:
            task_id: of the task.
            record: see docs/service.md; where it has no ``id`` or ``timestamp``, a new one and this
                moment.

        Returns:
            Whether there was room: 64 MB of records wait at most.

        Raises:
            InputError: JSON cannot hold a value, or the record has more than 32 MB.
            UsageError: it is no mapping, or the client is closed.
        """
        return self._buffer.add(task_id, record)

    def _pause(self, job: Job, limit: float, begun: float) -> float:
        """Seconds until the next look at a job that has not ended; a `JobTimeout` where ``limit``
        seconds have passed since ``begun``."""
        left = begun + limit - time.monotonic()
        if left <= 0:
            raise JobTimeout(job.id, limit, job.status)
        return max(0.0, min(self._polling, left))


class Client(_Connected):
    """A client that waits for each answer. Use it as a context manager, or close it.

    Args:
        url: of the service; the environment variable ``RAGASSAY_URL``, or this machine.
        token: that allows it; the variable ``RAGASSAY_TOKEN``, or none.
        timeout: seconds for a request.
        polling: seconds between two checks of a job.
    """

    _connect = httpx2.Client
    _http: httpx2.Client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Sends what was logged, and ends the connections."""
        self._buffer.close()
        self._http.close()

    def flush(self, seconds: float = 10.0) -> bool:
        """Waits, so many seconds at most, until what was logged is stored; whether it is."""
        return self._buffer.flush(seconds)

    def wait_job_completion(
        self, job_id: str, max_wait_timeout: float = 7_200, *, allow_incomplete: bool = False
    ) -> Job:
        """Waits for a job to end.

        Args:
            job_id: of the job.
            max_wait_timeout: seconds to wait at most.
            allow_incomplete: return a job whose result lacks something, too.

        Raises:
            JobFailed: it ended with an error.
            JobIncomplete: its result lacks something.
            JobTimeout: it did not end in time.
        """
        begun = time.monotonic()
        while not (job := self.get_job(job_id)).has_ended:
            time.sleep(self._pause(job, max_wait_timeout, begun))
        return _done(job, allow_incomplete=allow_incomplete)

    def _do(self, call: Call[T]) -> T:
        attempts, request = _attempts(call, self._http.base_url), _request(call)
        pause = next(attempts)
        while True:
            time.sleep(pause)
            answer: httpx2.Response | httpx2.HTTPError
            content = _pieces(call.file) if call.file else None
            try:
                answer = self._http.request(**request, content=content)
            except httpx2.HTTPError as error:
                answer = error
            try:
                pause = attempts.send(answer)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]


class AsyncClient(_Connected):
    """The client for asynchronous programs: the calls of `Client`, to be awaited.

    Args:
        url, token, timeout, polling: as of `Client`.
    """

    _connect = httpx2.AsyncClient
    _http: httpx2.AsyncClient

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Sends what was logged, and ends the connections."""
        await asyncio.to_thread(self._buffer.close)
        await self._http.aclose()

    async def flush(self, seconds: float = 10.0) -> bool:
        """Waits until what was logged is stored; as of `Client.flush`."""
        return await asyncio.to_thread(self._buffer.flush, seconds)

    async def wait_job_completion(
        self, job_id: str, max_wait_timeout: float = 7_200, *, allow_incomplete: bool = False
    ) -> Job:
        """Waits for a job to end; as of `Client.wait_job_completion`."""
        begun = time.monotonic()
        while not (job := await self.get_job(job_id)).has_ended:
            await asyncio.sleep(self._pause(job, max_wait_timeout, begun))
        return _done(job, allow_incomplete=allow_incomplete)

    async def _do(self, call: Call[T]) -> T:
        attempts, request = _attempts(call, self._http.base_url), _request(call)
        pause = next(attempts)
        while True:
            await asyncio.sleep(pause)
            answer: httpx2.Response | httpx2.HTTPError
            content = _async_pieces(call.file) if call.file else None
            try:
                answer = await self._http.request(**request, content=content)
            except httpx2.HTTPError as error:
                answer = error
            try:
                pause = attempts.send(answer)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]


def _attempts(call: Call[T], url: Any) -> Generator[float, httpx2.Response | httpx2.HTTPError, T]:
    """The attempts at a call: yields the pause before each, takes its answer or why there is none,
    and returns what came of it.

    One that reached nobody is made again; so is one that may have been done, unless it must be done
    once only: everything that a call makes has a key, by which the service knows it again.
    """
    pauses, pause, n = iter(PAUSES_S), 0.0, 0
    while True:
        answer = yield pause
        n += 1
        if isinstance(answer, httpx2.HTTPError):
            problem = Unreachable(0, f"{url} does not answer: {type(answer).__name__}: {answer}.")
            unsent = isinstance(answer, httpx2.ConnectError | httpx2.ConnectTimeout)
            lost = isinstance(answer, httpx2.NetworkError | httpx2.RemoteProtocolError)
            if not unsent and not lost:
                raise problem from answer  # a service that is slow, say
        else:
            try:
                return _read(call, answer)
            except NotFound:
                if n > 1 and call.method == "DELETE":
                    return call.read(None)  # an earlier attempt has deleted it
                raise
            except Unreachable as refused:
                # 503: the service has changed nothing. The others come from something before it.
                problem, unsent = refused, refused.status == 503
        again = next(pauses, None)
        if again is None or (call.once and not unsent):
            raise problem
        pause = again


def _request(call: Call[Any]) -> dict[str, Any]:
    """What all attempts at a call send, but a file."""
    key = {} if call.method == "GET" else {"Idempotency-Key": uuid.uuid4().hex}
    request = {"method": call.method, "url": call.path, "params": call.query, "headers": key}
    return request if call.file else {**request, "json": call.body}


def _pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, or of an archive of a folder, in pieces."""
    try:
        with tempfile.TemporaryFile() if path.is_dir() else path.open("rb") as stream:
            if path.is_dir():
                pack(path, stream)
                stream.seek(0)
            yield from iter(lambda: stream.read(1 << 20), b"")
    except OSError as error:
        raise UsageError(f"{path} cannot be opened: {system_problem(error)}.") from error


async def _async_pieces(path: Path) -> AsyncIterator[bytes]:
    pieces = _pieces(path)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _read(call: Call[T], answer: httpx2.Response) -> T:
    if not answer.is_success:
        raise _refusal(answer.status_code, answer.text)
    if call.as_bytes:
        return call.read(answer.content)
    try:
        return call.read(answer.json() if answer.content else None)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{answer.url} does not answer like a ragassay service. Check the address."
        raise RequestRefused(answer.status_code, problem) from error


def _refusal(status: int, text: str) -> RequestRefused:
    """The error for an answer that is no success, of the service or of something before it."""
    kind = _KINDS.get(status, RequestRefused)
    with suppress(ValueError):
        body = json.loads(text)
        if isinstance(body, Mapping) and "detail" in body:
            return kind(status, str(body["detail"]), body.get("field"), body.get("line"))
    return kind(status, " ".join(text.split())[:200] or "No reason was given.")


def _done(job: Job, *, allow_incomplete: bool) -> Job:
    why = job.error or "No reason was given."
    if job.status == "error":
        raise JobFailed(job.id, why)
    if job.status == "incomplete" and not allow_incomplete:
        raise JobIncomplete(job.id, why)
    return job
