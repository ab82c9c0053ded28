"""The parameters of metrics: how a class declares them, and which values they take."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ragassay.metrics.core.metric import Metric


def param(default: Any, doc: str, *, beside: bool = False, **bounds: float) -> Any:
    """A parameter written in parentheses: ``name(key=value)``.

    Args:
        default: the value when the name leaves it out.
        doc: what it does, in a few words; shown by ``ragassay metrics``.
        beside: true where a published name does not show the parameter, because it says of the
            values where they come from, or which of two published rules they follow, and a note
            says that beside them.
        bounds: ``minimum`` and ``maximum``, the smallest and the largest value allowed, and
            ``exclusive=True`` where these themselves are not.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "beside": beside, **bounds})


def cutoff(
    default: Any = None, doc: str = "rank cut-off (all ranks when left out)", **bounds: float
) -> Any:
    """The parameter written after ``@``."""
    metadata = {"doc": doc, "role": "cutoff", "minimum": 1, **bounds}
    if default is ...:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def part(default: str, choices: tuple[str, ...], doc: str) -> Any:
    """The parameter written after a dot: ``rougeL.f``. Always printed."""
    return dataclasses.field(
        default=default, metadata={"doc": doc, "role": "part", "choices": choices}
    )


@cache
def parameter_types(cls: type[Metric]) -> Mapping[str, Any]:
    """The declared type of each parameter of a metric class."""
    return typing.get_type_hints(cls)


def spelling(value: Any) -> str:
    """A parameter's value as a metric's name has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def choices_of(metric: Metric, spec: dataclasses.Field[Any]) -> tuple[Any, ...] | None:
    """The values that a parameter may have; ``None`` where they cannot be listed."""
    choices = spec.metadata.get("choices")
    if choices is None:
        hint = parameter_types(type(metric)).get(spec.name)
        if typing.get_origin(hint) is Literal:
            choices = typing.get_args(hint)
    return None if choices is None else tuple(choices)
