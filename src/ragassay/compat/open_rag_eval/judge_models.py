"""Open RAG Eval's classes of judges."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ragassay.base.errors import UsageError

if TYPE_CHECKING:
    from ragassay.judges import Judge


class LLMJudgeModel:
    """A model that judges: one of the subclasses here, or a subclass of your own with
    ``call(prompt, model_kwargs=None)``, which returns the reply as a text. It is asked by our
    questions; its ``parse`` is not called.
    """


@dataclass(frozen=True)
class ProviderModel(LLMJudgeModel):
    """A model at a provider, by its name there (use one of the subclasses). Without ``api_key`` the
    provider's usual environment variable counts; ``base_url`` is another server that speaks
    OpenAI's protocol."""

    model_name: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None

    provider: ClassVar[str]

    @property
    def word(self) -> str:
        """The judge's name, as ``--judge`` takes it."""
        if self.base_url is not None:
            return f"{self.base_url}#{self.model_name}"
        return f"{self.provider}:{self.model_name}"


@dataclass(frozen=True)
class OpenAIModel(ProviderModel):
    """A model of OpenAI's, or of any server that speaks its protocol; GPT-4o, the page's default,
    where none is named."""

    model_name: str = "gpt-4o"

    provider = "openai"


@dataclass(frozen=True)
class AnthropicModel(ProviderModel):
    """A model of Anthropic's."""

    provider = "anthropic"


@dataclass(frozen=True)
class GeminiModel(ProviderModel):
    """A model of Google's."""

    provider = "google"


@dataclass(frozen=True)
class TogetherModel(ProviderModel):
    """A model at Together."""

    provider = "together"


def judge_keywords(model: LLMJudgeModel | Judge | str) -> dict[str, Any]:
    """The keywords of `ragassay.evaluate` for a judge. A key that was given is passed as part of
    the environment, and is kept nowhere else."""
    if callable(getattr(model, "call", None)) or not isinstance(model, LLMJudgeModel):
        return {"judge": model}
    if not isinstance(model, ProviderModel):
        raise UsageError(
            f"{type(model).__name__} has no method call(prompt, model_kwargs=None) that returns "
            "the reply as a text; parse alone cannot answer our questions."
        )
    from ragassay.transport.providers_and_prices import OWN_KEY, OWN_URL, providers
    from ragassay.transport.secrets import Secret, from_environment

    if model.api_key is None:
        provider = providers()[model.provider]
        needed = model.base_url is None and provider.key_needed
        if needed and from_environment(provider.keys, os.environ) is None:
            raise UsageError(
                f"{type(model).__name__} has no key: give api_key=..., or set "
                f"{' or '.join(provider.keys)}."
            )
        return {"judge": model.word}
    Secret(model.api_key, "api_key")  # says at once, and under this name, that it cannot be sent
    if model.base_url is None:
        given = dict.fromkeys(providers()[model.provider].keys, model.api_key)
    else:
        given = {OWN_KEY: model.api_key, OWN_URL: model.base_url}
    return {"judge": model.word, "environment": {**os.environ, **given}}
