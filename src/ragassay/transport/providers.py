"""Providers of models (``providers.yaml``): their protocols, addresses, variables for keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from ragassay.base import packages
from ragassay.base.errors import UsageError
from ragassay.transport.endpoints.endpoint import ApiProtocol
from ragassay.transport.secrets import Secret, from_environment


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models: the base URL (empty: only the environment's ``url_variable`` knows it,
    and gets the ``suffix`` that it lacks), the variables that may hold the key (the first that is
    set counts), and what goes before a suite's default model (``None``: it has no such model)."""

    url: str
    keys: tuple[str, ...] = ()
    url_variable: str = ""
    suffix: str = ""
    key_needed: bool = True
    protocol: str = "openai"
    default: str | None = None


def speakers(protocol: str) -> dict[str, Any]:
    """Who speaks a protocol of ours: ``providers`` and ``aliases``, by name."""
    listed = packages.table("ragassay.transport", "providers.yaml")[protocol]
    every = {
        name: Provider(**{**one, "keys": tuple(one["keys"])}, protocol=protocol)
        for name, one in listed["providers"].items()
    }
    return {"providers": every, "aliases": listed["aliases"]}


@cache
def protocols() -> Mapping[str, ApiProtocol]:
    """Every protocol by name: those of the files in ``endpoints/``, and of installed packages."""
    files = packages.modules(f"{__package__}.endpoints")
    ours = [one for file in files for one in getattr(file, "PROTOCOLS", ())]
    ours.sort(key=lambda one: one.name)
    every = [*ours, *packages.added("endpoints").values()]
    by_name = ((one.name, one) for one in every if isinstance(one, ApiProtocol))
    return packages.by_name("protocol", by_name)


@cache
def providers() -> Mapping[str, Provider]:
    """Every provider by name."""
    every = (item for each in protocols().values() for item in each.providers.items())
    return packages.by_name("provider", every)


@cache
def aliases() -> Mapping[str, str]:
    """Other names of providers, with the name that each means."""
    return {alias: name for each in protocols().values() for alias, name in each.aliases.items()}


OWN_KEY = "RAGASSAY_API_KEY"  # the variable for the key of an endpoint that is named by its URL
OWN_URL = "RAGASSAY_BASE_URL"  # which server that key is for: it is sent to no other


def own_key(url: str, environment: Mapping[str, str]) -> Secret | None:
    """The key of an endpoint that is named by its URL; ``None`` where its server has none."""
    secret, server = from_environment([OWN_KEY], environment), environment.get(OWN_URL, "").strip()
    if secret is None:
        return None
    if not server:
        raise UsageError(
            f"{OWN_KEY} is sent only to the server that {OWN_URL} names, and that is not set. "
            f"If the key is for this server: export {OWN_URL}={url}."
        )
    return secret if _origin(server) == _origin(url) else None


def _origin(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.casefold()
        port = parts.port or (443 if scheme == "https" else 80)
        return scheme, (parts.hostname or "").casefold(), port
    except ValueError:
        raise UsageError(f"{OWN_URL} is not a URL.") from None
