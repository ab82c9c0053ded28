"""A real local HTTP server that speaks the OpenAI chat completions API, for tests and benchmarks.

In a test, in a thread of its own::

    with LLMServer(faults={"error_500": 0.3}) as server:
        client = AsyncOpenAI(base_url=server.url, api_key="any")
        ...
        assert server.stats()["answered"] == 10

As a process (benchmarks, tests that kill the client)::

    with server_process(latency=0.2) as url: ...
    python tests/support/llm_server.py --port 8123 --latency 0.2 --faults '{"rate_limit": 0.1}'

It answers by a rule, a function from a `Request` to a text or to something that becomes JSON. The
default rule makes a valid answer to any built-in question from a hash of the messages. ``faults``
says which requests go wrong:

- a mapping from a fault's name to its share of all requests, drawn from the seed, the request's
  body and how often that body came before: the same requests fail in whatever order they come;
- a list, whose n-th entry is for the n-th request (``None``: nothing goes wrong);
- a function from a `Request` to a fault's name or ``None``.

``rejects`` names parameters that are answered with status 400 (``temperature``, ``seed``,
``max_tokens``, ``json_schema``, ``json_object``, ...), in the words of a ``dialect`` (``openai``,
``vllm``, ``fastapi``, ``prose``).

``usage`` is whether replies count tokens; a mapping is sent in place of the counts. While ``hold``
is true, no reply leaves: what is in flight then is no matter of time.

``GET /stats`` gives the counters, ``POST /set`` with a JSON object changes any of the `Settings`
but the rule, ``POST /reset`` begins the counters anew. Anthropic's and Google's own protocols are
spoken too (`llm_native`), and ``/v1/embeddings`` (`llm_embeddings`).
"""

from __future__ import annotations

import argparse
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
from contextlib import contextmanager
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
    """See the module's docstring."""

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
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.Lock()
        self.transports: set[asyncio.Transport] = set()
        self.in_flight = 0
        self.reset()

    def reset(self) -> None:
        self.requests = 0
        self.answered = 0
        self.most = self.in_flight
        self.statuses: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.bodies: Counter[bytes] = Counter()
        self.paid: set[bytes] = set()
        self.texts: Counter[str] = Counter()
        self.connections = 0
        self.kept: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.headers: set[str] = set()

    def stats(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "answered": self.answered,
            "distinct": len(self.bodies),
            "distinct_answered": len(self.paid),
            "texts": self.texts.total(),
            "distinct_texts": len(self.texts),
            "in_flight": self.in_flight,
            "in_flight_most": self.most,
            "connections": self.connections,
            "statuses": {str(status): n for status, n in self.statuses.items()},
            "faults": dict(self.faults),
        }

    def answer(self, raw: bytes, key: str) -> tuple[Answer, Request | None]:
        now = self.settings
        index, self.requests = self.requests, self.requests + 1
        name = hashlib.blake2b(raw, digest_size=16).digest()
        seen = self.bodies[name]
        self.bodies[name] += 1
        self.keys.add(key)
        try:
            request = Request(orjson.loads(raw), raw, index, seen, key)
        except orjson.JSONDecodeError:
            return error_reply(400, "The body is no JSON."), None
        if len(self.kept) < 5000:
            self.kept.append(request.body)
        fault = self._fault_of(request, name)
        if fault:
            self.faults[fault] += 1
        if fault and fault.startswith("auth"):
            return faulty(fault, request, str), request
        refused = self._refused(request)
        if refused is not None:
            return refused, request

        def content() -> str:
            found = now.rule(request)
            return found if isinstance(found, str) else json.dumps(found)

        if request.embeds:
            made = embeddings_answer(request, fault)
            if made.status == 200 and not made.hang and not made.cut:
                self.texts.update(request.inputs)
        else:
            made = faulty(fault, request, content) if fault else Answer(content())
        if made.status == 200:
            self.paid.add(name)
        return made, request

    def _fault_of(self, request: Request, name: bytes) -> str | None:
        faults = self.settings.faults
        if not faults:
            return None
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


