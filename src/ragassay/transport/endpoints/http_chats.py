"""Endpoints that take JSON over HTTP: chats by OpenAI's protocol (its own, and that of every
compatible server), Anthropic's and Google's; embeddings by OpenAI's."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.endpoints.endpoint import (
    CONNECT_S,
    SYSTEM,
    ApiProtocol,
    Completion,
    Endpoint,
    EndpointError,
    Finish,
    Prompt,
)
from ragassay.transport.endpoints.endpoint_errors import foreign, from_status, redirected, unreached
from ragassay.transport.providers_and_prices import speakers

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray


_JSON = "application/json"


class HttpEndpoint(Endpoint):
    """``POST {url}{path}``. The key goes to this origin only. ``payload`` is the key of a reply
    that holds what was asked for, ``expected`` what messages call a good reply."""

    path: ClassVar[str] = ""
    headers: ClassVar[Mapping[str, str]]  # of the protocol, with ``{key}`` where the key belongs
    payload: ClassVar[str]
    expected: ClassVar[str]
    _client: httpx2.AsyncClient | None = None

    @abstractmethod
    def rejectable(self, body: Mapping[str, Any]) -> Iterable[str]:
        """What of a request may be rejected: its parameters, and the mode."""

    @abstractmethod
    def read(self, reply: Any, sent: bytes) -> Completion:
        """What a reply (parsed JSON) says; an error such as `KeyError` where it is another."""

    def wire(self, body: bytes) -> tuple[str, bytes]:
        """Path and content of the request for a body; some protocols have the model in the path."""
        return self.path, body

    async def open(self) -> None:
        """Makes the client. It follows no redirect: prompt and key are for the named server."""
        import httpx2

        if self._client is None:
            key = self.key.reveal() or "none"  # a server that wants none ignores it
            own = {name: value.replace("{key}", key) for name, value in self.headers.items()}
            self._client = httpx2.AsyncClient(
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
                # The caller has the deadline: a timer for each read is a twentieth of a call.
                timeout=httpx2.Timeout(None, connect=CONNECT_S),
                headers={"Content-Type": _JSON, "Accept": _JSON, **own},
            )

    async def send(self, body: bytes) -> Completion:
        """One request."""
        import httpx2

        await self.open()
        assert self._client is not None
        path, wired = self.wire(body)
        try:
            response = await self._client.post(self.url + path, content=wired)
        except (httpx2.HTTPError, UnicodeError) as error:
            raise unreached(error, self.shown, self.key) from None
        if response.has_redirect_location:
            there = response.headers["location"].removesuffix(path)
            raise redirected(self.shown, there, self.role)
        if response.is_error:
            raise self._status(response.status_code, response, body)
        content = self.key.hidden_in_bytes(response.content)
        try:
            reply = parsed(content)
            if self.payload not in reply and reply.get("error"):
                # Some proxies pass a provider's error on with status 200.
                code = reply["error"].get("code")
                status = code if isinstance(code, int) and 400 <= code < 600 else 502
                raise self._status(status, response, body)
            return self.read(reply, body)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            why = str(error) if isinstance(error, Unsound) else ""
            raise foreign(content, self.shown, self.expected, why) from None

    async def close(self) -> None:
        """Ends the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _status(self, status: int, response: httpx2.Response, sent: bytes) -> EndpointError:
        body: Mapping[str, Any] = orjson.loads(sent)
        error = from_status(
            status,
            self.key.hidden_in_bytes(response.content),
            headers=response.headers,
            url=self.shown,
            model=body["model"],
            key=self.key,
            sent=set(self.rejectable(body)),
            role=self.role,
        )
        # After the timeout of a gateway nobody knows whether the model did the work.
        error.free = error.reason is not Reason.TIMEOUT
        return error


class Unsound(ValueError):  # noqa: N818 - it says what is the case
    """A reply is JSON and not of the expected form; the message says what is wrong."""


def parsed(content: bytes) -> Any:
    """The value of a reply in JSON, or a `ValueError`."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)  # some servers write NaN, which is no JSON


MOST_TOKENS = 2**53  # what every reader of JSON and SQLite can hold


def counted(*values: object) -> int | None:
    """A number of tokens as an endpoint counted it: the sum of the values that are such numbers
    (not missing, negative, a text); ``None`` where none is."""
    numbers = [n for n in values if isinstance(n, int | float) and n is not True and n >= 0]
    return int(min(sum(numbers), MOST_TOKENS)) if numbers else None


def completed(
    text: str | None,
    finish: Finish | None,
    model: object,
    usage: object,
    read: Sequence[str],
    written: Sequence[str],
    *,
    refusal: Any = None,
) -> Completion:
    """A reply with the tokens that its endpoint counted: those read and those written, by the names
    that they have in its ``usage`` (a mapping, where it counted them)."""
    usage = usage if isinstance(usage, Mapping) else {}
    inputs, outputs = (counted(*map(usage.get, names)) for names in (read, written))
    # No prompt has nothing in it: some proxies send zeros.
    tokens = inputs or 0, outputs or 0, bool(inputs) and outputs is not None
    return Completion(text, finish or "stop", refusal or None, str(model or ""), *tokens)


def needs_client() -> None:
    """Says at once, with a `UsageError`, that the package is not installed."""
    if find_spec("httpx2") is None:
        raise UsageError("An endpoint needs the httpx2 package: pip install 'ragassay[llm]'.")


LONGEST = 4096  # tokens of a reply where the user does not say: Anthropic wants a number
_UNKNOWN_TO_SCHEMAS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")
"""What Anthropic's structured output does not know; prompts say it, and replies are checked."""

