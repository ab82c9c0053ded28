"""Numbers, units and the names of months: what the words for values mean, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import chain, pairwise

from ragassay.judges.offline.language import lists

NUMERALS = {word: int(value) for value, *words in lists.groups("numerals") for word in words}
"""Each numeral in words, with its number."""

_MAY = "maymonth"
"""The month, unlike the small word."""
MONTHS = {form: line[0] for line in lists.groups("months") for form in line} | {"may": _MAY}
"""The months by their short and long forms."""

UNITS = {form: line[0] for line in lists.groups("units") for form in line}
"""Each form of a unit, with the form that stands for all of them."""

LONG_UNITS = {form: unit for form, unit in UNITS.items() if len(form) > 3}
"""The same without short forms, which mean something else where no number stands before them."""

HALVES_OF_DAY = {"am": "a.m.", "pm": "p.m."}
"""The two halves of the day by their forms: after an hour they are its unit."""

_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+")


def is_number(word: str) -> bool:
    """Whether a word in one form, or its stem, is a number or a percentage."""
    return word[:1].isdigit() or (word[:1] == "-" and word[1:2].isdigit())


def is_scale(word: str) -> bool:
    """Whether a word multiplies the number before it ("million")."""
    return NUMERALS.get(word, 0) >= 100 or word == "dozen"


def number(written: str) -> str:
    """A number as written (``1,000.50``) in one form (``1000.5``)."""
    plain = _THOUSANDS.sub("", written).replace(",", ".")
    if plain.count(".") > 1 and _POINTS.fullmatch(plain):
        plain = plain.replace(".", "")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    plain = plain.lstrip("0") or "0"
    return f"0{plain}" if plain.startswith(".") else plain


def in_digits(value: Decimal) -> str:
    """A number in the form of `number`: without an exponent, a minus before a negative one."""
    return number(format(value, "f")) if value >= 0 else "-" + number(format(-value, "f"))


def measured(stems: Iterable[str], units: frozenset[str]) -> Iterable[tuple[str, str]]:
    """Yields each number of a text with the unit after it; the unit is empty where there is none.

    Args:
        stems: of a text, in order.
        units: stems that are units.
    """
    for stemmed, following in pairwise(chain(stems, ("",))):
        if is_number(stemmed):
            yield stemmed, following if following in units else ""
