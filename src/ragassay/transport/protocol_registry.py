"""The protocols of endpoints, and the providers of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ragassay import discovery, extensions
from ragassay.transport.endpoints.endpoint import ApiProtocol
from ragassay.transport.provider_table import Provider


@cache
def protocols() -> Mapping[str, ApiProtocol]:
    """Every protocol by name: those of the files in ``endpoints/``, and of installed packages."""
    ours = [getattr(one, "PROTOCOL", None) for one in discovery.modules(f"{__package__}.endpoints")]
    every = [*ours, *extensions.added("endpoints").values()]
    by_name = ((one.name, one) for one in every if isinstance(one, ApiProtocol))
    return extensions.by_name("protocol", by_name)


@cache
def providers() -> Mapping[str, Provider]:
    """Every provider by name."""
    every = (item for each in protocols().values() for item in each.providers.items())
    return extensions.by_name("provider", every)


@cache
def aliases() -> Mapping[str, str]:
    """Other names of providers, with the name that each stands for."""
    return {alias: name for each in protocols().values() for alias, name in each.aliases.items()}
