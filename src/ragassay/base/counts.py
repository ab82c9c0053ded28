"""Counts in sentences, of which one is singular, and values by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

FEW = 5
"""Names of a long list that are shown."""


def plural(n: int, noun: str) -> str:
    """``1 query``, ``2 queries``."""
    several = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {either(n, noun, several)}"


def share(n: int, total: int, noun: str) -> str:
    """``1 of 3 queries``, ``1 of 1 query``."""
    return f"{n:,} of {plural(total, noun)}"


def few(names: Sequence[str], most: int = FEW) -> str:
    """The first names of a list, and how many more there are: ``a, b, c, d, e and 3 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def either(n: int, one: str, several: str) -> str:
    """The words that go with a count: ``either(n, "has", "have")``."""
    return one if n == 1 else several


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, both in the order in which they come."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
