"""A protocol of endpoints: that of Text Generation Inference, ``POST {url}/generate``."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any, ClassVar

from ragassay import Reason
from ragassay.transport import Provider
from ragassay.transport.endpoints import (
    ApiProtocol,
    Completion,
    Endpoint,
    EndpointError,
    Prompt,
    from_status,
)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it could send the key to another server."""

    def redirect_request(self, *_: Any) -> None:
        """No request follows."""


_OPENER = urllib.request.build_opener(_NoRedirects)


class Generate(Endpoint):
    """``POST {url}/generate``."""

    protocol: ClassVar[str] = "tgi"
    never: ClassVar[frozenset[str]] = frozenset({"json_object", "presence_penalty"})

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The messages as one text."""
        parameters = dict(prompt.parameters)
        if "max_tokens" in parameters:
            parameters["max_new_tokens"] = parameters.pop("max_tokens")
        if prompt.mode == "json_schema":
            parameters["grammar"] = {"type": "json", "value": dict(prompt.schema)}
        text = "\n\n".join(f"{one['role']}: {one['content']}" for one in prompt.messages)
        return {"inputs": f"{text}\n\nassistant:", "parameters": parameters}

    async def send(self, body: bytes) -> Completion:
        """Sends a body once."""
        return await asyncio.to_thread(self._sent, body)

    async def close(self) -> None:
        """Nothing stays open."""

    def _sent(self, body: bytes) -> Completion:
        request = urllib.request.Request(
            f"{self.url}/generate",
            body,
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key.reveal()}"},
        )
        try:
            with _OPENER.open(request, timeout=self.timeout) as reply:
                found = json.load(reply)
        except urllib.error.HTTPError as error:
            raise from_status(
                error.code,
                error.read(),
                headers=dict(error.headers),
                url=self.url,
                model="",
                key=self.key,
                sent=json.loads(body)["parameters"],
            ) from None
        except TimeoutError:
            detail = f"{self.url}: no reply within {self.timeout:g} s"
            raise EndpointError(Reason.TIMEOUT, detail, again=True) from None
        except OSError as error:
            raise EndpointError(Reason.CONNECTION, f"{self.url}: {error}", again=True) from None
        return Completion(found["generated_text"])


TGI = ApiProtocol(
    "tgi",
    Generate,
    lambda: None,
    {
        "tgi": Provider(
            "http://localhost:8080", ("TGI_API_KEY",), "TGI_URL", key_needed=False, protocol="tgi"
        )
    },
)
