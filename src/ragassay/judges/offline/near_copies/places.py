"""A sentence as the words that carry meaning, each with the kind of place that it fills.

Names, numbers, their units and words that have an opposite fill *places*: another word in the same
place of a sentence makes it say something else.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline.language import (
    BASES,
    LITTLE,
    UNIT_STEMS,
    WHOLE,
    Version,
    content,
    denials,
    is_number,
    is_participle,
    lists,
    names,
    root,
    stem,
    tokens,
    versions,
    weight,
)
from ragassay.judges.offline.near_copies.opposites import class_of

Place = Literal["number", "unit", "name", "opposite", ""]

_LONGEST = 200
"""Words of a sentence that are compared, from the first on: the time grows with the square of their
number."""

_FRAME = lists.patterns("frames_of_denial")
_INTERJECTION = re.compile(r"^\W*(?:yes|no|true|false)\s*[.,:;!–—]\s*", re.IGNORECASE)
_CAPITAL = re.compile(r"^\W*[A-ZÀ-ÖØ-Þ]")
_INSIDE = {"and", "or", "of", "the", "de", "von", "van", "du", "der", "la"}
"""Small words inside a name, or between names of one list."""

_LIMITING = {"only", "just"}
"""Words that make "a few" a small number again."""

_ADDS_NOTHING = lists.words("verbs_of_success")

_LISTING = {"and", "or"}

_FIRST_NAME = re.compile(r"^\W*([^\W\d_a-zà-öø-þ][\w’'-]*) (?=[^\W\d_a-zà-öø-þ][^\W\d_])")
"""The first word of a sentence, where the next one has a capital, too."""

_TURNS = {"and", "but"}

_AUXILIARIES = {"has", "have", "had", "will", "would", "can", "could", "may", "might", "must"}
_AUXILIARIES |= {"is", "are", "was", "were", "do", "does", "did"}
_ARTICLES = {"the", "a", "an"}
_BE = {"is", "are", "was", "were", "be", "been", "being"}


class Word(NamedTuple):
    """A word of a sentence that carries meaning.

    Attributes:
        stem: its stem; a small word that has an opposite is its own stem.
        place: the kind of place that it fills.
        filler: what fills the place: the stem, or for a word with an opposite the word itself.
        weight: of its stem (`language.weight`); `LITTLE` for a small word.
        follows: whether nothing but small words that may be part of a name stands between it and
            the word before.
        listed: whether "and" or "or" stands before it.
        denied: whether a negation before it denies it, as far as the next "but". ``None`` where
            this is not clear: before a negation, after "and", and after two negations that may be
            a list.
        direct: whether nothing but an article stands between it and the word before.
    """

    stem: str
    place: Place
    filler: str
    weight: int
    follows: bool = False
    listed: bool = False
    denied: bool | None = False
    direct: bool = True


class Parsed(NamedTuple):
    """A sentence as it is compared.

    Attributes:
        words: its words that carry meaning.
        denied: for each negation, the number of ``words`` before it, and whether it counts: in
            "no pool and no gym" the second one does not undo the first.
        framed: whether what it says is denied as a whole ("it is false that ...").
        names: stems of its names.
        opening: its first word, where it has a capital and is no common word: as any first word has
            a capital, the sentence alone does not show whether it is a name. Else empty.
        by: for each "by", the number of ``words`` before it.
        agents: those of them that say who did it: after a form of "be" and a participle.
        versions: its decimals that name something.
    """

    words: tuple[Word, ...]
    denied: tuple[tuple[int, bool], ...]
    framed: bool
    names: frozenset[str]
    opening: str
    by: tuple[int, ...]
    agents: frozenset[int]
    versions: frozenset[Version]


@lru_cache(maxsize=8192)
def parsed(sentence: str) -> Parsed:
    """The words, names and negations of a sentence, for `alignment.compared`."""
    sentence, frames = _FRAME.subn("", _INTERJECTION.sub("", sentence, count=1))
    each = tokens(sentence)
    name_stems = names(sentence) | _first_name(sentence)
    words: list[Word] = []
    denied: list[tuple[int, bool]] = []
    by: list[int] = []
    agents: list[int] = []
    follows = listed = joined = False
    direct = True
    # Whether what follows is denied, and the first word of the part of the sentence at hand.
    denying: bool | None = False
    last = ""
    begun = 0
    for at, (token, denies) in enumerate(zip(each, denials(each), strict=True)):
        if len(words) == _LONGEST:
            break
        stemmed = stem(token)
        if denies:
            # "No pool, no gym" is a list, too.
            denied.append((len(words), not (joined or (token == "no" == last))))
            joined, last = False, token
            # Two negations side by side cancel out. With words between them they may be a list.
            again = denying and [at for at, _ in denied[-2:-1]] == [len(words)]
            denying = False if again else (None if denying else True)
            words[begun:] = [
                word if word.denied else word._replace(denied=None) for word in words[begun:]
            ]
            follows = False
        elif token.endswith("%") and is_number(token):
            # A percentage differs from an amount by its unit.
            share = token.removesuffix("%")
            number = Word(share, "number", share, weight(token), follows, listed, denying, direct)
            words += [number, Word("%", "unit", "%", weight("%"), True, False, denying)]
            follows, listed, direct = True, False, True
        elif token in _ADDS_NOTHING and each[at + 1 : at + 2] == ["to"]:
            follows = False
        elif stemmed or class_of(token) is not None:
            token = "some" if _is_some(each, at) else token
            word = _word(token, stemmed, words[-1:], name_stems)
            words.append(
                word._replace(follows=follows, listed=listed, denied=denying, direct=direct)
            )
            follows, listed, direct = True, False, True
        else:
            follows = follows and token in _INSIDE
            direct = direct and token in _ARTICLES
            listed = listed or token in _LISTING
            joined = joined or (token in _LISTING and denied != [])
            if token == "by":
                by.append(len(words))
                if is_participle(each[at - 1]) and not _BE.isdisjoint(each[max(0, at - 4) : at]):
                    agents.append(len(words))
            elif token in _TURNS:
                unclear = (
                    denying and token == "and" and _AUXILIARIES.isdisjoint(each[at + 1 : at + 2])
                )
                denying, begun = (None if unclear else False), len(words)
    opening = (
        each[0] if each and _CAPITAL.match(sentence) and weight(stem(each[0])) == WHOLE else ""
    )
    own_names = frozenset(name_stems.intersection(word.stem for word in words))
    return Parsed(
        tuple(words),
        tuple(denied),
        frames % 2 == 1,
        own_names,
        opening,
        tuple(by),
        frozenset(agents),
        versions(sentence),
    )


def _first_name(sentence: str) -> set[str]:
    """The stem of the first word, where it is part of a longer name ("Pierre Curie")."""
    match = _FIRST_NAME.search(sentence)
    return {one for one in content(match[1]) if weight(one) == WHOLE} if match else set()


def is_verb(token: str) -> bool:
    """Whether a word looks like a verb: an auxiliary, or a past form."""
    return token in _AUXILIARIES or token.endswith("ed") or token in BASES


def _is_some(each: list[str], at: int) -> bool:
    """Whether a word is the "few" of "a few", which means some and is not the opposite of many."""
    few = each[at] == "few" and at > 0 and each[at - 1] == "a"
    return few and not (at > 1 and each[at - 2] in _LIMITING)


def _word(token: str, stemmed: str, before: list[Word], name_stems: Set[str]) -> Word:
    place: Place = ""
    if is_number(token):
        place = "number"
    elif stemmed in UNIT_STEMS and before and before[0].place == "number":
        place = "unit"
    elif class_of(token) is not None:
        heavy = weight(stemmed) if stemmed else LITTLE
        return Word(stemmed or token, "opposite", token, heavy)
    # Forms of a verb are one word: what was done is denied by "did not" and the base form. The
    # weight stays that of the form: a rare form of a common verb says as much as before.
    base = root(token) if not place and stemmed not in name_stems else stemmed
    return Word(base, place, base, weight(stemmed))
