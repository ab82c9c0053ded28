"""Pages of long lists: a cursor says where the next one begins."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from ragassay.base.errors import InputError

T = TypeVar("T")

MOST = 500
"""Items of a page."""

Limit = Annotated[int, Query(ge=1, le=MOST, description="items of the page")]
Cursor = Annotated[
    str | None, Query(max_length=500, description="`next` of the page before; none for the first")
]


class Page(BaseModel, Generic[T]):
    """A part of a list."""

    items: list[T]
    next: str | None = Field(None, description="`cursor` of the next page; null after the last one")


def encoded(place: tuple[Any, ...] | None) -> str | None:
    """The cursor for a place in a list."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def decoded(cursor: str | None) -> tuple[float, int] | None:
    """The place that a cursor stands for.

    Raises:
        InputError: it is none of ours.
    """
    if cursor is None:
        return None
    try:
        moment, number = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return float(moment), int(number)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise InputError(
            "is no cursor", field="cursor", hint="Take `next` of the page before."
        ) from error
