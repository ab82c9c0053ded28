"""A real local HTTP server that speaks the OpenAI chat completions API, for tests and benchmarks.

In a test, in a thread of its own::

    with LLMServer(faults={"error_500": 0.3}) as server:
        client = AsyncOpenAI(base_url=server.url, api_key="any")
        ...
        assert server.stats()["answered"] == 10

As a process (benchmarks, tests that kill the client)::

    with server_process(latency=0.2) as url: ...
    python tests/llm_server.py --port 8123 --latency 0.2 --faults '{"rate_limit": 0.1}'

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

``GET /stats`` gives the counters, ``POST /set`` with a JSON object changes any of the `Settings` but
the rule, ``POST /reset`` begins the counters anew.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

FENCE = re.compile(r"^<data ([0-9a-f]{12}) ([^\n]+)>\n(.*?)\n</data \1>$", re.MULTILINE | re.DOTALL)


@dataclass
class Request:
    """One request to ``/chat/completions``.

    Attributes:
        body: as it came.
        index: how many came before it.
        seen: how often the same body came before.
        key: the bearer token (or ``api-key``).
    """

    body: dict[str, Any]
    raw: bytes
    index: int
    seen: int
    key: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @cached_property
    def text(self) -> str:
        """All messages, one below the other."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @cached_property
    def prompt(self) -> str:
        """The messages up to the first of the assistant: without a repair turn."""
        parts = []
        for message in self.body["messages"]:
            if message["role"] == "assistant":
                break
            parts.append(str(message["content"]))
        return "\n".join(parts)

    @cached_property
    def fences(self) -> list[tuple[str, str]]:
        """The fenced data, as pairs of name and text, in order."""
        return [(name, text) for _, name, text in FENCE.findall(self.prompt)]

    @cached_property
    def plain(self) -> str:
        """The prompt without the fenced data."""
        return FENCE.sub("", self.prompt)

    @property
    def mode(self) -> str:
        """``json_schema``, ``json_object`` or ``text``."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of the answer: the one asked for, or the last in the prompt."""
        if self.mode == "json_schema":
            return dict(self.body["response_format"]["json_schema"]["schema"])
        for line in reversed(self.plain.splitlines()):
            if line.startswith("{") and '"properties"' in line:
                return dict(json.loads(line))
        return {"type": "object", "properties": {}}

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.prompt.encode("utf-8", "surrogatepass")).digest()


Rule = Callable[[Request], Any]
Faults = Mapping[str, float] | Sequence[str | None] | Callable[[Request], str | None]


# --- the default rule -------------------------------------------------------------------------


def default_rule(request: Request) -> Any:
    """A valid answer that follows from the prompt and nothing else."""
    return _value(request.schema, "", request, random.Random(request.digest), request.schema)


