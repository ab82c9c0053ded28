"""Chats over HTTP: OpenAI's protocol (its own, and that of every compatible server), Anthropic's
and Google's. What differs are rows: path, headers, where a reply has its text and its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import orjson

from ragassay.transport.endpoints.endpoint import (
    SYSTEM,
    ApiProtocol,
    Completion,
    Finish,
    Prompt,
    completed,
)
from ragassay.transport.endpoints.http_endpoint import HttpEndpoint, needs_client, usage_of
from ragassay.transport.providers import speakers

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
    payload: ClassVar[str] = "choices"
    expected: ClassVar[str] = "chat completion"

    def headers(self) -> Mapping[str, str]:
        """The key as a bearer's; a server that wants none ignores it."""
        return {"Authorization": f"Bearer {self.key.reveal() or 'none'}"}

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
        if any(one["role"] == SYSTEM for one in body.get("messages", ())):
            yield SYSTEM

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The first choice."""
        choice = reply["choices"][0]
        message = choice["message"]
        text, finish = text_of(message.get("content")), FINISH.get(choice.get("finish_reason"))
        tokens = usage_of(reply), ("prompt_tokens",), ("completion_tokens",)
        refusal = message.get("refusal")
        return completed(text, finish, reply.get("model"), *tokens, refusal=refusal)


def text_of(content: Any) -> str | None:
    """The text of a message's content, which some servers give in parts; a `TypeError` where it is
    no text."""
    if isinstance(content, list):
        parts = [part.get("text") or "" for part in content if part.get("type") == "text"]
        return "".join(parts)
    if content is not None and not isinstance(content, str):
        raise TypeError("content is not a text")
    return content


class AnthropicMessages(HttpEndpoint):
    """``POST {url}/v1/messages``."""

    protocol: ClassVar[str] = "anthropic"
    path: ClassVar[str] = "/v1/messages"
    payload: ClassVar[str] = "content"
    expected: ClassVar[str] = "message"
    never: ClassVar[frozenset[str]] = frozenset(
        {"seed", "presence_penalty", "frequency_penalty", "json_object"}
    )

    def headers(self) -> Mapping[str, str]:
        """The key, and the API's version."""
        return {"x-api-key": self.key.reveal() or "none", "anthropic-version": "2023-06-01"}

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
        tokens = usage_of(reply), ("input_tokens", *cached), ("output_tokens",)
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
    payload: ClassVar[str] = "candidates"
    expected: ClassVar[str] = "list of candidates"

    def headers(self) -> Mapping[str, str]:
        """The key."""
        return {"x-goog-api-key": self.key.reveal() or "none"}

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
            {"role": roles.get(one["role"], one["role"]), "parts": [{"text": one["content"]}]}
            for one in turns
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
        usage = {"candidatesTokenCount": 0, **usage_of(reply, "usageMetadata")}
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
