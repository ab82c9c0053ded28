"""The names of metrics that a user brings, as a file or as a class, beside the built-in ones."""

from __future__ import annotations

import re
from typing import TypeVar, dataclass_transform

from ragassay.base.errors import UsageError
from ragassay.metrics.core import metric, naming

M = TypeVar("M", bound=metric.Metric)

_OWN: dict[str, str] = {}
"""Names taken so far, with the (qualified) name of the class that has each."""


@dataclass_transform(frozen_default=True)
def register(cls: type[M]) -> type[M]:
    """Makes a user's metric class a frozen dataclass, known by its name (a decorator).

    A later class of the same name replaces it, so that an edited file, or a notebook's cell, can be
    loaded again.

    Raises:
        UsageError: another metric has the name, or the name is not allowed.
    """
    name = cls.name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_\-]*", name):
        raise UsageError(
            f"{name!r} cannot be a metric's name: use letters, digits, '_' and '-', a letter first."
        )
    names = [
        *naming.metric_classes(),
        *naming.aliases(),
        *naming.ULTRARAG_RANKED,
        *naming.SEVERAL,
    ]
    if _OWN.get(name) != cls.__qualname__ and name.casefold() in map(str.casefold, names):
        raise UsageError(
            f"A metric is called {name!r} already; give yours another name. "
            "'ragassay metrics' lists them all."
        )
    cls = metric.register(cls)
    _OWN[name] = cls.__qualname__
    return cls