def _value(
    schema: Mapping[str, Any], name: str, request: Request, draw: random.Random, root: Any
) -> Any:
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return _value(schema["anyOf"][0], name, request, draw, root)
    kind = schema.get("type")
    if kind == "object":
        return {
            key: _value(part, key, request, draw, root)
            for key, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        return _items(schema["items"], name, request, draw, root)
    if kind == "integer":
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is None or high is None:
            found = re.findall(r"from (-?\d+)[^.\n]{0,40}? to (-?\d+)", request.plain)
            low, high = (int(found[-1][0]), int(found[-1][1])) if found else (1, 5)
        return draw.randint(low, high)
    if kind == "number":
        return round(draw.random(), 3)
    if kind == "boolean":
        return draw.random() < 0.6
    return f"Because of {draw.randrange(10_000)}."


def _items(
    items: Mapping[str, Any], name: str, request: Request, draw: random.Random, root: Any
) -> list[Any]:
    counted = _count(name, request)
    if items.get("type") == "integer":
        return sorted(draw.sample(range(1, counted + 1), draw.randint(0, counted)))
    if items.get("type") == "string" and "enum" not in items:
        n = draw.randint(0, 4)
        return [f"fact {draw.randrange(1000)} of {draw.randrange(1000)}" for _ in range(n)]
    return [_value(items, name, request, draw, root) for _ in range(counted)]


def _count(name: str, request: Request) -> int:
    """How many things the prompt lists: numbered fences, or numbered lines in one of them."""
    told = re.search(r"\bexactly (\d+) (?:labels|entries)", request.plain)
    if told:
        return int(told[1])
    stems = {"labels": "nugget", "supported": "claim", "attribution": "chunk"}
    stem = stems.get(name, name.rstrip("s"))
    numbered = sum(bool(re.match(rf"{stem}\D*\d+$", title)) for title, _ in request.fences)
    if numbered:
        return numbered
    for title, text in request.fences:
        if title.startswith(stem):
            return len(re.findall(r"^\s*(?:\d+[.):]|\[\d+\]|-) ", text, re.MULTILINE)) or 1
    return 1


# --- faults -----------------------------------------------------------------------------------


@dataclass
class Answer:
    """What is sent. ``status`` 0: the connection is closed; ``hang``: nothing ever comes."""

    content: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: tuple[str, ...] = ()
    error: Any = None
    body: bytes | None = None
    delay: float = 0.0
    hang: bool = False
    cut: bool = False


def _error(status: int, message: str, code: str | None = None, **more: Any) -> Answer:
    kind = "invalid_request_error" if status < 500 else "server_error"
    headers = more.pop("headers", ())
    error = {"message": message, "type": kind, "param": more.pop("param", None), "code": code}
    return Answer(status=status, error={"error": error}, headers=headers)


def _wrong(value: Any, schema: Mapping[str, Any], how: str) -> Any:
    """The answer with one value that the schema does not allow."""
    wrong = dict(value)
    for name, part in schema.get("properties", {}).items():
        inner = part.get("items", part)
        put: Any = None
        if how == "wrong_enum" and "enum" in inner:
            put = "perhaps"
        elif how == "out_of_range" and inner.get("type") == "integer":
            put = 9_999_999
        elif how == "wrong_enum" and inner.get("type") == "boolean":
            put = "perhaps"
        if put is not None:
            wrong[name] = [put] if part.get("type") == "array" else put
            return wrong
    return {"unexpected": True}


def _fault(name: str, request: Request, answer: Callable[[], str]) -> Answer:
    """The faulty answer. A name may carry a number: ``delay:0.2``, ``rate_limit:1.5``."""
    name, _, number = name.partition(":")
    amount = float(number) if number else 0.0
    match name:
        case "delay":
            return Answer(answer(), delay=amount)
        case "rate_limit":
            headers = (f"Retry-After: {number}",) if number else ()
            return _error(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        case "rate_limit_ms":
            headers = (f"retry-after-ms: {number}",)
            return _error(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        case "quota":
            return _error(429, "You exceeded your current quota.", "insufficient_quota")
        case "hang":
            return Answer(hang=True)
        case "drop":
            return Answer(status=0)
        case "drop_midway":
            return Answer(answer(), cut=True)
        case "error_500":
            return _error(500, "The server had an error while processing your request.")
        case "error_503":
            return Answer(status=503, body=b"<html><h1>503 Service Unavailable</h1></html>")
        case "html_200":
            return Answer(body=b"<html><h1>Welcome to the proxy</h1></html>")
        case "no_choices":
            return Answer(body=b'{"id":"x","object":"chat.completion","choices":[]}')
        case "malformed":
            return Answer(answer()[:-1] + ',"')
        case "prose":
            return Answer(f"Certainly! Here is my judgment: {answer()} Let me know.")
        case "code_block":
            return Answer(f"My judgment:\n```json\n{answer()}\n```\n")
        case "two_objects":
            return Answer(f"{answer()} or perhaps {default_other(request, answer())}")
        case "number_in_prose":
            return Answer("I considered 4 aspects, and out of 3 points I would give it a 2.")
        case "wrong_enum" | "out_of_range":
            return Answer(json.dumps(_wrong(json.loads(answer()), request.schema, name)))
        case "empty":
            return Answer("")
        case "null":
            return Answer(None)
        case "refusal":
            return Answer(None, refusal="I cannot help with judging this.")
        case "refusal_text":
            return Answer("I'm sorry, but I can't assist with that request.")
        case "truncated":
            text = answer()
            return Answer(text[: len(text) // 2], finish="length")
        case "content_filter":
            return Answer("", finish="content_filter")
        case "content_filter_400":
            return _error(400, "The prompt triggered the content policy.", "content_filter")
        case "thinking":
            said = 'Maybe {"grade": 0}? No, 7 of 10.'
            return Answer(f"<think>\n{said}\n</think>\n\n{answer()}")
        case "thinking_headless":  # the chat template of some models eats the opening tag
            return Answer(f'Maybe {{"grade": 0}}.\n</think>\n{answer()}')
        case "context_too_long":
            said = "This model's maximum context length is 8192 tokens; you asked for 9000."
            return _error(400, said, "context_length_exceeded", param="messages")
        case "context_too_long_413":
            return _error(413, "Request too large.")
        case "auth":
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        case "auth_echo":
            return _error(401, f"Incorrect API key provided: {request.key}.", "invalid_api_key")
        case "error_500_echo":
            return _error(500, f"Upstream call with Authorization: Bearer {request.key} failed.")
        case "forbidden":
            return _error(403, "Your account may not use this model.", "permission_denied")
        case "model_not_found":
            said = f"The model `{request.body.get('model')}` does not exist."
            return _error(404, said, "model_not_found")
        case "bad_request":
            return _error(400, "Something about this request is wrong.")
    raise ValueError(f"no fault is called {name}")


def default_other(request: Request, text: str) -> str:
    """Another valid answer than ``text``."""
    for salt in range(64):
        draw = random.Random(request.digest + bytes([salt]))
        other = json.dumps(_value(request.schema, "", request, draw, request.schema))
        if json.loads(other) != json.loads(text):
            return other
    return text


def _rejection(name: str, dialect: str) -> Answer:
    if dialect == "vllm":
        said = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'not permitted'}}]"
        error = {"object": "error", "message": said, "type": "BadRequestError", "code": 400}
        return Answer(status=400, error=error)
    if dialect == "fastapi":
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]
        return Answer(status=422, error={"detail": detail})
    if dialect == "prose":
        said = f"the request's {name} is not something that this model supports"
        return Answer(status=400, error={"error": said})
    if name == "temperature":
        said = "Unsupported value: 'temperature' does not support 0 with this model."
        return _error(400, said, "unsupported_value", param="temperature")
    if name == "max_tokens":
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        return _error(400, said, "unsupported_parameter", param="max_tokens")
    if name == "json_schema":
        said = (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
            "this model."
        )
        return _error(400, said, param="response_format")
    if name == "json_object":
        said = "'response_format' of type 'json_object' is not supported with this model."
        return _error(400, said, param="response_format")
    said = f"Unsupported parameter: '{name}' is not supported with this model."
    return _error(400, said, "unsupported_parameter", param=name)


# --- the server -------------------------------------------------------------------------------


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
    usage: bool = True


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
        self.connections = 0
        self.kept: list[dict[str, Any]] = []
        self.keys: set[str] = set()

    def stats(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "answered": self.answered,
            "distinct": len(self.bodies),
            "distinct_answered": len(self.paid),
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
            return _error(400, "The body is no JSON."), None
        if len(self.kept) < 5000:
            self.kept.append(request.body)
        fault = self._fault_of(request, name)
        if fault:
            self.faults[fault] += 1
        if fault and fault.startswith("auth"):
            return _fault(fault, request, str), request
        refused = self._refused(request)
        if refused is not None:
            return refused, request

        def content() -> str:
            found = now.rule(request)
            return found if isinstance(found, str) else json.dumps(found)

        made = _fault(fault, request, content) if fault else Answer(content())
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
            return _fault("auth", request, str)
        if now.models is not None and body.get("model") not in now.models:
            return _fault("model_not_found", request, str)
        for name in now.rejects:
            kind = (body.get("response_format") or {}).get("type")
            if body.get(name) is not None or kind == name:
                return _rejection(name, now.dialect)
        if now.context is not None and len(request.text) // 4 > now.context:
            return _fault("context_too_long", request, str)
        return None


class _Protocol(asyncio.Protocol):
    def __init__(self, state: _State) -> None:
        self.state = state
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.transports.add(transport)
        self.state.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            self.state.transports.discard(self.transport)
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
                elif name == "api-key":
                    key = value.strip()
            if len(self.buffer) < end + 4 + length:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + length])
            del self.buffer[: end + 4 + length]
            method, path, _ = head[0].split(" ", 2)
            self.handle(method, path.split("?")[0], body, key)

    def handle(self, method: str, path: str, body: bytes, key: str) -> None:
        state = self.state
        if method == "POST" and path.endswith("/chat/completions"):
            self.chat(body, key)
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
            made, request = _error(500, f"the rule broke: {error!r}"), None
        if made.hang:
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
        state.in_flight -= 1
        state.statuses[made.status] += 1
        if made.status == 0:
            if self.transport is not None:
                self.transport.abort()
            return
        if made.error is not None:
            self.send(made.status, orjson.dumps(made.error), made.headers)
            return
        if made.body is not None:
            self.send(made.status, made.body, made.headers, "text/html")
            return
        assert request is not None
        state.answered += 1
        body = orjson.dumps(_completion(made, request, state.settings.usage))
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


def _completion(made: Answer, request: Request, usage: bool) -> dict[str, Any]:
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
    if usage:
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


def stats_of(url: str) -> dict[str, Any]:
    """The counters of a server elsewhere; ``url`` is its base URL."""
    from urllib.request import urlopen

    with urlopen(url.removesuffix("/v1") + "/stats", timeout=10) as reply:
        return dict(json.load(reply))


def set_at(url: str, **settings: Any) -> None:
    """Changes the settings of a server elsewhere."""
    from urllib.request import Request as Sent
    from urllib.request import urlopen

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
