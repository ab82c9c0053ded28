"""Any model that the package LiteLLM can reach, where the user has installed it."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, ClassVar

import orjson

from ragassay.base.errors import UsageError
from ragassay.transport.endpoints.endpoint import ApiProtocol, Completion
from ragassay.transport.endpoints.endpoint_errors import foreign
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.endpoints.python_chat import raised
from ragassay.transport.providers import speakers
from ragassay.transport.secrets import Secret

_FOUND = Secret("-", "the environment variable from which LiteLLM reads the key")


class LiteLLMPackage(OpenAIChat):
    """``litellm.acompletion``, in this process: OpenAI's requests and replies. LiteLLM finds its
    keys in the environment."""

    protocol: ClassVar[str] = "litellm"

    async def open(self) -> None:
        """Imports the package, which takes seconds."""
        _package()

    async def send(self, body: bytes) -> Completion:
        """Has LiteLLM send it once."""
        request = orjson.loads(body)
        own = {"api_key": self.key.reveal()} if self.key else {}
        try:
            reply = await _package().acompletion(
                **request, **own, timeout=self.timeout, num_retries=0, max_retries=0
            )
        except Exception as error:
            sent, key = list(self.rejectable(request)), self.key or _FOUND
            failure = raised(error, self.shown, model=request["model"], sent=sent, key=key)
            failure.detail = self.key.hidden_in(failure.detail)
            raise failure from error
        try:
            return self.read(reply.model_dump(), body)
        except (LookupError, TypeError, AttributeError) as error:
            raise foreign(repr(reply).encode(), self.shown, self.expected) from error


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


PROTOCOLS = (ApiProtocol("litellm", LiteLLMPackage, _check, **speakers("litellm")),)
