"""Metrics that a user brings as a file: their names, beside those of the built-in ones."""

from __future__ import annotations

from typing import TypeVar

from ragassay.errors import UsageError
from ragassay.metrics import naming
from ragassay.metrics.base import Metric, register

M = TypeVar("M", bound=Metric)

_OWN: dict[str, type[Metric]] = {}


def take(cls: type[M]) -> type[M]:
    """Makes a metric class known that was made from a user's file.

    A later one of the same name takes its place: an edited file can be loaded again.

    Raises:
        UsageError: the name means a built-in metric.
    """
    name = cls.name
    built_in = [one for one in (*naming.known(), *naming.aliases()) if one not in _OWN]
    if name.casefold() in {*map(str.casefold, built_in), *naming.ULTRARAG_RANKED}:
        raise UsageError(
            f"A metric is called {name!r} already; give yours another name. "
            "'ragassay metrics' lists them all."
        )
    _OWN[name] = register(cls)
    naming.known.cache_clear()
    return cls
