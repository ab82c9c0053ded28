"""Any model that the package LiteLLM can reach, where the user has installed it."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, ClassVar

import orjson

from ragassay.base.errors import UsageError
from ragassay.transport.endpoints.endpoint import (
    ApiProtocol,
    Completion,
    Endpoint,
    Prompt,
)
from ragassay.transport.endpoints.endpoint_errors import foreign
from ragassay.transport.endpoints.openai_chat import chat_body, chat_completion
from ragassay.transport.endpoints.python_chat import raised
from ragassay.transport.providers import speakers
from ragassay.transport.secrets import Secret

_FOUND = Secret("-", "the environment variable from which LiteLLM reads the key")


class LiteLLMPackage(Endpoint):
    """``litellm.acompletion``, in this process. LiteLLM finds its keys in the environment."""

    protocol: ClassVar[str] = "litellm"

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request as OpenAI documents it, which is LiteLLM's own form."""
        return chat_body(prompt)

    async def open(self) -> None:
        """Imports the package, which takes seconds."""
        _package()

    async def send(self, body: bytes) -> Completion:
        """Has LiteLLM send it once."""
        request = orjson.loads(body)
        form = (request.get("response_format") or {}).get("type")
        sent = [*(request.keys() - {"model", "messages", "response_format"}), *[form] * bool(form)]
        own = {"api_key": self.key.reveal()} if self.key else {}
        try:
            reply = await _package().acompletion(
                **request, **own, timeout=self.timeout, num_retries=0, max_retries=0
            )
        except Exception as error:
            failure = raised(
                error, self.shown, model=request["model"], sent=sent, key=self.key or _FOUND
            )
            failure.detail = self.key.hidden_in(failure.detail)
            raise failure from error
        try:
            return chat_completion(reply.model_dump())
        except (LookupError, TypeError, AttributeError) as error:
            raise foreign(repr(reply).encode(), self.shown, "chat completion") from error


def _package() -> Any:
    # Without it, the package fetches a list of prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm


def _check() -> None:
    if importlib.util.find_spec("litellm") is None:
        raise UsageError(
            "A judge litellm:MODEL needs the package LiteLLM: pip install litellm. A LiteLLM proxy "
            "needs no package: name it by its URL, as in http://localhost:4000/v1#MODEL, or set "
            "LITELLM_BASE_URL."
        )


PROTOCOL = ApiProtocol("litellm", LiteLLMPackage, _check, **speakers("litellm"))
