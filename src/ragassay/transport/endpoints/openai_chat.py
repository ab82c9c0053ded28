"""OpenAI's chat completions API: OpenAI itself, and every server that is compatible with it.

The official client does the transport; retries, limits and deadlines are ours. The first request
goes through the client's ``post``, which sends our bytes as they are: what was hashed is what is
sent. Those that follow have its address and headers and go straight to the client's connections: to
make each of them anew takes the client a third of the time of a whole call.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from ragassay.errors import UsageError
from ragassay.transport.endpoints.endpoint import (
    CONNECT_S,
    TIMEOUT_S,
    ApiProtocol,
    ClientEndpoint,
    Completion,
    EndpointError,
    Finish,
    Prompt,
    counted,
)
from ragassay.transport.endpoints.endpoint_errors import foreign, from_status, unreached
from ragassay.transport.provider_table import COMPATIBLE_ALIASES, OPENAI_COMPATIBLE
from ragassay.transport.secrets import Secret

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"


class OpenAIChat(ClientEndpoint["AsyncOpenAI"]):
    """``POST {url}/chat/completions``."""

    protocol: ClassVar[str] = "openai"
    path: ClassVar[str] = "/chat/completions"

    def __init__(self, url: str, key: Secret, *, timeout: float = TIMEOUT_S) -> None:
        super().__init__(url, key, timeout=timeout)
        self._http: httpx2.AsyncClient | None = None
        self._first: dict[str, Any] | None = None

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

    async def send(self, body: bytes) -> Completion:
        """One request; the client's own retries are off."""
        import httpx2
        import openai

        client = self.client
        try:
            response = await self._exchange(client, body)
        except openai.APIStatusError as error:
            raise self._status(error.status_code, error.response, body) from None
        except (openai.OpenAIError, httpx2.HTTPError, UnicodeError) as error:
            raise unreached(error, self.url, self.key) from None
        return self._completion(response, body)

    async def _exchange(self, client: AsyncOpenAI, body: bytes) -> httpx2.Response:
        """A reply that is no error; see the module."""
        import httpx2

        first = self._first
        if first is None or self._http is None:
            response = await client.post(
                self.path, cast_to=httpx2.Response, content=body, options=_OPTIONS
            )
            if not response.history:  # what a redirect led to is no example
                self._first = _example(response.request)
            return response
        response = await self._http.send(httpx2.Request(**first, content=body))
        if response.is_error:
            raise self._status(response.status_code, response, body)
        return response

    async def close(self) -> None:
        """Ends the connections."""
        client, self._client = self._client, None
        self._http = self._first = None
        if client is not None:
            await client.close()

    def _made(self) -> AsyncOpenAI:
        import httpx2
        import openai

        from ragassay.transport.endpoints.pools import options

        theirs = self.url.startswith(OPENAI)
        # The client insists on a key; a server that wants none ignores it.
        key = self.key.reveal() or "none"
        self._http = openai.DefaultAsyncHttpxClient(**options(self.url, self.role))
        client = openai.AsyncOpenAI(
            base_url=self.url,
            api_key=key,
            max_retries=0,
            # The caller has the deadline: a timer for each read and write is a twentieth of a call.
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            default_headers=None if theirs else _headers(key),
            http_client=self._http,
        )
        client.admin_api_key = None
        if not theirs:
            # The client takes these from the environment, whoever it talks to.
            client.organization = client.project = None
        return client

    def _completion(self, response: httpx2.Response, sent: bytes) -> Completion:
        content = self.key.hidden_in_bytes(response.content)
        try:
            body = orjson.loads(content)
            if "choices" not in body and body.get("error"):
                # Some proxies pass a provider's error on with status 200.
                code = body["error"].get("code")
                status = code if isinstance(code, int) and 400 <= code < 600 else 502
                raise self._status(status, response, sent)
            choice = body["choices"][0]
            message = choice["message"]
            usage = body.get("usage")
            usage = usage if isinstance(usage, dict) else {}
            read = counted(usage.get("prompt_tokens"))
            written = counted(usage.get("completion_tokens"))
            return Completion(
                _text(message.get("content")),
                _FINISH.get(choice.get("finish_reason"), "stop"),
                message.get("refusal") or None,
                str(body.get("model") or ""),
                read or 0,
                written or 0,
                # No prompt has nothing in it: some proxies send zeros.
                bool(read) and written is not None,
            )
        except (
            orjson.JSONDecodeError,
            KeyError,
            IndexError,
            TypeError,
            AttributeError,
            ValueError,
        ):
            raise foreign(content, self.url, "chat completion") from None

    def _status(self, status: int, response: httpx2.Response, sent: bytes) -> EndpointError:
        body: Mapping[str, Any] = orjson.loads(sent)
        names = {name for name in body if name not in _OF_EVERY_REQUEST}
        form = body.get("response_format")
        if form is not None:
            names.add(form["type"])
        return from_status(
            status,
            self.key.hidden_in_bytes(response.content),
            headers=response.headers,
            url=self.url,
            model=body["model"],
            key=self.key,
            sent=names,
            role=self.role,
        )


_OPTIONS: Any = {
    "headers": {"Content-Type": "application/json"},
    # Never the admin key of the environment.
    "security": {"bearer_auth": True},
}

_OF_EVERY_REQUEST = ("model", "messages", "input", "response_format")

_OF_ONE_REQUEST = ("content-length", "idempotency-key")

_FINISH: Mapping[Any, Finish] = {"length": "length", "content_filter": "filtered"}


def _example(request: httpx2.Request) -> dict[str, Any]:
    """The parts of a request that those after it share."""
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.decode("latin-1").lower() not in _OF_ONE_REQUEST
    ]
    return {
        "method": request.method,
        "url": request.url,
        "headers": headers,
        "extensions": request.extensions,
    }


def needs_openai() -> None:
    """Says at once, and clearly, that the client is not installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("openai") is None:
        raise UsageError("An LLM judge needs the openai package: pip install 'ragassay[llm]'.")


def _headers(key: str) -> dict[str, Any]:
    """Takes out what ``OPENAI_CUSTOM_HEADERS`` would send to a server that is not OpenAI's."""
    import os

    from openai import Omit

    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    ambient: dict[str, Any] = {
        line.partition(":")[0].strip(): Omit() for line in lines if ":" in line
    }
    kept = {name: value for name, value in ambient.items() if name.lower() != "authorization"}
    return {**kept, "Authorization": f"Bearer {key}"}


def _text(content: Any) -> str | None:
    """The reply's text; some servers give it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") or "" for part in content if part.get("type") == "text"]
        return "".join(parts)
    if content is not None and not isinstance(content, str):
        raise TypeError("content is not a text")
    return content


PROTOCOL = ApiProtocol(
    "openai",
    OpenAIChat,
    needs_openai,
    OPENAI_COMPATIBLE,
    COMPATIBLE_ALIASES,
    embeddings="",
)
