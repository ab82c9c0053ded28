"""A sentence as the words that carry meaning, each with the kind of place that it fills.

Names, numbers, their units and words that have an opposite fill *places*: another word in the same
place of a sentence makes it say something else.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline import lists
from ragassay.judges.offline.evidence import UNIT_STEMS, denials, names
from ragassay.judges.offline.opposites import class_of
from ragassay.judges.offline.values import is_number
from ragassay.judges.offline.versions import Version, versions
from ragassay.judges.offline.words import LITTLE, stem, tokens, weight

Place = Literal["number", "unit", "name", "opposite", ""]

_LONGEST = 200
"""Words of a sentence that are compared, from the first on: the time grows with the square of their
number."""

_INTERJECTION = re.compile(r"^\W*(?:yes|no|true|false)\s*[.,:;!–—]\s*", re.IGNORECASE)
_INSIDE = {"and", "or", "of", "the", "de", "von", "van", "du", "der", "la"}
"""Small words inside a name, or between names of one list."""

_LIMITING = {"only", "just"}
"""Words that make "a few" a small number again."""

_ADDS_NOTHING = lists.words("verbs_of_success")

_LISTING = {"and", "or"}


_BASES = {form: line[0] for line in lists.groups("irregular_verbs") for form in line[1:]}
"""Base forms: what was done is denied by "did not" and the base form."""


class Word(NamedTuple):
    """A word of a sentence that carries meaning.

    Attributes:
        stem: its stem; a small word that has an opposite is its own stem.
        place: the kind of place that it fills.
        filler: what fills the place: the stem, or for a word with an opposite the word itself.
        weight: see `words.weight`; `LITTLE` for a small word.
        follows: whether nothing but small words that may be part of a name stands between it and
            the word before.
        listed: whether "and" or "or" stands before it.
    """

    stem: str
    place: Place
    filler: str
    weight: int
    follows: bool
    listed: bool


class Parsed(NamedTuple):
    """A sentence as it is compared.

    Attributes:
        words: its words that carry meaning.
        denied: for each negation, the number of ``words`` before it.
        names: stems of its names.
        passive: how often "by" stands in it.
        versions: its decimals that name something.
    """

    words: tuple[Word, ...]
    denied: tuple[int, ...]
    names: frozenset[str]
    passive: int
    versions: frozenset[Version]


@lru_cache(maxsize=8192)
def parsed(sentence: str) -> Parsed:
    """The words, names and negations of a sentence, for `alignment.compared`."""
    sentence = _INTERJECTION.sub("", sentence, count=1)
    each = tokens(sentence)
    named = names(sentence)
    words: list[Word] = []
    denied: list[int] = []
    follows = listed = False
    for at, (token, denies) in enumerate(zip(each, denials(each), strict=True)):
        if len(words) == _LONGEST:
            break
        stemmed = stem(token)
        if denies:
            denied.append(len(words))
            follows = False
        elif token.endswith("%") and is_number(token):
            # A percentage differs from an amount by its unit.
            share = token.removesuffix("%")
            words.append(Word(share, "number", share, weight(token), follows, listed))
            words.append(Word("%", "unit", "%", weight("%"), True, False))
            follows, listed = True, False
        elif token in _ADDS_NOTHING and each[at + 1 : at + 2] == ["to"]:
            follows = False
        elif stemmed or class_of(token) is not None:
            token = "some" if _is_some(each, at) else token
            word = _word(token, stemmed, words[-1:], follows, named)
            words.append(word._replace(listed=listed))
            follows, listed = True, False
        else:
            follows = follows and token in _INSIDE
            listed = listed or token in _LISTING
    by = each.count("by")
    called = frozenset(named.intersection(word.stem for word in words))
    return Parsed(tuple(words), tuple(denied), called, by, versions(sentence))


def _is_some(each: list[str], at: int) -> bool:
    """Whether a word is the "few" of "a few", which means some and is not the opposite of many."""
    few = each[at] == "few" and at > 0 and each[at - 1] == "a"
    return few and not (at > 1 and each[at - 2] in _LIMITING)


def _word(token: str, stemmed: str, before: list[Word], follows: bool, named: Set[str]) -> Word:
    place: Place = ""
    if is_number(token):
        place = "number"
    elif stemmed in UNIT_STEMS and before and before[0].place == "number":
        place = "unit"
    elif class_of(token) is not None:
        heavy = weight(stemmed) if stemmed else LITTLE
        return Word(stemmed or token, "opposite", token, heavy, follows, False)
    # The weight stays that of the form: a rare form of a common verb says as much as before.
    base = stem(_BASES.get(token, token)) if not place and stemmed not in named else stemmed
    return Word(base, place, base, weight(stemmed), follows, False)
