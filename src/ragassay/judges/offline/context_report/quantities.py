"""The number that a query asks for: an amount of money, a length, a count of things.

A number answers only where it measures what is asked for: "12 desks" is no price, "100 km from
Tokyo" no height, "9 districts" no count of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragassay.judges.offline.language import (
    MONTHS,
    asked_thing,
    content,
    is_number,
    lists,
    stem,
    tokens,
    visible,
)

_HOW = re.compile(r"\bhow (?!many\b|much\b|high\b)([a-z]+)", re.IGNORECASE)
"""The word after "how" that alone says what is measured; "how high" may ask for a salary, too."""
_COUNTED = re.compile(r"\bhow many\b", re.IGNORECASE)
_FREE = lists.patterns("costs_nothing")
_NAMED = re.compile(r"(?<=[^.!?\n] )[A-ZÀ-ÖØ-Þ][\w’'-]+ (\d{1,3})(?![\d.,]*\d)")
_YEAR = re.compile(r"1\d{3}|20\d\d|21\d\d")
_BEFORE_YEARS = {"in", "since", "until", "by", "from", "of", "and", "to", "im", "en", "seit"}
_MONTHS = frozenset(MONTHS.values())
_REACH = 3
"""Words after a number among which the thing is searched that it counts: "32 football teams"."""


class Quantity(NamedTuple):
    """What a number must measure.

    Attributes:
        name: in words, with its article.
        units: stems of its units; empty where any number may answer.
        asked: stems of the words of the query that ask for it.
        thing: stems of what is counted; empty for a measure.
        words: all words for it, which say no more than its unit.
        dates: how many dates may tell it, too: a date of birth tells an age, a begin and an end
            tell a duration; 0 where none do.
    """

    name: str = "a number"
    units: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    thing: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    dates: int = 0


class Number(NamedTuple):
    """A number of a text: its value, unit and the words after both, as tokens."""

    value: str
    unit: str
    after: Sequence[str]


_QUANTITIES = [
    (line[0], frozenset(map(stem, line[1:cut])), frozenset(line[cut + 1 :]))
    for line in lists.groups("quantities")
    for cut in [line.index("|")]
]
"""Each quantity with the stems of its units and the words that ask for it."""

_UNITS = frozenset[str]().union(*(units for _, units, _ in _QUANTITIES))
_LENGTHS = next(units for name, units, _ in _QUANTITIES if name == "length")
_DIMENSIONS = tuple(frozenset(line) for line in lists.groups("dimensions"))
_NAMES = {
    "length": "a length",
    "duration": "a length of time",
    "age": "an age",
    "weight": "a weight",
    "money": "an amount of money",
    "percentage": "a percentage",
}
_DATES = {"age": 1, "duration": 2}


@lru_cache(maxsize=1024)
def quantity_of(query: str) -> Quantity:
    """What the number must measure that the query asks for."""
    text = visible(query)
    words = frozenset(tokens(text))
    if _COUNTED.search(text):
        thing = frozenset(content(asked_thing(query)))
        return Quantity(thing=thing) if thing else Quantity()
    how = _HOW.search(text)
    asked = frozenset({how[1].casefold()}) if how else words
    quantities = [(name, units, asked & by) for name, units, by in _QUANTITIES if asked & by]
    if not quantities:
        return Quantity()
    return Quantity(
        name=" or ".join(_NAMES[name] for name, _, _ in quantities),
        units=frozenset[str]().union(*(units for _, units, _ in quantities)),
        asked=frozenset[str]().union(*(by for _, _, by in quantities)),
        words=frozenset[str]().union(*(by for _, _, by in _QUANTITIES if by & asked)),
        dates=min((_DATES[name] for name, _, _ in quantities if name in _DATES), default=0),
    )


def numbers(text: str, counted: frozenset[str] = frozenset()) -> Iterator[Number]:
    """The numbers of a text that are no part of a name ("Apollo 11") or of a date.

    Args:
        text: a plain text.
        counted: stems of things: a number right before one is no year ("an audience of 1500
            people"), as a number with a unit is none ("a height of 1900 metres").
    """
    each = tokens(text)
    in_names = {match[1] for match in _NAMED.finditer(text)}
    for at, token in enumerate(each):
        if not is_number(token) or token in in_names or _beside_month(each, at):
            continue
        unit = "%" if token.endswith("%") else ""
        after = each[at + 1 : at + 2 + _REACH]
        following = stem(after[0]) if after else ""
        if not unit and following in _UNITS:
            unit, after = following, after[1:]
        if unit or following in counted or not _is_year(each, at):
            yield Number(token, unit, after[:_REACH])


def _beside_month(each: Sequence[str], at: int) -> bool:
    return not _MONTHS.isdisjoint([*each[max(0, at - 1) : at], *each[at + 1 : at + 2]])


def _is_year(each: Sequence[str], at: int) -> bool:
    before = each[at - 1] if at else ""
    return bool(_YEAR.fullmatch(each[at])) and before in _BEFORE_YEARS


def measures(text: str, wanted: Quantity) -> bool | None:
    """Whether a sentence holds a number that measures what is asked for.

    Args:
        text: a sentence.
        wanted: what the number must measure.

    Returns:
        True or False; ``None`` where a number counts something that may be the same by another
        name ("522,000 inhabitants" for people).
    """
    values = list(numbers(text, wanted.thing))
    if wanted.thing:
        return _counts(values, wanted.thing, frozenset(content(text)))
    if not wanted.units:
        return bool(values)
    stems = frozenset(tokens(text))
    if "dollar" in wanted.units and _FREE.search(text):
        return True
    if any(one.unit in wanted.units and _is_that(one, wanted) for one in values):
        return True
    # A unit that the list does not know: "the ticket costs 12 crowns".
    return any(not one.unit for one in values) and bool(stems & wanted.words)


def _is_that(one: Number, wanted: Quantity) -> bool:
    """Whether a length is not followed by a word for another one ("100 km from Tokyo")."""
    if one.unit not in _LENGTHS:
        return True
    after = next(iter(one.after), "")
    lines = [line for line in _DIMENSIONS if after in line]
    return not lines or any(line & wanted.asked for line in lines)


def _counts(values: Sequence[Number], thing: frozenset[str], held: frozenset[str]) -> bool | None:
    counted = [one for one in values if not one.unit or one.unit in thing]
    for one in counted:
        stems = [stem(word) for word in one.after]
        if one.unit in thing or thing & set(stems) or not any(stems[:1]):
            return True
    return None if counted and not thing & held else False
