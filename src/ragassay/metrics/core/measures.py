"""Metrics from functions: a family's base prepares the data, a function computes the value::

    @measure("ChunkR", base=ChunkMetric)
    def chunk_recall(hits: Hits, k: int) -> float:
        '''Share of the gold chunks found among the first k. ...'''
        return hits.within(k) / hits.n_gold

Its docstring describes the metric. Its parameters that are fields of the base, or that have a
default by `param`, `cutoff` or `part`, are the metric's; the others are the data.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields
from inspect import signature
from typing import Any, ClassVar, TypeVar, get_type_hints

from ragassay.metrics.core.metric import Metric, define

F = TypeVar("F", bound=Callable[..., Any])


class Measured(Metric):
    """A metric whose value a function computes."""

    function: ClassVar[Callable[..., Any]]
    taken: ClassVar[tuple[str, ...]]

    def measured(self, *data: Any) -> Any:
        """What the function gives for the data and the metric's parameters."""
        return type(self).function(*data, **{name: getattr(self, name) for name in self.taken})


def measure(name: str, *aliases: str, base: type[Measured], **facts: Any) -> Callable[[F], F]:
    """Registers the metric that a function computes (a decorator).

    Args:
        name: of the metric.
        *aliases: its other names.
        base: the class that it derives from.
        **facts: attributes of the class that differ from those of the base (``low=None``).
    """

    def made(function: F) -> F:
        types, known = get_type_hints(function), {one.name for one in fields(base)}
        defaults = {one: spec.default for one, spec in signature(function).parameters.items()}
        own = {one: copy(spec) for one, spec in defaults.items() if hasattr(spec, "metadata")}
        body = {
            "__module__": function.__module__,
            "__annotations__": {one: types[one] for one in own},
            **own,
            "aliases": dict.fromkeys(aliases, name),
            "function": staticmethod(function),
            "taken": tuple(one for one in defaults if one in own or one in known),
        }
        define(name, base, function.__doc__ or "", **body | facts)
        return function

    return made
