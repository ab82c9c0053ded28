"""What packages define, so that adding a metric, a suite, a format or more is adding a file: the
modules and tables of this package, and what installed packages add (plugins), by entry points such
as ``[project.entry-points."ragassay.suites"]``. ``examples/plugin`` is such a package;
docs/extending.md says what an object of each group is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoints, entry_points
from types import ModuleType
from typing import Any, TypeVar

from ragassay.base.errors import UsageError, warn_user

T = TypeVar("T")

GROUPS = ("metrics", "suites", "formats", "judges", "endpoints", "reports", "plots")


def modules(package: str) -> Iterator[ModuleType]:
    """Every module in a package and the packages within it, imported, by name."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        name = f"{package}.{module.name}"
        if module.ispkg:
            yield from modules(name)
        else:
            yield importlib.import_module(name)


@cache
def table(package: str, file: str) -> Any:
    """The content of a YAML file of ours: read once, fast, without the checks of a user's file."""
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


def summary() -> str:
    """A sentence that names what installed packages add; empty where they add nothing."""
    by_group = {group: [point.name for point in _points(group)] for group in GROUPS}
    each = [f"{group} {', '.join(names)}" for group, names in by_group.items() if names]
    return f"Installed packages add: {'; '.join(each)}." if each else ""


@cache
def added(group: str) -> Mapping[str, Any]:
    """The objects that installed packages add to a group, by the names of their entry points. One
    that cannot be imported, or takes the name of another, is left out with a warning."""
    objects: dict[str, Any] = {}
    values: dict[str, str] = {}
    for point in _points(group):
        if values.setdefault(point.name, point.value) != point.value:
            problem = f"{values[point.name]} has the same name"
        else:
            try:
                objects[point.name] = point.load()
                continue
            except Exception as error:  # whatever a foreign package does when it is imported
                problem = f"{type(error).__name__}: {error}"
        of = f" of the package {point.dist.name}" if point.dist is not None else ""
        warn_user(f"{point.name}{of} ({point.value}) cannot be used in {group}: {problem}")
    return objects


def by_name(what: str, named: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Objects of one kind by name."""
    objects: dict[str, T] = {}
    for name, item in named:
        if name in objects and objects[name] is not item:
            raise UsageError(f"Two {what}s are called {name!r}. Rename either of them.")
        objects[name] = item
    return objects


def _points(group: str) -> EntryPoints:
    points: EntryPoints = _installed().select(group=f"ragassay.{group}")
    return points


@cache
def _installed() -> Any:
    """The entry points of all packages; to read them takes 10 ms."""
    return entry_points()
