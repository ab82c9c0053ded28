"""Two sentences aligned word by word: do they speak of the same thing, and what contradicts?

Places match whatever fills them. Where nearly all of both sentences matches in this way, they
speak of the same thing, and what differs contradicts: one negation more, another number, unit or
name in the same place, an opposite, two names that have changed places.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from ragassay.judges.offline.language import WHOLE, differ, stem
from ragassay.judges.offline.near_copies.opposites import class_of, opposed
from ragassay.judges.offline.near_copies.places import Parsed, Place, Word

Kind = Literal["negation", "number", "unit", "name", "opposite", "roles", "word"]
"""What contradicts."""


@dataclass(frozen=True)
class Nearness:
    """How much of two sentences must match for them to speak of the same thing: shares, 0 to 1.

    Attributes:
        held: smallest share of the first sentence's weight that matches.
        within: smallest matching share of the second sentence's weight, from its first to its last
            match.
        spread: the same where only a negation differs, which words in between do not undo.
        either: whether the first sentence may also hold all of the second one among more words.
    """

    held: float = 0.9
    within: float = 0.9
    spread: float = 0.5
    either: bool = False


COPY = Nearness()
"""Near copies. In a paraphrase a different name is more often a synonym than a mistake."""

_LEAST = 2
"""Smallest number of words that match and agree."""

_NO_NAMES = ("s", "ing", "ly")
"""Two words that share one of these endings are rather synonyms ("Scientists", "Researchers")."""

LONG_ENOUGH = 4
"""Smallest number of words in a sentence that is looked for inside a longer one: a long sentence
holds fewer words by chance."""


class _Row(NamedTuple):
    """A sentence as it is aligned: its places and the words between them.

    Attributes:
        marks: what is matched: the stem of a word, or the kind of a place.
        places: the kind of place of each mark.
        fillers: what fills each place, empty for a word; neighbouring names fill one place.
        weights: of the marks.
        starts: for each mark, the number of words before it.
        words: for each mark, its word, of several names the first.
    """

    marks: list[str]
    places: list[Place]
    fillers: list[set[str]]
    weights: list[int]
    starts: list[int]
    words: list[Word]

    def filling(self, at: Iterable[int]) -> set[str]:
        """Everything that fills the places with these numbers."""
        return {filler for place in at for filler in self.fillers[place]}


def _row(sentence: Parsed, names: frozenset[str]) -> _Row:
    row = _Row([], [], [], [], [], [])
    for at, word in enumerate(sentence.words):
        place = word.place
        if word.stem in (names if not place else sentence.names):
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
        row.words.append(word)
    return row


def compared(one: Parsed, other: Parsed, near: Nearness = COPY) -> Kind | Literal["same"] | None:
    """Compares a sentence with another one.

    Args:
        one: the sentence.
        other: the sentence that it may contradict.
        near: how alike they must be.

    Returns:
        The kind of contradiction; ``same`` where there is none; ``None`` where the two sentences
        are not about the same thing.
    """
    own, its, pairs = _aligned(one, other, _opening_names(one, other))
    same_voice = len(one.by) == len(other.by)
    if same_voice and _roles_exchanged(own, its):
        return "roles"
    if not pairs:
        return None
    (first, its_first), (last, its_last) = pairs[0], pairs[-1]
    held, spread = _shares(own, [a for a, _ in pairs])
    its_held, its_spread = _shares(its, [b for _, b in pairs])
    if near.either and its_held > held and len(its.marks) >= LONG_ENOUGH:
        held, its_spread = its_held, spread
    if held < near.held or its_spread < near.spread:
        return None
    framed = one.framed != other.framed
    denied_pairs = {}  # What one sentence alone denies: whether the first one does.
    for a, b in pairs:
        own_denied, its_denied = own.words[a].denied, its.words[b].denied
        both_clear = own_denied is not None and its_denied is not None
        if both_clear and (own_denied != its_denied) != framed:
            denied_pairs[a, b] = own_denied
    wrong = _wrong(own, its, pairs)
    # "Not open" does not contradict "closed".
    undone = [pair for pair in wrong if pair in denied_pairs and own.places[pair[0]] == "opposite"]
    wrong = [pair for pair in wrong if pair not in undone]
    exchanged = own.filling(a for a, _ in wrong) == its.filling(b for _, b in wrong)
    agreed = sum(
        len(own.fillers[a] if exchanged else own.fillers[a] & its.fillers[b])
        if own.places[a]
        else 1
        for a, b in pairs
    )
    if agreed < _LEAST or (wrong and exchanged and not same_voice):
        return None
    if wrong and its_spread < near.within:
        return None
    if wrong:
        return own.places[wrong[0][0]] or None
    if differ(one.versions, other.versions):
        return "number"
    if _voice_exchanged((one, own), (other, its)) or _voice_exchanged((other, its), (one, own)):
        return "roles"
    negations = _denials(one, own, first, last), _denials(other, its, its_first, its_last)
    odd = ((sum(counts for each in negations for counts in each) + len(undone)) % 2 == 1) != framed
    against = set(denied_pairs.values())
    # One negation in each may stand elsewhere: "not in May but in June", "in June, not in May".
    odd = odd or len(against) > (max(map(len, negations)) < 2)
    return "negation" if odd else "same"


def replaced(one: Parsed, other: Parsed, near: Nearness = COPY) -> Word | None:
    """The one word of a sentence that stands in the place of another one in a near copy.

    Args:
        one: the sentence.
        other: a near copy of it.
        near: how alike they must be.

    Returns:
        The word; ``None`` where other things differ as well, or where it is a number, a unit or a
        common word.
    """
    own, its, pairs = _aligned(one, other)
    if len(pairs) < _LEAST or len(pairs) != len(own.marks) - 1 or _wrong(own, its, pairs):
        return None
    at = next((k for k, (a, _) in enumerate(pairs) if a != k), len(pairs))
    if own.places[at] in ("number", "unit") or own.weights[at] < WHOLE:
        return None
    if at == 0 and one.opening and not _opening_names(one, other):
        return None  # two kinds of people or things: "Scientists", "Researchers"
    start = pairs[at - 1][1] + 1 if at else pairs[0][1] - 1
    end = pairs[at][1] if at < len(pairs) else start + 1
    if start < 0 or end - start != 1 or end > len(its.marks):
        return None
    its_first, its_last = min(start, pairs[0][1]), max(start, pairs[-1][1])
    weight = sum(its.weights[its_first : its_last + 1]) - its.weights[start]
    if sum(its.weights[b] for _, b in pairs) < near.within * weight:
        return None
    return own.words[at]


def _aligned(
    one: Parsed, other: Parsed, names: frozenset[str] = frozenset()
) -> tuple[_Row, _Row, list[tuple[int, int]]]:
    """Two sentences in rows, and the positions of their matching marks.

    Args:
        one: the first sentence.
        other: the second one.
        names: stems of words that are names beside those that either sentence shows to be.
    """
    all_names = one.names | other.names | names
    own, its = _row(one, all_names), _row(other, all_names)
    return own, its, [pair for pair in _matched(own.marks, its.marks) if _fit(own, its, pair)]


def _opening_names(one: Parsed, other: Parsed) -> frozenset[str]:
    """Stems of the words that two sentences begin with, where both may be names."""
    both = (one.opening, other.opening)
    alike = any(all(word.endswith(ending) for word in both) for ending in _NO_NAMES)
    return frozenset() if alike or not all(both) else frozenset(map(stem, both))


def _matched(own: list[str], its: list[str]) -> list[tuple[int, int]]:
    """The positions of matching marks in both sentences, in their order."""
    common = set(own).intersection(its)
    ones = [at for at, mark in enumerate(own) if mark in common]
    others = [at for at, mark in enumerate(its) if mark in common]
    one, other = [own[at] for at in ones], [its[at] for at in others]
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(ones[a + k], others[b + k]) for a, b, size in blocks for k in range(size)]


def _shares(row: _Row, matched: list[int]) -> tuple[float, float]:
    """Share of the matching weight, in the whole row and from the first to the last match."""
    held = sum(row.weights[at] for at in matched)
    return held / sum(row.weights), held / sum(row.weights[matched[0] : matched[-1] + 1])


def _roles_exchanged(own: _Row, its: _Row) -> bool:
    """Whether two sentences have the same words, but two of them exchanged around a third."""
    if own.marks == its.marks or sorted(own.marks) != sorted(its.marks):
        return False
    back = {tuple(reversed(three)) for three in _threes(its)}
    exchanged = any(three in back and three[0] != three[2] for three in _threes(own))
    return exchanged or _runs_exchanged(own, its)


def _runs_exchanged(own: _Row, its: _Row) -> bool:
    """Whether all before a word and all after it have changed places, apart from what both
    sentences end with: "the tower built the firm of Eiffel", "the firm of Eiffel built the tower".
    After the word comes what it is done to, with nothing but an article between."""
    size = len(own.marks)
    while own.marks[size - 1] == its.marks[size - 1]:
        size -= 1
    one, other = own.marks[:size], its.marks[:size]
    for at in range(1, size - 1):
        back = size - 1 - at
        if (
            other[back] == one[at]
            and other[:back] == one[at + 1 :]
            and other[back + 1 :] == one[:at]
        ):
            counts = own.places[at] in ("number", "unit")
            near = (*own.words[at : at + 2], *its.words[back : back + 2])
            direct = all(word.direct for word in near)
            lists = any(word.listed for word in (*own.words[:size], *its.words[:size]))
            return direct and not counts and not lists
    return False


def _threes(row: _Row) -> Iterable[tuple[str, ...]]:
    """Each three neighbouring marks that are no list ("and", "or"), with no number or unit in the
    middle: roles are exchanged around a word that says what is done."""
    for at in range(1, len(row.marks) - 1):
        moves = _small(row, at - 1) or _small(row, at + 1)
        counts = row.places[at] in ("number", "unit")
        if not (row.words[at].listed or row.words[at + 1].listed or moves or counts):
            yield tuple(row.marks[at - 1 : at + 2])


def _voice_exchanged(one: tuple[Parsed, _Row], other: tuple[Parsed, _Row]) -> bool:
    """Whether one sentence says with "by" who did it, and the other one names the same two in the
    same order without "by": "Germany was beaten by France", "Germany beat France"."""
    (passive, own), (active, its) = one, other
    with_by = {
        _three(own, at)
        for at in range(1, len(own.marks) - 1)
        if own.starts[at + 1] in passive.agents and own.places[at + 1] not in ("number", "unit")
    }
    return bool(with_by) and any(
        _three(its, at) in with_by
        for at in range(1, len(its.marks) - 1)
        if its.words[at + 1].direct and its.starts[at + 1] not in active.by
    )


def _three(row: _Row, at: int) -> tuple[object, ...]:
    """A mark with its left and its right neighbour: their fillers, or else their marks."""
    before, after = (tuple(sorted(row.fillers[k])) or row.marks[k] for k in (at - 1, at + 1))
    return before, row.marks[at], after


def _small(row: _Row, at: int) -> bool:
    """Whether a mark is a small word that has an opposite: such words move freely."""
    return row.places[at] == "opposite" and not any(map(stem, row.fillers[at]))


def _fit(own: _Row, its: _Row, pair: tuple[int, int]) -> bool:
    """Whether two equal marks match: words of one class do where they are opposites or synonyms."""
    a, b = pair
    if own.places[a] != "opposite":
        return True
    return opposed(*own.fillers[a], *its.fillers[b]) is not None


def _wrong(own: _Row, its: _Row, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The matching places with different fillers. A filler that stands unmatched elsewhere in the
    other sentence has moved, and does not count."""
    free = {*range(len(own.marks))}.difference(a for a, _ in pairs)
    its_free = {*range(len(its.marks))}.difference(b for _, b in pairs)
    moved, its_moved = own.filling(free), its.filling(its_free)
    wrong = []
    for a, b in pairs:
        new, missing = own.fillers[a] - its.fillers[b], its.fillers[b] - own.fillers[a]
        if own.places[a] == "opposite":
            differ = opposed(*own.fillers[a], *its.fillers[b]) is True
        else:
            differ = bool(new and missing)
        if differ and not new <= its_moved and not missing <= moved:
            wrong.append((a, b))
    return wrong


def _denials(sentence: Parsed, row: _Row, first: int, last: int) -> list[bool]:
    """The negations from right before the first match to the last one: whether each counts. The
    first one does: what it is joined to is not compared."""
    start, end = row.starts[first], row.starts[last]
    counted = [counts for at, counts in sentence.denied if start <= at <= end]
    return [True, *counted[1:]] if counted else counted
