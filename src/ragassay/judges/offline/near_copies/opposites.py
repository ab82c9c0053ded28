"""Words that exclude each other in the same place of a sentence: ``data/opposites.txt``, and
``data/quantifiers.txt``, whose second side says less than the first.

A word may stand on several lines ("short" is the opposite of "long" and of "tall"). Lines that
share a word make a class: its words may fill the same place.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ragassay.judges.offline.language import lists


class _Table(NamedTuple):
    """For each word its class, and the lines that hold it, each with the word's side (0 or 1); the
    lines from ``weaker`` on have a side that says less."""

    weaker: int
    classes: dict[str, int]
    sides: dict[str, dict[int, int]]


@cache
def _table() -> _Table:
    opposites = lists.groups("opposites")
    table = _Table(len(opposites), {}, {})
    for at, line in enumerate((*opposites, *lists.groups("quantifiers"))):
        cut = line.index("|")
        known = {table.classes[word] for word in line if word in table.classes}
        for word, class_name in table.classes.items():
            if class_name in known:
                table.classes[word] = at
        for side, forms in enumerate((line[:cut], line[cut + 1 :])):
            for form in forms:
                table.classes[form] = at
                table.sides.setdefault(form, {})[at] = side
    return table


def class_of(word: str) -> int | None:
    """The number of the word's class; ``None`` for a word without an opposite."""
    return _table().classes.get(word)


def opposed(one: str, other: str) -> bool | None:
    """Whether a word is contradicted by another one that stands in its place.

    Args:
        one: the word.
        other: the word in its place.

    Returns:
        True for opposites, and where the first word says more than the second one ("all" beside
        "some"). False for other words of a common line, and for equal words. ``None`` where no line
        has both.
    """
    if one == other:
        return False
    weaker, _, sides = _table()
    ones, others = sides.get(one, {}), sides.get(other, {})
    differ = [
        ones[line] < others[line] if line >= weaker else ones[line] != others[line]
        for line in ones.keys() & others.keys()
    ]
    return any(differ) if differ else None
