"""Verdicts on the items of a list, each with the number of its item.

A list of bare labels shifts when a model leaves one out. So each entry repeats the item's number,
and a reply with a missing, doubled or foreign number is repaired. A short reason stands before the
verdict: it is found before the verdict is given, not after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict

from ragassay.judges.reply import whole_number


class Entry(BaseModel):
    """The verdict on one item: its number in the list, from 1, and why."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    number: Annotated[int, *whole_number(1, 1_000_000)]
    reason: str = ""


class Form(BaseModel):
    """Base of forms with one field ``verdicts``: an entry for each item."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


E = TypeVar("E", bound=Entry)


def in_order(entries: Sequence[E], items: Sequence[object]) -> list[E]:
    """The entries in the order of the items, one for each.

    Args:
        entries: numbered from 1.
        items: that they are about.

    Raises:
        ValueError: an item without an entry, with several, or an entry for no item.
    """
    n = len(items)
    counts = Counter(entry.number for entry in entries)
    foreign = [number for number in counts if number > n]
    twice = [number for number, count in counts.items() if count > 1]
    missing = [number for number in range(1, n + 1) if number not in counts]
    for numbers, problem in (
        (foreign, f"is no item: the list has {n}"),
        (twice, "has several entries"),
        (missing, "has no entry"),
    ):
        if numbers:
            raise ValueError(f"verdicts: number {min(numbers)} {problem}")
    return sorted(entries, key=lambda entry: entry.number)


def bounded(schema: dict[str, Any], items: Sequence[object]) -> dict[str, Any]:
    """A copy of the schema that allows no number beyond the last item.

    Args:
        schema: of a form with numbered entries.
        items: that they are about.
    """
    schema = deepcopy(schema)
    schema["properties"]["verdicts"]["items"]["properties"]["number"]["maximum"] = len(items)
    return schema
