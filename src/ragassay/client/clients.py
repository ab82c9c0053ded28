"""The two clients: one waits for each answer, one is asynchronous. They have the same calls.

The names of ML cube's client work, too: `compute_rag_evaluation_report`, `wait_job_completion`,
`get_rag_evaluation_reports`, `export_rag_evaluation_report`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import partial, wraps
from types import MethodType
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

try:
    import httpx2
except ModuleNotFoundError as error:
    problem = "The client needs its package: pip install 'ragassay[client]'."
    raise ModuleNotFoundError(problem, name="httpx2") from error

from ragassay.client import calls
from ragassay.client.client_errors import (
    JobFailed,
    JobIncomplete,
    JobTimeout,
    NotFound,
    RequestRefused,
    Unreachable,
)
from ragassay.client.client_requests import (
    Call,
    address,
    headers,
    pieces_of,
    polling_seconds,
    refusal,
)
from ragassay.client.record_buffer import RecordBuffer
from ragassay.client.shapes import Job

P = ParamSpec("P")
T = TypeVar("T")

TIMEOUT_S = 180.0
PAUSES_S = (0.1, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further attempt at a call that reached nobody."""
AGAIN = object()


class _Method(Generic[P, T]):
    """A call as a method of both clients: `Client` gives its answer, `AsyncClient` awaits it.

    Args:
        call: makes the request of the method's arguments.
    """

    def __init__(self, call: Callable[P, Call[T]]) -> None:
        @wraps(call)
        def method(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return client._do(call(*args, **kwargs))

        # The signature that readers and `inspect` see: the call's, as that of a method.
        signature = inspect.signature(call)
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        returned = str(signature.return_annotation).removeprefix("Call[").removesuffix("]")
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[own, *signature.parameters.values()], return_annotation=returned
        )
        self._method = method

    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: Client, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncClient, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        return self._method if client is None else MethodType(self._method, client)


H = TypeVar("H")


class _Connected(ABC, Generic[H]):
    """What both clients have in common: the calls, the settings, and the connections ``H``."""

    create_project = _Method(calls.create_project)
    list_projects = _Method(calls.list_projects)
    create_task = _Method(calls.create_task)
    list_tasks = _Method(calls.list_tasks)
    add_records = _Method(calls.add_records)
    upload_file = _Method(calls.upload_file)
    preview_upload = _Method(calls.preview_upload)
    import_upload = _Method(calls.import_upload)
    delete_upload = _Method(calls.delete_upload)
    preview_report = _Method(calls.preview_report)
    create_report = _Method(calls.create_report)
    list_reports = _Method(calls.list_reports)
    get_report = _Method(calls.get_report)
    delete_project = _Method(calls.delete_project)
    delete_task = _Method(calls.delete_task)
    delete_record = _Method(calls.delete_record)
    delete_report = _Method(calls.delete_report)
    get_job = _Method(calls.get_job)
    list_jobs = _Method(calls.list_jobs)
    cancel_job = _Method(calls.cancel_job)
    retry_job = _Method(calls.retry_job)
    download_run = _Method(calls.download_run)
    upload_run = _Method(calls.upload_run)
    download_report = _Method(calls.download_report)
    compare_reports = _Method(calls.compare_reports)
    download_comparison = _Method(calls.download_comparison)
    compute_rag_evaluation_report = _Method(calls.compute_rag_evaluation_report)
    export_rag_evaluation_report = _Method(calls.export_rag_evaluation_report)
    get_rag_evaluation_reports = list_reports

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        polling: float | None = None,
    ) -> None:
        self._polling = polling_seconds(polling)
        self._buffer = RecordBuffer(partial(Client, url, token, timeout=timeout))
        self._http = self._connected(base_url=address(url), headers=headers(token), timeout=timeout)

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

    @abstractmethod
    def _connected(self, **settings: Any) -> H: ...

    def _pause(self, job: Job, limit: float, begun: float) -> float:
        """Seconds until the next look at a job.

        Args:
            job: that has not ended.
            limit: seconds to wait for it at most.
            begun: when the waiting began (`time.monotonic`).

        Raises:
            JobTimeout: the limit is reached.
        """
        left = begun + limit - time.monotonic()
        if left <= 0:
            raise JobTimeout(job.id, limit, job.status)
        return max(0.0, min(self._polling, left))


