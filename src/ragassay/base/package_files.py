"""Finds what the files of a package define, so that adding one is adding a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import resources
from types import ModuleType
from typing import Any


def modules(package: str) -> Iterator[ModuleType]:
    """Every module in a package and the packages within it, imported, by name."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        name = f"{package}.{module.name}"
        if module.ispkg:
            yield from modules(name)
        else:
            yield importlib.import_module(name)


def table(package: str, file: str) -> Any:
    """The content of a YAML file of ours: read fast, without the checks of a user's file."""
    import yaml  # by whoever asks for a table, not by everyone who imports the package

    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    # libyaml takes a tenth of the time; a build of PyYAML without it has no such loader.
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def word_lists(package: str, file: str) -> Mapping[str, tuple[str, ...]]:
    """The lists of a text file, whose lines are ``NAME: word word ...``."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    lines = text.replace("\n ", " ").splitlines()
    named = (line.partition(":") for line in lines if not line.startswith("#"))
    return {name: tuple(words.split()) for name, _, words in named}
