"""Anthropic's own messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ragassay.transport.endpoints.endpoint import (
    MOST_TOKENS,
    ApiProtocol,
    Completion,
    Finish,
    Prompt,
    completed,
    counted,
)
from ragassay.transport.endpoints.http_endpoint import HttpEndpoint, needs_client, usage_of
from ragassay.transport.providers import speakers

LONGEST = 4096
"""Tokens of a reply where the user does not say: this API wants a number."""

_UNKNOWN_TO_SCHEMAS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")
"""What its structured output does not know; the prompts say it, and replies are checked for it."""

_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CUT = ("max_tokens", "model_context_window_exceeded")


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
        system = [one["content"] for one in prompt.messages if one["role"] == "system"]
        body: dict[str, Any] = {
            "model": prompt.model,
            "max_tokens": LONGEST,
            "messages": [one for one in prompt.messages if one["role"] != "system"],
        }
        if system:
            body["system"] = "\n\n".join(system)
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
        usage, stop = usage_of(reply), reply.get("stop_reason")
        read = min(sum(counted(usage.get(name)) or 0 for name in _READ), MOST_TOKENS)
        tokens = read, counted(usage.get("output_tokens"))
        refusal = text or "stopped by the model's safety rules" if stop == "refusal" else None
        finish: Finish = "length" if stop in _CUT else "stop"
        return completed(text, finish, reply.get("model"), *tokens, refusal=refusal)


def _simple(node: Any) -> Any:
    """A schema without what this API does not know."""
    if isinstance(node, Mapping):
        return {
            name: _simple(value)
            for name, value in node.items()
            if name not in _UNKNOWN_TO_SCHEMAS or isinstance(value, Mapping)
        }
    if isinstance(node, list):
        return [_simple(value) for value in node]
    return node


PROTOCOL = ApiProtocol("anthropic", AnthropicMessages, needs_client, **speakers("anthropic"))