class _Protocol(asyncio.Protocol):
    def __init__(self, state: _State) -> None:
        self.state = state
        self.buffer = bytearray()
        self.protocol = "openai"
        self.hanging = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.transports.add(transport)
        self.state.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            self.state.transports.discard(self.transport)
        self.state.in_flight -= self.hanging
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end].decode("latin-1").split("\r\n")
            length, key = 0, ""
            for line in head[1:]:
                name, _, value = line.partition(":")
                name = name.lower()
                if name == "content-length":
                    length = int(value)
                elif name == "authorization":
                    key = value.strip().removeprefix("Bearer ")
                elif name in ("api-key", "x-api-key", "x-goog-api-key"):
                    key = value.strip()
            if len(self.buffer) < end + 4 + length:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + length])
            del self.buffer[: end + 4 + length]
            method, path, _ = head[0].split(" ", 2)
            if len(self.state.headers) < 200:
                self.state.headers.update(head[1:])
            self.handle(method, path.split("?")[0], body, key)

    def handle(self, method: str, path: str, body: bytes, key: str) -> None:
        state = self.state
        if method == "POST" and path.endswith("/embeddings"):
            self.protocol = "openai"
            self.chat(body, key)
        elif method == "POST" and (protocol := protocol_of(path)):
            self.protocol = protocol
            self.chat(from_native(protocol, path, body), key)
        elif path == "/stats":
            self.send(200, orjson.dumps(state.stats()))
        elif path == "/set" and method == "POST":
            for name, value in json.loads(body).items():
                setattr(state.settings, name, value)
            self.send(200, b"{}")
        elif path == "/reset" and method == "POST":
            state.reset()
            self.send(200, b"{}")
        elif path.endswith("/models"):
            names = state.settings.models or ["model"]
            data = [
                {"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in names
            ]
            self.send(200, orjson.dumps({"object": "list", "data": data}))
        else:
            self.send(404, b'{"error": {"message": "no such page"}}')

    def chat(self, body: bytes, key: str) -> None:
        state = self.state
        state.in_flight += 1
        state.most = max(state.most, state.in_flight)
        try:
            made, request = state.answer(body, key)
        except Exception as error:  # a broken rule must not hang the test
            made, request = error_reply(500, f"the rule broke: {error!r}"), None
        if made.hang:
            self.hanging += 1
            return
        wait = made.delay
        if made.status == 200:
            wait += state.settings.latency
            if state.settings.jitter and request is not None:
                share = int.from_bytes(request.digest[:4], "big") / 2**32
                wait += state.settings.jitter * (2 * share - 1)
        loop = asyncio.get_running_loop()
        if wait > 0:
            loop.call_later(wait, self.reply, made, request)
        else:
            self.reply(made, request)

    def reply(self, made: Answer, request: Request | None) -> None:
        state = self.state
        if state.settings.hold:
            asyncio.get_running_loop().call_later(0.002, self.reply, made, request)
            return
        state.in_flight -= 1
        state.statuses[made.status] += 1
        if made.status == 0:
            if self.transport is not None:
                self.transport.abort()
            return
        if made.error is not None:
            error = made.error if self.protocol == "openai" else native_error(self.protocol, made)
            self.send(made.status, orjson.dumps(error), made.headers)
            return
        embeds = request is not None and request.embeds and made.status == 200
        if made.body is not None and not embeds:
            self.send(made.status, made.body, made.headers, "text/html")
            return
        assert request is not None
        state.answered += 1
        if made.body is not None:
            body = made.body
        elif self.protocol == "openai":
            # Not orjson: it writes no number that is too large.
            body = json.dumps(_completion(made, request, state.settings.usage)).encode()
        else:
            shown = native_completion(self.protocol, made, request, bool(state.settings.usage))
            body = orjson.dumps(shown)
        if made.cut:
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            )
            if self.transport is not None:
                self.transport.write(head % len(body) + body[: len(body) // 2])
                self.transport.close()
            return
        self.send(200, body)

    def send(
        self,
        status: int,
        body: bytes,
        headers: Sequence[str] = (),
        kind: str = "application/json",
    ) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        more = "".join(f"{line}\r\n" for line in headers)
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n{more}\r\n"
        )
        self.transport.write(head.encode("latin-1") + body)


def _completion(made: Answer, request: Request, usage: bool | Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": made.content, "refusal": made.refusal}
    read, written = len(request.raw) // 4, len(made.content or "") // 4 + 1
    body: dict[str, Any] = {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{request.body.get('model')}-2026-01-01",
        "choices": [
            {"index": 0, "message": message, "finish_reason": made.finish, "logprobs": None}
        ],
    }
    if isinstance(usage, Mapping):
        body["usage"] = usage
    elif usage:
        body["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
    return body


class LLMServer:
    """The server in a thread of its own; a context manager. Arguments: see `Settings`."""

    def __init__(self, rule: Rule = default_rule, *, port: int = 0, **settings: Any) -> None:
        self.settings = Settings(rule=rule, **settings)
        self.state = _State(self.settings)
        self.port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

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

        def run() -> None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
            server = self._loop.run_until_complete(self.start())
            ready.set()
            self._loop.run_forever()
            server.close()
            for transport in list(self.state.transports):
                transport.abort()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()

        self._thread = threading.Thread(target=run, daemon=True, name="llm-server")
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def start(self) -> asyncio.Server:
        """Listens; for those who have a loop."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Protocol(self.state), "127.0.0.1", self.port, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        return server


@contextmanager
def server_process(rule: str = "", **settings: Any) -> Iterator[str]:
    """The server as a process; yields its base URL. ``rule`` is ``module:function``."""
    command = [sys.executable, str(Path(__file__).resolve()), "--settings", json.dumps(settings)]
    if rule:
        command += ["--rule", rule]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--jitter", type=float, default=0.0)
    parser.add_argument("--faults", type=json.loads, default={})
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--rule", default="")
    given = parser.parse_args()
    settings = {"latency": given.latency, "jitter": given.jitter, "faults": given.faults}
    settings.update(given.settings)
    rule = default_rule
    if given.rule:
        module, _, name = given.rule.partition(":")
        rule = getattr(importlib.import_module(module), name)

    async def serve() -> None:
        server = LLMServer(rule, port=given.port, **settings)
        listening = await server.start()
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        await listening.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
