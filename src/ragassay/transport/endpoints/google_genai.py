"""Google's Gemini API, through the official client (extra ``google``)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from ragassay.errors import UsageError
from ragassay.scores import Reason
from ragassay.transport.endpoints.endpoint import (
    MOST_TOKENS,
    ApiProtocol,
    ClientEndpoint,
    Completion,
    EndpointError,
    Finish,
    Prompt,
    counted,
)
from ragassay.transport.endpoints.endpoint_errors import from_status, unreached
from ragassay.transport.provider_table import Provider

if TYPE_CHECKING:
    import httpx2
    from google import genai

_NAMES = {"max_tokens": "max_output_tokens"}


class GoogleGenAI(ClientEndpoint["genai.Client"]):
    """``POST {url}/v1beta/models/{model}:generateContent``."""

    protocol: ClassVar[str] = "google"
    _http: httpx2.AsyncClient

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """What the client's ``generate_content`` is called with."""
        system = [one["content"] for one in prompt.messages if one["role"] == "system"]
        config = {_NAMES.get(name, name): value for name, value in prompt.parameters.items()}
        if system:
            config["system_instruction"] = "\n\n".join(system)
        if prompt.mode != "text":
            config["response_mime_type"] = "application/json"
        if prompt.mode == "json_schema":
            config["response_json_schema"] = prompt.schema
        return {
            "model": prompt.model,
            "contents": [
                {"role": _ROLES[one["role"]], "parts": [{"text": one["content"]}]}
                for one in prompt.messages
                if one["role"] != "system"
            ],
            "config": config,
        }

    async def send(self, body: bytes) -> Completion:
        """One request; the client's own retries are off."""
        from google.genai import errors

        client = self.client
        asked = orjson.loads(body)
        try:
            response = await client.aio.models.generate_content(**asked)
        except errors.APIError as error:
            raise self._status(error, asked) from None
        except UnicodeError as error:  # in a header
            raise unreached(error, self.url, self.key) from None
        except ValueError as error:
            # The client checks what it sends, and what comes back.
            detail = self.key.hidden_in(f"{self.url}: {type(error).__name__}: {error}")
            raise EndpointError(Reason.SERVER_ERROR, detail, again=True) from None
        except Exception as error:
            # Which HTTP library is below, and with it the errors' types, is the client's choice.
            raise unreached(error, self.url, self.key) from None
        return self._completion(response)

    async def close(self) -> None:
        """Ends the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aio.aclose()
            await self._http.aclose()  # the client leaves alone what it was given

    def _made(self) -> genai.Client:
        import httpx2
        from google import genai

        from ragassay.transport.endpoints.pools import options

        self._http = httpx2.AsyncClient(**options(self.url, self.role))
        return genai.Client(
            vertexai=False,
            api_key=self.key.reveal() or "none",
            http_options={
                "base_url": self.url,
                "timeout": int(self.timeout * 1000),
                "retry_options": {"attempts": 1},
                "httpx_async_client": self._http,
            },
        )

    def _completion(self, response: Any) -> Completion:
        usage = response.usage_metadata
        read = written = 0
        if usage is not None:
            read = counted(usage.prompt_token_count) or 0
            outputs = (usage.candidates_token_count, usage.thoughts_token_count)
            written = min(sum(counted(output) or 0 for output in outputs), MOST_TOKENS)
        model = self.key.hidden_in(response.model_version or "")
        blocked = response.prompt_feedback and response.prompt_feedback.block_reason
        if blocked or not response.candidates:
            return Completion(
                None,
                "filtered" if blocked else "stop",
                None,
                model,
                read,
                written,
                read > 0,
            )
        candidate = response.candidates[0]
        parts = (candidate.content and candidate.content.parts) or []
        text = "".join(part.text or "" for part in parts if not part.thought)
        finish = _FINISH.get(getattr(candidate.finish_reason, "name", ""), "stop")
        text = self.key.hidden_in(text)
        return Completion(text, finish, None, model, read, written, read > 0)

    def _status(self, error: Any, asked: Mapping[str, Any]) -> EndpointError:
        config = asked["config"]
        names = {name for name in config if not name.startswith(("system", "response"))}
        if "response_json_schema" in config:
            names.add("json_schema")
        elif "response_mime_type" in config:
            names.add("json_object")
        return from_status(
            int(error.code or 500),
            self.key.hidden_in_bytes(orjson.dumps(error.details, default=str)),
            headers=getattr(error.response, "headers", None) or {},
            url=self.url,
            model=asked["model"],
            key=self.key,
            sent=names,
        )


_ROLES = {"user": "user", "assistant": "model"}
_FINISH: Mapping[str, Finish] = {
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
}


def needs_google() -> None:
    """Says at once that the client is not installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("google") is None or find_spec("google.genai") is None:
        raise UsageError("Google's models need their package: pip install 'ragassay[google]'.")


PROTOCOL = ApiProtocol(
    "google",
    GoogleGenAI,
    needs_google,
    {
        "google": Provider(
            "https://generativelanguage.googleapis.com",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "GOOGLE_GEMINI_BASE_URL",
            protocol="google",
        )
    },
    {"gemini": "google"},
    embeddings="/v1beta/openai",
)
