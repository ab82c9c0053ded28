"""Where the providers of models are, and which environment variable holds their key
(``providers.yaml``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragassay import discovery


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
        moved_protocol: what is spoken where ``url_variable`` moves the endpoint to, if that is
            another protocol.
        default: what goes before a suite's published default model where only the provider is
            named; ``None`` where the provider does not have that model.
    """

    url: str
    keys: tuple[str, ...] = ()
    url_variable: str = ""
    suffix: str = ""
    key_needed: bool = True
    protocol: str = "openai"
    moved_protocol: str = ""
    default: str | None = None


def speakers(protocol: str) -> dict[str, Any]:
    """Who speaks a protocol of ours: ``providers`` and ``aliases``, by name.

    Args:
        protocol: ``openai``.
    """
    listed = discovery.table("ragassay.transport", "providers.yaml")[protocol]
    every = {
        name: Provider(**{**one, "keys": tuple(one["keys"])}, protocol=protocol)
        for name, one in listed["providers"].items()
    }
    return {"providers": every, "aliases": listed["aliases"]}


OWN_KEY = "RAGASSAY_API_KEY"
"""The variable for the key of an endpoint that is named by its URL."""
