"""Decimals that name something: version 3.10 is not version 3.1, while 3.10 metres are 3.1 metres.

A decimal names something where it stands right after a word of ``data/labels.txt`` or after a
capitalised word ("Python 3.10"), and no unit stands at it. All other decimals are quantities.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.numbers import UNITS, is_scale, number
from ragassay.judges.offline.language.word_weights import stem, visible

Version = tuple[str, str]
"""A decimal as a quantity (``3.1``), and as it is written (``3.10``)."""

_DECIMAL = re.compile(r"(?<=\w )(\d{1,9}\.\d{1,9})(?![.,]?\d|\w)(?: ?(%|[^\W\d_]+))?")
_WORD_BEFORE = re.compile(r"\b([^\W\d_]\w*) $")
_LONGEST = 40
"""Characters before a decimal that are searched for the word before it."""
_LABELS = lists.words("labels")


@lru_cache(maxsize=4096)
def versions(text: str) -> frozenset[Version]:
    """The decimals of a text that name something."""
    text = visible(text)
    versions = set()
    for decimal in _DECIMAL.finditer(text):
        start = decimal.start()
        before = _WORD_BEFORE.search(text[max(0, start - _LONGEST) : start])
        if before and _names(before[1]) and not _counts(decimal[2] or ""):
            versions.add((number(decimal[1]), decimal[1]))
    return frozenset(versions)


def differ(one: Set[Version], other: Set[Version]) -> bool:
    """Whether a version of one text has the value of a version of the other, but is written
    differently from all of them.

    Args:
        one: versions of a text.
        other: versions of another text.
    """
    return any(
        (value, written) not in other and any(value == other_value for other_value, _ in other)
        for value, written in one
    )


def _names(before: str) -> bool:
    word = before.casefold()
    return word in _LABELS or (before[0].isupper() and stem(word) != "" and word not in UNITS)


def _counts(after: str) -> bool:
    word = after.casefold()
    return word in ("%", "per", "percent") or word in UNITS or is_scale(word)