_WITHHELD = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
FINISH: Mapping[Any, Finish] = {
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("MAX_TOKENS",), "length"),
    **dict.fromkeys(("content_filter", *_WITHHELD), "filtered"),
}
"""Why a reply ended too early, in the words of all protocols."""


class OpenAIChat(HttpEndpoint):
    """``POST {url}/chat/completions``."""

    protocol: ClassVar[str] = "openai"
    path: ClassVar[str] = "/chat/completions"
    headers: ClassVar[Mapping[str, str]] = {"Authorization": "Bearer {key}"}
    payload: ClassVar[str] = "choices"
    expected: ClassVar[str] = "chat completion"

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request as OpenAI documents it."""
        body: dict[str, Any] = {"model": prompt.model, "messages": prompt.messages}
        body.update(prompt.parameters)
        if prompt.mode == "json_schema":
            schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif prompt.mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def rejectable(self, body: Mapping[str, Any]) -> Iterator[str]:
        """All but the material; and the role of the rules."""
        yield from body.keys() - {"model", "messages", "input", "response_format"}
        if form := body.get("response_format"):
            yield form["type"]
        if any(message["role"] == SYSTEM for message in body.get("messages", ())):
            yield SYSTEM

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The first choice."""
        choice = reply["choices"][0]
        message = choice["message"]
        text, finish = message.get("content"), FINISH.get(choice.get("finish_reason"))
        text = text if isinstance(text, str) else text_of(text)
        tokens = reply.get("usage"), ("prompt_tokens",), ("completion_tokens",)
        refusal = message.get("refusal")
        return completed(text, finish, reply.get("model"), *tokens, refusal=refusal)