class Client(_Connected["httpx2.Client"]):
    """A client that waits for each answer. Use it as a context manager, or close it.

    Args:
        url: of the service; the environment variable ``RAGASSAY_URL``, or this machine.
        token: that allows it; the variable ``RAGASSAY_TOKEN``, or none.
        timeout: seconds for a request.
        polling: seconds between two looks at a job; the variable ``RAGASSAY_POLLING``, or 1.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Sends what was logged, and ends the connections."""
        self._buffer.close()
        self._http.close()

    def flush(self, seconds: float = 10.0) -> bool:
        """Waits until what was logged is stored; whether it is.

        Args:
            seconds: to wait at most.
        """
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

    def _connected(self, **settings: Any) -> httpx2.Client:
        return httpx2.Client(**settings)

    def _do(self, call: Call[T]) -> T:
        attempts = _Attempts(call, self._http.base_url)
        while True:
            try:
                answer = self._http.request(
                    *(call.method, call.path),
                    **{"params": call.query, "headers": attempts.headers, **_body(call)},
                )
            except httpx2.HTTPError as error:
                attempts.failed(error)
            else:
                if (outcome := attempts.outcome(answer)) is not AGAIN:
                    return outcome  # type: ignore[no-any-return]
            time.sleep(attempts.pause)


class AsyncClient(_Connected["httpx2.AsyncClient"]):
    """The client for asynchronous programs: the calls of `Client`, to be awaited.

    Args:
        url, token, timeout, polling: as of `Client`.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Sends what was logged, and ends the connections."""
        await asyncio.to_thread(self._buffer.close)
        await self._http.aclose()

    async def flush(self, seconds: float = 10.0) -> bool:
        """Waits until what was logged is stored; whether it is.

        Args:
            seconds: to wait at most.
        """
        return await asyncio.to_thread(self._buffer.flush, seconds)

    async def wait_job_completion(
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
        while not (job := await self.get_job(job_id)).has_ended:
            await asyncio.sleep(self._pause(job, max_wait_timeout, begun))
        return _done(job, allow_incomplete=allow_incomplete)

    def _connected(self, **settings: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(**settings)

    async def _do(self, call: Call[T]) -> T:
        attempts = _Attempts(call, self._http.base_url)
        while True:
            try:
                answer = await self._http.request(
                    *(call.method, call.path),
                    **{"params": call.query, "headers": attempts.headers, **_async_body(call)},
                )
            except httpx2.HTTPError as error:
                attempts.failed(error)
            else:
                if (outcome := attempts.outcome(answer)) is not AGAIN:
                    return outcome  # type: ignore[no-any-return]
            await asyncio.sleep(attempts.pause)


class _Attempts:
    """The attempts at a call. One that reached nobody is made again after a pause; so is one that
    may have been done, unless it must be done once only: everything that a call makes has a key,
    by which the service knows it again.

    Args:
        call: to be made.
        url: of the service, for messages.
    """

    def __init__(self, call: Call[T], url: Any) -> None:
        self._call, self._url, self._pauses = call, url, iter(PAUSES_S)
        self.headers = {} if call.method == "GET" else {"Idempotency-Key": uuid.uuid4().hex}
        self._n = 0

    def outcome(self, answer: httpx2.Response) -> Any:
        """What came of the call; `AGAIN` where it is to be made again, after a pause."""
        self._n += 1
        if answer.status_code == 202 and self._call.as_bytes:  # the file is being made
            self.pause = float(answer.headers.get("Retry-After", "1"))
            return AGAIN
        try:
            return _read(self._call, answer)
        except NotFound:
            if self._n > 1 and self._call.method == "DELETE":
                return self._call.read(None)  # an earlier attempt has deleted it
            raise
        except Unreachable as problem:
            # 503: the service has changed nothing. The others come from something before it.
            self._check(problem, may_be_done=problem.status != 503)
        return AGAIN

    def failed(self, error: httpx2.HTTPError) -> None:
        """Notes that there was no answer.

        Raises:
            Unreachable: it is not to be made again.
        """
        self._n += 1
        problem = Unreachable(0, f"{self._url} cannot be asked: {type(error).__name__}: {error}.")
        unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        if not unsent and not isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError):
            raise problem from error  # a service that is slow, say
        self._check(problem, may_be_done=not unsent)

    def _check(self, problem: Unreachable, *, may_be_done: bool) -> None:
        pause = next(self._pauses, None)
        if pause is None or (may_be_done and self._call.once):
            raise problem
        self.pause = pause


def _body(call: Call[Any]) -> dict[str, Any]:
    return {"json": call.body} if call.file is None else {"content": pieces_of(call.file)}


def _async_body(call: Call[Any]) -> dict[str, Any]:
    if call.file is None:
        return {"json": call.body}
    pieces = pieces_of(call.file)

    async def stream() -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(next, pieces, b""):
            yield piece

    return {"content": stream()}


def _read(call: Call[T], answer: httpx2.Response) -> T:
    if not answer.is_success:
        raise refusal(answer.status_code, answer.text)
    if call.as_bytes:
        return call.read(answer.content)
    try:
        return call.read(answer.json() if answer.content else None)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{answer.url} did not answer as a ragassay service does. Is it one?"
        raise RequestRefused(answer.status_code, problem) from error


def _done(job: Job, *, allow_incomplete: bool) -> Job:
    why = job.error or "No reason was given."
    if job.status == "error":
        raise JobFailed(job.id, why)
    if job.status == "incomplete" and not allow_incomplete:
        raise JobIncomplete(job.id, why)
    return job
