"""OpenAI's chat completions API: OpenAI itself, and every server that is compatible with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ragassay.transport.endpoints.endpoint import (
    SYSTEM,
    ApiProtocol,
    Completion,
    Finish,
    Prompt,
    completed,
    counted,
)
from ragassay.transport.endpoints.http_endpoint import HttpEndpoint, needs_client, usage_of
from ragassay.transport.providers import speakers

OPENAI = "https://api.openai.com/v1"

_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers for OpenAI itself that the environment may hold."""


class OpenAIChat(HttpEndpoint):
    """``POST {url}/chat/completions``."""

    protocol: ClassVar[str] = "openai"
    path: ClassVar[str] = "/chat/completions"
    payload: ClassVar[str] = "choices"
    expected: ClassVar[str] = "chat completion"

    def headers(self) -> Mapping[str, str]:
        """The key as a bearer's; a server that wants none ignores it."""
        is_openai = self.url.startswith(OPENAI)
        account = {name: os.environ.get(variable, "") for name, variable in _ACCOUNT.items()}
        sent = {name: value for name, value in account.items() if is_openai and value}
        return {"Authorization": f"Bearer {self.key.reveal() or 'none'}", **sent}

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request as OpenAI documents it."""
        return chat_body(prompt)

    def rejectable(self, body: Mapping[str, Any]) -> Iterator[str]:
        """All but the material; and the role of the rules."""
        yield from body.keys() - {"model", "messages", "input", "response_format"}
        if form := body.get("response_format"):
            yield form["type"]
        if any(one["role"] == SYSTEM for one in body.get("messages", ())):
            yield SYSTEM

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The first choice."""
        return chat_completion(reply)


def chat_body(prompt: Prompt) -> dict[str, Any]:
    """The request that puts a prompt to a chat, as OpenAI documents it."""
    body: dict[str, Any] = {"model": prompt.model, "messages": prompt.messages}
    body.update(prompt.parameters)
    if prompt.mode == "json_schema":
        schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif prompt.mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def chat_completion(reply: Any) -> Completion:
    """The first choice of a chat's reply."""
    choice, usage = reply["choices"][0], usage_of(reply)
    message = choice["message"]
    tokens = counted(usage.get("prompt_tokens")), counted(usage.get("completion_tokens"))
    text, refusal = text_of(message.get("content")), message.get("refusal")
    finish = _FINISH.get(choice.get("finish_reason"), "stop")
    return completed(text, finish, reply.get("model"), *tokens, refusal=refusal)


_FINISH: Mapping[Any, Finish] = {"length": "length", "content_filter": "filtered"}


def text_of(content: Any) -> str | None:
    """The text of a message's content; some servers give it in parts.

    Raises:
        TypeError: it is no text.
    """
    if isinstance(content, list):
        parts = [part.get("text") or "" for part in content if part.get("type") == "text"]
        return "".join(parts)
    if content is not None and not isinstance(content, str):
        raise TypeError("content is not a text")
    return content


PROTOCOL = ApiProtocol("openai", OpenAIChat, needs_client, embeddings="", **speakers("openai"))