def text_of(content: Any) -> str | None:
    """The text of a message's content, perhaps in parts; a `TypeError` where it is no text."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content is not a text")
    return content


class AnthropicMessages(HttpEndpoint):
    """``POST {url}/v1/messages``."""

    protocol: ClassVar[str] = "anthropic"
    path: ClassVar[str] = "/v1/messages"
    headers: ClassVar[Mapping[str, str]] = {
        "x-api-key": "{key}", "anthropic-version": "2023-06-01"
    }  # fmt: skip
    payload: ClassVar[str] = "content"
    expected: ClassVar[str] = "message"
    never: ClassVar[frozenset[str]] = frozenset(
        {"seed", "presence_penalty", "frequency_penalty", "json_object"}
    )

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request as Anthropic documents it."""
        rules, turns = prompt.rules_and_turns()
        body: dict[str, Any] = {"model": prompt.model, "max_tokens": LONGEST, "messages": turns}
        if rules:
            body["system"] = rules
        body.update(prompt.parameters)
        if prompt.mode == "json_schema":
            schema = _simple(prompt.schema)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def rejectable(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The sampling parameters that the API has, and the mode."""
        yield from body.keys() & {"temperature", "top_p", "top_k"}
        if "output_config" in body:
            yield "json_schema"

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The texts of the reply, as one."""
        text = "".join(part["text"] for part in reply["content"] if part["type"] == "text")
        stop = reply.get("stop_reason")
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = reply.get("usage"), ("input_tokens", *cached), ("output_tokens",)
        refusal = text or "stopped by the model's safety rules" if stop == "refusal" else None
        return completed(text, FINISH.get(stop), reply.get("model"), *tokens, refusal=refusal)


def _simple(node: Any) -> Any:
    """A schema without what Anthropic does not know."""
    if isinstance(node, Mapping):
        return {
            name: _simple(value)
            for name, value in node.items()
            if name not in _UNKNOWN_TO_SCHEMAS or isinstance(value, Mapping)
        }
    if isinstance(node, list):
        return [_simple(value) for value in node]
    return node


class GoogleGenAI(HttpEndpoint):
    """``POST {url}/v1beta/models/{model}:generateContent``."""

    protocol: ClassVar[str] = "google"
    headers: ClassVar[Mapping[str, str]] = {"x-goog-api-key": "{key}"}
    payload: ClassVar[str] = "candidates"
    expected: ClassVar[str] = "list of candidates"

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request in the names of Google's Python client, which identify it in ledgers."""
        rules, turns = prompt.rules_and_turns()
        names, roles = {"max_tokens": "max_output_tokens"}, {"assistant": "model"}
        config = {names.get(name, name): value for name, value in prompt.parameters.items()}
        if rules:
            config["system_instruction"] = rules
        if prompt.mode != "text":
            config["response_mime_type"] = "application/json"
        if prompt.mode == "json_schema":
            config["response_json_schema"] = prompt.schema
        contents = [
            {"role": roles.get(turn["role"], turn["role"]), "parts": [{"text": turn["content"]}]}
            for turn in turns
        ]
        return {"model": prompt.model, "contents": contents, "config": config}

    def wire(self, body: bytes) -> tuple[str, bytes]:
        """The same in the names of the API."""
        asked = orjson.loads(body)
        rules = asked["config"].pop("system_instruction", None)
        content = {"contents": asked["contents"]}
        if rules is not None:
            content["systemInstruction"] = {"parts": [{"text": rules}]}
        content["generationConfig"] = {
            re.sub("_(.)", lambda letter: letter[1].upper(), name): value
            for name, value in asked["config"].items()
        }
        model = asked["model"]
        place = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return f"/v1beta/{quote(place)}:generateContent", orjson.dumps(content)

    def rejectable(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The sampling parameters, and the mode."""
        config = body["config"]
        yield from (name for name in config if not name.startswith(("system", "response")))
        if "response_json_schema" in config:
            yield "json_schema"
        elif "response_mime_type" in config:
            yield "json_object"

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The first candidate, without the model's thoughts."""
        text: str | None = None
        finish: Finish | None = None
        if (reply.get("promptFeedback") or {}).get("blockReason"):
            finish = "filtered"
        elif reply.get("candidates"):
            candidate = reply["candidates"][0]
            parts = (candidate.get("content") or {}).get("parts") or []
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            finish = FINISH.get(candidate.get("finishReason"))
        # What it leaves out is 0.
        usage = {"candidatesTokenCount": 0, **(reply.get("usageMetadata") or {})}
        written = ("candidatesTokenCount", "thoughtsTokenCount")
        tokens = usage, ("promptTokenCount",), written
        return completed(text, finish, reply.get("modelVersion"), *tokens)


PROTOCOLS = (
    ApiProtocol("openai", OpenAIChat, needs_client, embeddings="", **speakers("openai")),
    ApiProtocol("anthropic", AnthropicMessages, needs_client, **speakers("anthropic")),
    ApiProtocol(
        "google", GoogleGenAI, needs_client, embeddings="/v1beta/openai", **speakers("google")
    ),
)


@dataclass(frozen=True, slots=True)
class VectorReply(Completion):
    """A reply that holds vectors of one length, one for each text, in the order in which the texts
    were sent. A component may be NaN or infinite: so it came."""

    vectors: tuple[NDArray[np.float32], ...] = ()


class OpenAIEmbeddings(OpenAIChat):
    """``POST {url}/embeddings``."""

    path: ClassVar[str] = "/embeddings"
    payload: ClassVar[str] = "data"
    expected: ClassVar[str] = "list of vectors"
    role: ClassVar[str] = "embedder"

    def texts(self, model: str, texts: Sequence[str], dimensions: int | None) -> dict[str, Any]:
        """The request's body for texts, none of them blank."""
        body: dict[str, Any] = {"model": model, "input": list(texts)}
        if dimensions is not None:
            body["dimensions"] = dimensions
        return body

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The vectors, one for each text that was sent."""
        vectors = _in_order(reply["data"], len(orjson.loads(sent)["input"]))
        usage, model = reply.get("usage"), str(reply.get("model") or "")
        read = counted(usage.get("prompt_tokens")) if isinstance(usage, Mapping) else None
        return VectorReply(
            None, model=model, input_tokens=read or 0, counted=bool(read), vectors=vectors
        )


def _in_order(data: Any, n: int) -> tuple[NDArray[np.float32], ...]:
    """The vectors by their index, which need not be the order in which they came."""
    if not isinstance(data, list) or len(data) != n:
        n_vectors = len(data) if isinstance(data, list) else "none"
        raise Unsound(f"there are {n_vectors}")
    has_index = any("index" in item for item in data)
    # Servers that write protocol buffers as JSON leave an index of 0 out.
    places = [item.get("index") or 0 if has_index else at for at, item in enumerate(data)]
    if sorted(places) != list(range(n)):
        raise Unsound("their indices are not those of the texts")
    placed = dict(zip(places, data, strict=True))
    vectors = tuple(_vector(placed[at]["embedding"]) for at in range(n))
    if len({len(vector) for vector in vectors}) != 1:
        raise Unsound("they differ in length")
    return vectors


def _vector(value: Any) -> NDArray[np.float32]:
    """A vector; what is no number in it becomes NaN."""
    import numpy as np  # which chats need not wait for

    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim != 1 or not len(vector):
        raise Unsound("one is empty, or no list of numbers")
    with np.errstate(over="ignore"):
        return vector.astype(np.float32)
