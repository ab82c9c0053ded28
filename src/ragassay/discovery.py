"""Finds what the files of a package define, so that adding one is adding a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules(package: str) -> Iterator[ModuleType]:
    """Every module in a package and the packages within it, imported, in the order of their
    names."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        name = f"{package}.{found.name}"
        if found.ispkg:
            yield from modules(name)
        else:
            yield importlib.import_module(name)
