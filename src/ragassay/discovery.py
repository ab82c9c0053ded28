"""Finds what the files of a package define, so that adding one is adding a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules(package: str) -> Iterator[ModuleType]:
    """Every module that lies directly in a package, imported, in the order of its names."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        yield importlib.import_module(f"{package}.{found.name}")
