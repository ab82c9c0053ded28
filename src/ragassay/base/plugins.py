"""What installed packages add: metrics, suites, formats and more, by entry points such as
``[project.entry-points."ragassay.suites"]``. ``examples/plugin`` is such a package;
docs/extending.md says what an object of each group is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any, TypeVar

from ragassay.base.errors import UsageError, warn_user

T = TypeVar("T")

GROUPS = ("metrics", "suites", "formats", "judges", "endpoints", "reports", "plots")


def summary() -> str:
    """A sentence that names what installed packages add; empty where they add nothing."""
    by_group = {group: [one.name for one in _points(group)] for group in GROUPS}
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
    for name, one in named:
        if name in objects and objects[name] is not one:
            raise UsageError(f"Two {what}s are called {name!r}. Rename either of them.")
        objects[name] = one
    return objects


def _points(group: str) -> EntryPoints:
    points: EntryPoints = _installed().select(group=f"ragassay.{group}")
    return points


@cache
def _installed() -> Any:
    """The entry points of all packages; to read them takes 10 ms."""
    return entry_points()
