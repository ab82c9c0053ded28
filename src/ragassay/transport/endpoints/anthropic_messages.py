"""Anthropic's own messages API, through the official client (extra ``anthropic``)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from ragassay.errors import UsageError
from ragassay.transport.endpoints.endpoint import (
    CONNECT_S,
    MOST_TOKENS,
    ApiProtocol,
    ClientEndpoint,
    Completion,
    EndpointError,
    Prompt,
    counted,
)
from ragassay.transport.endpoints.endpoint_errors import foreign, from_status, unreached
from ragassay.transport.provider_table import Provider

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

LONGEST = 4096
"""Tokens of a reply where the user does not say: this API wants a number."""

_UNKNOWN_TO_SCHEMAS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")
"""What its structured output does not know; the prompts say it, and replies are checked for it."""


class AnthropicMessages(ClientEndpoint["AsyncAnthropic"]):
    """``POST {url}/v1/messages``."""

    protocol: ClassVar[str] = "anthropic"
    never: ClassVar[frozenset[str]] = frozenset(
        {"seed", "presence_penalty", "frequency_penalty", "json_object"}
    )

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

    async def send(self, body: bytes) -> Completion:
        """One request; the client's own retries are off."""
        import anthropic
        import httpx2

        client = self.client
        try:
            response = await client.post("/v1/messages", cast_to=httpx2.Response, content=body)
        except anthropic.APIStatusError as error:
            raise self._status(error.status_code, error.response, body) from None
        except (anthropic.AnthropicError, httpx2.HTTPError, UnicodeError) as error:
            raise unreached(error, self.url, self.key) from None
        return self._completion(self.key.hidden_in_bytes(response.content))

    async def close(self) -> None:
        """Ends the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _made(self) -> AsyncAnthropic:
        import anthropic
        import httpx2

        from ragassay.transport.endpoints.pools import options

        return anthropic.AsyncAnthropic(
            base_url=self.url,
            api_key=self.key.reveal() or "none",
            max_retries=0,
            timeout=httpx2.Timeout(self.timeout, connect=CONNECT_S),
            default_headers={"Content-Type": "application/json"},
            http_client=anthropic.DefaultAsyncHttpxClient(**options(self.url, self.role)),
        )

    def _completion(self, content: bytes) -> Completion:
        try:
            body = orjson.loads(content)
            text = "".join(part["text"] for part in body["content"] if part["type"] == "text")
            usage = body.get("usage")
            usage = usage if isinstance(usage, dict) else {}
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            read = sum(counted(usage.get(name)) or 0 for name in names)
            written = counted(usage.get("output_tokens"))
            stop = body.get("stop_reason")
            return Completion(
                text,
                "length" if stop in _CUT else "stop",
                (text or "stopped by the model's safety rules") if stop == "refusal" else None,
                str(body.get("model") or ""),
                min(read, MOST_TOKENS),
                written or 0,
                read > 0 and written is not None,
            )
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError):
            raise foreign(content, self.url, "message") from None

    def _status(self, status: int, response: Any, sent: bytes) -> EndpointError:
        body: Mapping[str, Any] = orjson.loads(sent)
        names = {name for name in body if name in ("temperature", "top_p", "top_k")}
        if "output_config" in body:
            names.add("json_schema")
        return from_status(
            status,
            self.key.hidden_in_bytes(response.content),
            headers=response.headers,
            url=self.url,
            model=body["model"],
            key=self.key,
            sent=names,
        )


_CUT = ("max_tokens", "model_context_window_exceeded")


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


def needs_anthropic() -> None:
    """Says at once that the client is not installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("anthropic") is None:
        raise UsageError(
            "Anthropic's models need their package: pip install 'ragassay[anthropic]'."
        )


PROTOCOL = ApiProtocol(
    "anthropic",
    AnthropicMessages,
    needs_anthropic,
    {
        "anthropic": Provider(
            "https://api.anthropic.com",
            ("ANTHROPIC_API_KEY",),
            "ANTHROPIC_BASE_URL",
            protocol="anthropic",
        )
    },
    {"claude": "anthropic"},
)
