"""Does a sentence say otherwise than a sentence of the passages that is nearly the same?

Two sentences are laid side by side, word by word. Names, numbers, their units and words that have
an opposite are *places*: they match whatever fills them. Where nearly all of both sentences matches
in this way, they speak of the same thing, and what differs contradicts: one negation more, another
number, unit or name in the same place, an opposite, two names that have changed places.

A sentence that agrees goes before: what one sentence of the passages says is not contradicted by
another one about something alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline.evidence import UNIT_STEMS, denials, names, stems_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.opposites import class_of, opposed
from ragassay.judges.offline.texts import sentences
from ragassay.judges.offline.values import is_number
from ragassay.judges.offline.words import LITTLE, WHOLE, content, stem, tokens, weigh, weight

Kind = Literal["negation", "number", "unit", "name", "opposite", "roles"]
Place = Literal["number", "unit", "name", "opposite", ""]


@dataclass(frozen=True)
class Nearness:
    """From where two sentences speak of the same thing.

    Attributes:
        held: share of the sentence's weight that must match.
        within: share of the other one's weight, between its first and its last match, that must.
        spread: the same where only a negation differs: words put in between take none back.
        either: whether the sentence may also hold the other one, with more words around it.
    """

    held: float = 0.9
    within: float = 0.9
    spread: float = 0.5
    either: bool = False


COPY = Nearness()
"""Near copies: in paraphrases another name is more often another word than a mistake."""

_CLOSE = 0.5
"""Share of a sentence's words that another one must hold to be laid beside it: places differ."""

_LEAST = 2
"""Words that must match and agree."""

_LONG_ENOUGH = 4
"""Words in a sentence of the passages that is looked for inside a longer one: few words are held
by chance."""

_SEEN = 100
"""Sentences of a passage that are looked at for a sentence."""

_MOST = 3
"""Sentences of the passages that a sentence is laid beside, those with most of its words."""

_LONGEST = 200
"""Words of a sentence that are compared, from its first: the time is the square of their number,
and each claim is compared anew."""

_INTERJECTION = re.compile(r"^\W*(?:yes|no|true|false)\s*[.,:;!–—]\s*", re.IGNORECASE)
_INSIDE = {"and", "or", "of", "the", "de", "von", "van", "du", "der", "la"}
"""Small words inside a name, or between names that are named together."""

_HALVES_OF_DAY = {"am", "pm"}
"""Behind the number of an hour: they are left out, since many texts do."""

_LISTING = {"and", "or"}


class _Word(NamedTuple):
    """A word of a sentence that tells something.

    Attributes:
        stem: its stem, or itself where it is a small word that has an opposite.
        place: what kind of place it fills.
        filler: what fills the place: the stem, for a word with an opposite the word.
        weight: as `words.weight` has it, and little for a small word.
        follows: whether only small words that may stand in a name are between it and the word
            before.
        listed: whether "and" or "or" stands before it.
    """

    stem: str
    place: Place
    filler: str
    weight: int
    follows: bool
    listed: bool


class Said(NamedTuple):
    """A sentence as it is compared.

    Attributes:
        words: its words that tell something.
        denied: for each negation, the number of words before it.
        names: stems of its names.
        passive: how often "by" stands in it.
    """

    words: tuple[_Word, ...]
    denied: tuple[int, ...]
    names: frozenset[str]
    passive: int


@lru_cache(maxsize=8192)
def said(sentence: str) -> Said:
    """What a sentence says, for laying it beside another one."""
    sentence = _INTERJECTION.sub("", sentence, count=1)
    each = tokens(sentence)
    words: list[_Word] = []
    denied: list[int] = []
    follows = listed = False
    for token, denies in zip(each, denials(each), strict=True):
        if len(words) == _LONGEST:
            break
        stemmed = stem(token)
        if denies:
            denied.append(len(words))
            follows = False
        elif token in _HALVES_OF_DAY and words and words[-1].place == "number":
            continue
        elif token.endswith("%") and is_number(token):
            # A percentage differs from an amount by its unit.
            share = token.removesuffix("%")
            words.append(_Word(share, "number", share, weight(token), follows, listed))
            words.append(_Word("%", "unit", "%", weight("%"), True, False))
            follows, listed = True, False
        elif stemmed or class_of(token) is not None:
            words.append(_word(token, stemmed, words[-1:], follows)._replace(listed=listed))
            follows, listed = True, False
        else:
            follows = follows and token in _INSIDE
            listed = listed or token in _LISTING
    named = names(sentence).intersection(word.stem for word in words)
    return Said(tuple(words), tuple(denied), frozenset(named), each.count("by"))


