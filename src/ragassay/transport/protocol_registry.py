"""The protocols of endpoints, and the providers of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ragassay.base import package_files, plugins
from ragassay.transport.endpoints.endpoint import ApiProtocol
from ragassay.transport.provider_table import Provider


@cache
def protocols() -> Mapping[str, ApiProtocol]:
    """Every protocol by name: those of the files in ``endpoints/``, and of installed packages."""
    ours = [
        getattr(one, "PROTOCOL", None) for one in package_files.modules(f"{__package__}.endpoints")
    ]
    every = [*ours, *plugins.added("endpoints").values()]
    by_name = ((one.name, one) for one in every if isinstance(one, ApiProtocol))
    return plugins.by_name("protocol", by_name)


@cache
def providers() -> Mapping[str, Provider]:
    """Every provider by name."""
    every = (item for each in protocols().values() for item in each.providers.items())
    return plugins.by_name("provider", every)


@cache
def aliases() -> Mapping[str, str]:
    """Other names of providers, with the name that each stands for."""
    return {alias: name for each in protocols().values() for alias, name in each.aliases.items()}
