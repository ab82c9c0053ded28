"""What judges answer: the base of replies, and annotations of their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from typing_extensions import override

from ragassay.base.score import Reason


class Reply(BaseModel):
    """Base of what judges answer. Keys that were not agreed on are ignored, wrong types are not.

    Class attributes:
        implied: fields that a person who labels is not asked for, and the field whose value
            they take.
    """

    implied: ClassVar[Mapping[str, str]] = {}
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    @classmethod
    def fields(cls) -> dict[str, Any]:
        """The type of each field that a judge fills in, without bounds and conversions."""
        return {name: _bare(field.annotation) for name, field in cls.model_fields.items()}


class Lost(BaseModel):
    """Why a field of a reply has no value."""

    model_config = ConfigDict(frozen=True)
    reason: Reason
    detail: str


class ReplyInParts(Reply):
    """A reply whose fields (all ``TYPE | None = None``) stand by themselves: one without a valid
    value, even when asked again, is ``None``, and ``lost`` says why, of it or of the field that it
    explains."""

    lost: Mapping[str, Lost] = {}

    @classmethod
    @override
    def fields(cls) -> dict[str, Any]:
        return {name: kind for name, kind in super().fields().items() if name != "lost"}

    @model_serializer(mode="wrap")
    def _plain(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The fields as plain values: ``lost`` only where a field is lost, and no lost field."""
        body: dict[str, Any] = handler(self)
        lost = body.pop("lost")
        values = {name: value for name, value in body.items() if value is not None}
        return {**values, "lost": lost} if lost else values


def about(name: str) -> str:
    """The field that a text explains: ``usefulness`` for ``usefulness_explanation``; none for other
    names."""
    return name.rpartition("_")[0]


def _bare(kind: Any) -> Any:
    """A type without its annotations and without ``None``."""
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


R = TypeVar("R", bound=Reply)
R_co = TypeVar("R_co", bound=Reply, covariant=True)


def whole_number(low: int, high: int) -> Any:
    """Annotation of a whole number in a range: ``Annotated[int, *whole_number(0, 3)]``.

    Args:
        low, high: smallest and largest value; ``"3"`` and ``3.0`` are accepted for 3.
    """
    return (Field(ge=low, le=high), BeforeValidator(_to_whole_number))


def _to_whole_number(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,9}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _word(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"[\s_-]+", "_", re.sub(r"^[\W_]+|[\W_]+$", "", value.casefold()))
    return value


WORD = BeforeValidator(_word)
"""Annotation of a label: ``**Partial support**`` is ``partial_support``; other words are not."""