def _word(token: str, stemmed: str, before: list[_Word], follows: bool) -> _Word:
    place: Place = ""
    if is_number(token):
        place = "number"
    elif stemmed in UNIT_STEMS and before and before[0].place == "number":
        place = "unit"
    elif class_of(token) is not None:
        heavy = weight(stemmed) if stemmed else LITTLE
        return _Word(stemmed or token, "opposite", token, heavy, follows, False)
    return _Word(stemmed, place, stemmed, weight(stemmed), follows, False)


class _Row(NamedTuple):
    """A sentence laid beside another one: its places and the words between them.

    Attributes:
        marks: what matches: the stem of a word, the kind of a place.
        places: the kind of place of each mark.
        fillers: what fills each place, nothing for a word; names side by side fill one place.
        weights: of the marks.
        starts: for each mark, the number of words before it.
        listed: for each mark, whether "and" or "or" stands before it.
    """

    marks: list[str]
    places: list[Place]
    fillers: list[set[str]]
    weights: list[int]
    starts: list[int]
    listed: list[bool]

    def filling(self, at: Iterable[int]) -> set[str]:
        """What fills some places."""
        return {filler for place in at for filler in self.fillers[place]}


def _row(sentence: Said, known: frozenset[str]) -> _Row:
    row = _Row([], [], [], [], [], [])
    for at, word in enumerate(sentence.words):
        place = word.place
        if word.stem in (known if not place else sentence.names):
            place = "name"
            if word.follows and row.places and row.places[-1] == "name":
                row.fillers[-1].add(word.stem)
                continue
        mark = f"<{place} {class_of(word.filler)}>" if place == "opposite" else f"<{place}>"
        row.marks.append(mark if place else word.stem)
        row.places.append(place)
        row.fillers.append({word.stem if place == "name" else word.filler} if place else set())
        row.weights.append(WHOLE if place == "name" else word.weight)
        row.starts.append(at)
        row.listed.append(word.listed)
    return row


def compared(one: Said, other: Said, near: Nearness = COPY) -> Kind | Literal["same"] | None:
    """How a sentence differs from another one.

    Returns:
        What contradicts; ``same`` where nothing does, ``None`` where they do not speak of the same
        thing.
    """
    known = one.names | other.names
    own, its = _row(one, known), _row(other, known)
    if one.passive == other.passive and _turned(own, its):
        return "roles"
    pairs = [pair for pair in _matched(own.marks, its.marks) if _fit(own, its, pair)]
    if not pairs:
        return None
    (first, its_first), (last, its_last) = pairs[0], pairs[-1]
    whole, within = _shares(own, [a for a, _ in pairs])
    its_whole, its_within = _shares(its, [b for _, b in pairs])
    if near.either and its_whole > whole and len(its.marks) >= _LONG_ENOUGH:
        whole, its_within = its_whole, within
    if whole < near.held or its_within < near.spread:
        return None
    wrong = _wrong(own, its, pairs)
    exchanged = own.filling(a for a, _ in wrong) == its.filling(b for _, b in wrong)
    agreed = sum(
        len(own.fillers[a] if exchanged else own.fillers[a] & its.fillers[b])
        if own.places[a]
        else 1
        for a, b in pairs
    )
    if agreed < _LEAST or (wrong and exchanged and one.passive != other.passive):
        return None
    if wrong and its_within < near.within:
        return None
    if wrong:
        return own.places[wrong[0][0]] or None
    denied = _denials(one, own, first, last) + _denials(other, its, its_first, its_last)
    return "negation" if denied % 2 else "same"


def _matched(own: list[str], its: list[str]) -> list[tuple[int, int]]:
    """The places of marks that match, in their order; marks of one sentence alone are passed by."""
    common = set(own).intersection(its)
    ones = [at for at, mark in enumerate(own) if mark in common]
    others = [at for at, mark in enumerate(its) if mark in common]
    one, other = [own[at] for at in ones], [its[at] for at in others]
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(ones[a + k], others[b + k]) for a, b, size in blocks for k in range(size)]


def _shares(row: _Row, matched: list[int]) -> tuple[float, float]:
    """Share of the weight that matches, of all and of what is between the first and the last."""
    held = sum(row.weights[at] for at in matched)
    return held / sum(row.weights), held / sum(row.weights[matched[0] : matched[-1] + 1])


def _turned(own: _Row, its: _Row) -> bool:
    """Whether two sentences of the same words differ in what stands before and what behind one."""
    if own.marks == its.marks or sorted(own.marks) != sorted(its.marks):
        return False
    back = {tuple(reversed(three)) for three in _threes(its)}
    return any(three in back and three[0] != three[2] for three in _threes(own))


def _threes(row: _Row) -> Iterable[tuple[str, ...]]:
    """Each three neighbouring words that "and" and "or" do not list, the middle one no number or
    unit: roles turn round a word that says what is done."""
    for at in range(1, len(row.marks) - 1):
        moves = _small(row, at - 1) or _small(row, at + 1)
        counts = row.places[at] in ("number", "unit")
        if not (row.listed[at] or row.listed[at + 1] or moves or counts):
            yield tuple(row.marks[at - 1 : at + 2])


