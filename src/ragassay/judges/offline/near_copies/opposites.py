"""Words that exclude each other in the same place of a sentence: ``data/opposites.txt``, and
``data/quantifiers.txt``, whose second side says less than the first.

A word may stand on several lines ("short" is the opposite of "long" and of "tall"). Lines that
share a word make a class: its words may fill the same place.
"""

from __future__ import annotations

from functools import cache

from ragassay.judges.offline.language import lists

_OPPOSITES = lists.groups("opposites")


@cache
def _table() -> tuple[dict[str, int], dict[str, dict[int, int]]]:
    """For each word its class; and for each word the numbers of the lines that hold it, with the
    word's side there (0 or 1)."""
    classes: dict[str, int] = {}
    sides: dict[str, dict[int, int]] = {}
    for at, line in enumerate((*_OPPOSITES, *lists.groups("quantifiers"))):
        cut = line.index("|")
        joined = {classes[word] for word in line if word in classes}
        classes.update({word: at for word, number in classes.items() if number in joined})
        for side, forms in enumerate((line[:cut], line[cut + 1 :])):
            for form in forms:
                classes[form] = at
                sides.setdefault(form, {})[at] = side
    return classes, sides


def class_of(word: str) -> int | None:
    """The number of the word's class; ``None`` for a word without an opposite."""
    return _table()[0].get(word)


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
    _, sides = _table()
    ones, others = sides.get(one, {}), sides.get(other, {})
    differ = [
        ones[line] < others[line] if line >= len(_OPPOSITES) else ones[line] != others[line]
        for line in ones.keys() & others.keys()
    ]
    return any(differ) if differ else None
