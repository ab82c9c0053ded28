"""Where the providers are that speak OpenAI's protocol, and which environment variable holds their
key. Others stand with their protocol, in `ragassay.transport.endpoints`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    Attributes:
        url: base URL of the endpoint; empty where only the environment knows it.
        keys: environment variables that may hold the key, the first one set counts; none where
            no key is needed.
        url_variable: environment variable that moves the endpoint elsewhere.
        suffix: what is added to the variable's URL where it is not there.
        key_needed: whether asking without a key is pointless.
        protocol: what is spoken there, a name of `ragassay.transport.protocol_registry`.
        default: what goes before a suite's published default model where only the provider is
            named; ``None`` where the provider does not have that model.
    """

    url: str
    keys: tuple[str, ...] = ()
    url_variable: str = ""
    suffix: str = ""
    key_needed: bool = True
    protocol: str = "openai"
    default: str | None = None


OPENAI_COMPATIBLE: Mapping[str, Provider] = {
    "openai": Provider(
        "https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", default=""
    ),
    "azure": Provider(
        "",
        ("AZURE_OPENAI_API_KEY",),
        "AZURE_OPENAI_ENDPOINT",
        "/openai/v1",
        default="",
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), default="openai/"
    ),
    "together": Provider("https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    "groq": Provider("https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    "mistral": Provider("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    "deepseek": Provider("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    "xai": Provider("https://api.x.ai/v1", ("XAI_API_KEY",)),
    "ollama": Provider(
        "http://localhost:11434/v1", ("OLLAMA_API_KEY",), "OLLAMA_HOST", "/v1", key_needed=False
    ),
    "vllm": Provider(
        "http://localhost:8000/v1", ("VLLM_API_KEY",), "VLLM_BASE_URL", key_needed=False
    ),
    "lmstudio": Provider(
        "http://localhost:1234/v1", ("LMSTUDIO_API_KEY",), "LMSTUDIO_BASE_URL", key_needed=False
    ),
    "litellm": Provider(
        "http://localhost:4000/v1", ("LITELLM_API_KEY",), "LITELLM_BASE_URL", key_needed=False
    ),
}

COMPATIBLE_ALIASES: Mapping[str, str] = {
    "azure_openai": "azure",
    "azure-openai": "azure",
    "togetherai": "together",
    "together_ai": "together",
    "lm_studio": "lmstudio",
    "lm-studio": "lmstudio",
    "grok": "xai",
}

OWN_KEY = "RAGASSAY_API_KEY"
"""The variable for the key of an endpoint that is named by its URL."""