def _small(row: _Row, at: int) -> bool:
    """Whether a mark is a small word that has an opposite: those may stand anywhere."""
    return row.places[at] == "opposite" and not any(map(stem, row.fillers[at]))


def _fit(own: _Row, its: _Row, pair: tuple[int, int]) -> bool:
    """Whether a mark matches: words of a class do where they are opposites or alike."""
    a, b = pair
    if own.places[a] != "opposite":
        return True
    return opposed(*own.fillers[a], *its.fillers[b]) is not None


def _wrong(own: _Row, its: _Row, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places that something else fills, unless it stands elsewhere in the other sentence where
    nothing matches: then words have moved."""
    free = {*range(len(own.marks))}.difference(a for a, _ in pairs)
    its_free = {*range(len(its.marks))}.difference(b for _, b in pairs)
    moved, its_moved = own.filling(free), its.filling(its_free)
    found = []
    for a, b in pairs:
        new, missing = own.fillers[a] - its.fillers[b], its.fillers[b] - own.fillers[a]
        if own.places[a] == "opposite":
            differ = opposed(*own.fillers[a], *its.fillers[b]) is True
        else:
            differ = bool(new and missing)
        if differ and not new <= its_moved and not missing <= moved:
            found.append((a, b))
    return found


def _denials(sentence: Said, row: _Row, first: int, last: int) -> int:
    """The negations from right before the first match to the last one."""
    return sum(row.starts[first] <= at <= row.starts[last] for at in sentence.denied)


class _Told(NamedTuple):
    """The different stems of each sentence of a passage, their weight, and in which of them each
    one stands."""

    stems: list[dict[str, None]]
    weights: list[int]
    places: dict[str, list[int]]


@lru_cache(maxsize=1024)
def _told(passage: str) -> _Told:
    each = [dict.fromkeys(stems) for stems in stems_of(passage)]
    told = _Told(each, list(map(weigh, each)), {})
    for at, stems in enumerate(told.stems):
        for word in stems:
            told.places.setdefault(word, []).append(at)
    return told


def _candidates(words: Iterable[str], places: dict[str, list[int]]) -> list[int]:
    """The sentences that hold any of some words, those with rare words first."""
    found: dict[int, None] = {}
    for word in sorted(words, key=lambda word: (len(places.get(word, ())), word)):
        found.update(dict.fromkeys(places.get(word, ())[:_SEEN]))
        if len(found) >= _SEEN:
            break
    return list(found)


def holding(words: Set[str], passage: str) -> list[str]:
    """The sentences of a passage that hold more than half the weight of some words."""
    stems, _, places = _told(passage)
    told = evidence_sentences(passage)
    whole = weigh(words)
    return [
        told[at]
        for at in _candidates(words, places)
        if 2 * weigh(word for word in words if word in stems[at]) > whole
    ]


def nearest(sentence: str, passages: Iterable[str], either: bool = False) -> list[str]:
    """The sentences of the passages that hold most of a sentence's words, best first.

    Args:
        sentence: what is looked for.
        passages: the texts that are looked through.
        either: whether sentences that it holds count, too.
    """
    words = {stemmed: weight(stemmed) for stemmed in content(sentence)}
    whole = sum(words.values())
    near: set[tuple[float, str]] = set()
    for passage in passages:
        stems, weights, places = _told(passage)
        told = evidence_sentences(passage)
        for at in _candidates(words, places):
            held = sum(heavy for word, heavy in words.items() if word in stems[at])
            least = weights[at] if either and len(stems[at]) >= _LONG_ENOUGH else whole
            if held >= _CLOSE * min(whole, least):
                near.add((-held / min(whole, least), told[at]))
    return [found for _, found in sorted(near)[:_MOST]]


def contradiction(text: str, passages: Iterable[str], near: Nearness = COPY) -> Kind | None:
    """How passages contradict a text.

    Args:
        text: one sentence or more, each of which is compared by itself.
        passages: what it is compared with.
        near: from where two sentences speak of the same thing.

    Returns:
        What contradicts its first sentence that is contradicted; ``None`` where none is. A
        sentence that one of the passages agrees with is not.
    """
    each = tuple(passages)
    found = (_contradiction(sentence, each, near) for sentence in sentences(text))
    return next(filter(None, found), None)


@lru_cache(maxsize=4096)
def _contradiction(sentence: str, passages: tuple[str, ...], near: Nearness) -> Kind | None:
    own = said(sentence)
    found: Kind | None = None
    for other in nearest(sentence, passages, near.either):
        how = compared(own, said(other), near)
        if how == "same":
            return None
        found = found or how
    return found
