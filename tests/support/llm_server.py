"""A real local HTTP server that speaks the OpenAI chat completions API, Anthropic's and Google's
own protocols (`llm_native`) and ``/v1/embeddings`` (`llm_embeddings`), for tests and benchmarks::

    with LLMServer(faults={"error_500": 0.3}) as server:  # a thread
        client = AsyncOpenAI(base_url=server.url, api_key="any")
        assert server.stats()["answered"] == 10
    with server_process(latency=0.2) as url: ...  # a process, for tests that kill the client

It answers by a rule, a function from a `Request` to a text or to something that becomes JSON. The
default rule makes a valid answer to any built-in question from a hash of the messages.

``GET /stats`` gives the counters; ``POST /set`` with a JSON object changes any of the `Settings`
but the rule.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from llm_embeddings import embeddings_answer
from llm_faults import Answer, Faults, error_reply, faulty, rejection
from llm_native import from_native, native_completion, native_error, protocol_of
from llm_rule import Request, Rule, default_rule


@dataclass
class Settings:
    """How the server answers.

    Attributes:
        latency, jitter: seconds before a reply with status 200, and how much they vary.
        faults: which requests go wrong. By the name of a fault its share of all requests (drawn
            from the seed, the request's body and how often that body came before: the same requests
            fail in whatever order they come); a list, whose n-th entry is for the n-th request; or
            a function from a `Request` to a fault's name or ``None``.
        rejects: parameters that are answered with status 400, in the words of a ``dialect``.
        key, models, context, batch: what a request must have, or may have at most.
        usage: whether replies count tokens; a mapping is sent in place of the counts.
        hold: while it is true, no reply leaves: what is in flight then is no matter of time.
    """

    rule: Rule = default_rule
    latency: float = 0.0
    jitter: float = 0.0
    faults: Faults = field(default_factory=dict)
    rejects: Sequence[str] = ()
    dialect: str = "openai"
    seed: int = 0
    key: str | None = None
    models: Sequence[str] | None = None
    context: int | None = None
    batch: int | None = None
    usage: bool | Mapping[str, Any] = True
    hold: bool = False


class _State:
    """What came so far."""

    def __init__(self) -> None:
        self.in_flight = self.in_flight_most = 0
        self.reset()

    def reset(self) -> None:
        self.requests = self.answered = self.connections = 0
        self.in_flight_most = self.in_flight
        self.statuses: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.bodies: Counter[bytes] = Counter()
        self.paid: set[bytes] = set()
        self.texts: Counter[str] = Counter()
        self.kept: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.headers: set[str] = set()

    def stats(self) -> dict[str, Any]:
        names = ("requests", "answered", "in_flight", "in_flight_most", "connections")
        return {name: getattr(self, name) for name in names} | {
            "distinct": len(self.bodies), "distinct_answered": len(self.paid),
            "texts": self.texts.total(), "distinct_texts": len(self.texts),
            "statuses": {str(status): n for status, n in self.statuses.items()},
            "faults": dict(self.faults),
        }  # fmt: skip


class LLMServer:
    """The server in a thread of its own; a context manager. Arguments: see `Settings`."""

    def __init__(self, rule: Rule = default_rule, *, port: int = 0, **settings: Any) -> None:
        self.settings = Settings(rule=rule, **settings)
        self.state = _State()
        self.port = port

    @property
    def url(self) -> str:
        """The base URL, ending in ``/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the first 5,000 requests."""
        return self.state.kept

    def stats(self) -> dict[str, Any]:
        """Counters: requests, answered (replies with status 200), distinct, in_flight_most, ..."""
        return self.state.stats()

    def __enter__(self) -> LLMServer:
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self.serve(ready.set)), daemon=True, name="llm-server"
        )
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)

    async def serve(self, ready: Any) -> None:
        """Listens until the end; calls ``ready`` when it does."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, backlog=1024, limit=1 << 30
        )
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await self._over.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.state.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                pairs = (line.partition(":") for line in lines)
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if len(self.state.headers) < 200:
                    self.state.headers.update(lines)
                keys = ("api-key", "x-api-key", "x-goog-api-key")
                key = next((headers[name] for name in keys if name in headers), "")
                key = headers.get("authorization", key).removeprefix("Bearer ")
                await self._handle(first, body, key, reader, writer)
        writer.close()

    async def _handle(
        self,
        first: str,
        body: bytes,
        key: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        method, address, _ = first.split(" ", 2)
        path = address.partition("?")[0]
        protocol = "openai" if path.endswith("/embeddings") else protocol_of(path)
        found: Any = {}
        if method == "POST" and protocol:
            await self._chat(protocol, from_native(protocol, path, body), key, reader, writer)
            return
        if path == "/stats":
            found = self.stats()
        elif path == "/set":
            for name, value in json.loads(body).items():
                setattr(self.settings, name, value)
        elif path.endswith("/models"):
            own = {"object": "model", "created": 0, "owned_by": "x"}
            data = [{"id": name, **own} for name in self.settings.models or ["model"]]
            found = {"object": "list", "data": data}
        else:
            _send(writer, 404, b'{"error": {"message": "no such page"}}')
            return
        _send(writer, 200, orjson.dumps(found))

    async def _chat(
        self,
        protocol: str,
        body: bytes,
        key: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        state, settings = self.state, self.settings
        state.in_flight += 1
        state.in_flight_most = max(state.in_flight_most, state.in_flight)
        try:
            made, request = self._answer(body, key)
        except Exception as error:  # a broken rule must not hang the test
            made, request = error_reply(500, f"the rule broke: {error!r}"), None
        try:
            if made.hang:
                await reader.read()  # until the client leaves
                writer.close()
                return
            wait = made.delay
            if made.status == 200:
                wait += settings.latency
                if settings.jitter and request is not None:
                    share = int.from_bytes(request.digest[:4], "big") / 2**32
                    wait += settings.jitter * (2 * share - 1)
            if wait > 0:
                await asyncio.sleep(wait)
            while settings.hold:
                await asyncio.sleep(0.002)
        finally:
            state.in_flight -= 1
        state.statuses[made.status] += 1
        self._reply(protocol, made, request, writer)

    def _reply(
        self, protocol: str, made: Answer, request: Request | None, writer: asyncio.StreamWriter
    ) -> None:
        if made.status == 0:
            writer.transport.abort()
            return
        if made.error is not None:
            error = made.error if protocol == "openai" else native_error(protocol, made)
            _send(writer, made.status, orjson.dumps(error), made.headers)
            return
        embeds = request is not None and request.embeds and made.status == 200
        if made.body is not None and not embeds:
            _send(writer, made.status, made.body, made.headers, "text/html")
            return
        assert request is not None
        self.state.answered += 1
        usage = self.settings.usage
        if made.body is not None:
            body = made.body
        elif protocol == "openai":
            # Not orjson: it writes no number that is too large.
            body = json.dumps(_completion(made, request, usage)).encode()
        else:
            body = orjson.dumps(native_completion(protocol, made, request, bool(usage)))
        _send(writer, 200, body, cut=made.cut)

    def _answer(self, raw: bytes, key: str) -> tuple[Answer, Request | None]:
        state = self.state
        index, state.requests = state.requests, state.requests + 1
        name = hashlib.blake2b(raw, digest_size=16).digest()
        seen = state.bodies[name]
        state.bodies[name] += 1
        state.keys.add(key)
        try:
            request = Request(orjson.loads(raw), raw, index, seen, key)
        except orjson.JSONDecodeError:
            return error_reply(400, "The body is no JSON."), None
        if len(state.kept) < 5000:
            state.kept.append(request.body)
        fault = self._fault_of(request, name)
        if fault:
            state.faults[fault] += 1
        if fault and fault.startswith("auth"):
            return faulty(fault, request, str), request
        refused = self._refused(request)
        if refused is not None:
            return refused, request

        def content() -> str:
            found = self.settings.rule(request)
            return found if isinstance(found, str) else json.dumps(found)

        if request.embeds:
            made = embeddings_answer(request, fault)
            if made.status == 200 and not made.hang and not made.cut:
                state.texts.update(request.inputs)
        else:
            made = faulty(fault, request, content) if fault else Answer(content())
        if made.status == 200:
            state.paid.add(name)
        return made, request

    def _fault_of(self, request: Request, name: bytes) -> str | None:
        faults = self.settings.faults
        if callable(faults):
            return faults(request)
        if isinstance(faults, Mapping):
            draw = random.Random(f"{self.settings.seed} {name.hex()} {request.seen}").random()
            for fault, share in faults.items():
                draw -= share
                if draw < 0:
                    return fault
            return None
        return faults[request.index] if request.index < len(faults) else None

    def _refused(self, request: Request) -> Answer | None:
        now, body = self.settings, request.body
        if now.key is not None and request.key != now.key:
            return faulty("auth", request, str)
        if now.models is not None and body.get("model") not in now.models:
            return faulty("model_not_found", request, str)
        for name in now.rejects:
            kind = (body.get("response_format") or {}).get("type")
            if body.get(name) is not None or kind == name:
                return rejection(name, now.dialect)
        if now.batch is not None and len(request.inputs) > now.batch:
            said = f"batch size {len(request.inputs)} > maximum allowed batch size {now.batch}"
            return error_reply(422, said)
        if now.context is not None and request.longest // 4 > now.context:
            return faulty("context_too_long", request, str)
        return None


def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    headers: Sequence[str] = (),
    kind: str = "application/json",
    *,
    cut: bool = False,
) -> None:
    """Sends a reply; ``cut``: half of it, and then the end of the connection."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    head = "".join(f"{line}\r\n" for line in (*lines, *headers, ""))
    writer.write(head.encode("latin-1") + body[: len(body) // 2 if cut else None])
    if cut:
        writer.close()


def _completion(made: Answer, request: Request, usage: bool | Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": made.content, "refusal": made.refusal}
    choice = {"index": 0, "message": message, "finish_reason": made.finish, "logprobs": None}
    body: dict[str, Any] = {
        "id": f"chatcmpl-{request.index}", "object": "chat.completion", "created": 1_700_000_000,
        "model": f"{request.body.get('model')}-2026-01-01", "choices": [choice],
    }  # fmt: skip
    if usage is True:
        read, written = len(request.raw) // 4, len(made.content or "") // 4 + 1
        counts = {"prompt_tokens": read, "completion_tokens": written}
        usage = {**counts, "total_tokens": read + written}
    return {**body, "usage": usage} if usage is not False else body


@contextmanager
def server_process(rule: str = "", **settings: Any) -> Iterator[str]:
    """The server as a process; yields its base URL. ``rule`` is ``module:function``."""
    command = [sys.executable, str(Path(__file__).resolve()), rule, json.dumps(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def set_at(url: str, **settings: Any) -> None:
    """Changes the settings of a server elsewhere."""
    from urllib.request import Request as Sent, urlopen

    body = json.dumps(settings).encode()
    urlopen(Sent(url.removesuffix("/v1") + "/set", body, method="POST"), timeout=10).close()


if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    own = getattr(importlib.import_module(module), function) if module else default_rule
    served = LLMServer(own, **json.loads(sys.argv[2]))
    asyncio.run(served.serve(lambda: print(served.url, flush=True)))  # noqa: T201
