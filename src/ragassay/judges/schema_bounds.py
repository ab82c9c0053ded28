"""The smallest and the largest reply that a schema allows, for plans of what a run will ask."""

from __future__ import annotations

import typing
from types import NoneType
from typing import Any, Literal, TypeVar

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

R = TypeVar("R", bound=BaseModel)


def extreme(reply: type[R], *, largest: bool) -> R:
    """The smallest or largest reply of a type: numbers at their bounds, flags false or true, labels
    the first or the last, texts and lists empty (or of one item).

    Args:
        reply: type of the reply.
        largest: which end.

    Raises:
        TypeError: a field of another type; its question has to say what its ends are.
    """
    return reply.model_construct(
        **{name: _end(field, largest) for name, field in reply.model_fields.items()}
    )


def _end(field: FieldInfo, largest: bool) -> Any:
    bound = Le if largest else Ge
    for mark in field.metadata:
        if isinstance(mark, bound):
            return mark.le if isinstance(mark, Le) else mark.ge
    return _plain_end(field.annotation, largest)


def _plain_end(kind: Any, largest: bool) -> Any:
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin is Literal:
        return arguments[-1 if largest else 0]
    if origin in (tuple, list):
        return origin([_plain_end(arguments[0], largest)] if largest else [])
    if origin is not None and NoneType in arguments:
        rest = [one for one in arguments if one is not NoneType]
        return _plain_end(rest[0], largest) if largest else None
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return extreme(kind, largest=largest)
    ends: dict[Any, tuple[Any, Any]] = {bool: (False, True), str: ("", "text"), int: (0, 100)}
    ends[float] = (0.0, 1.0)
    if kind not in ends:
        raise TypeError(f"the ends of {kind} are not known")
    return ends[kind][largest]
