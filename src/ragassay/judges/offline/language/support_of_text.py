"""Do passages support a piece of text?

Passages are searched in windows: runs of `Lens.window` sentences of one passage. A piece is
supported where one window holds more than a share of its weight, and the passages hold all its
numbers and names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from ragassay.counts import grouped
from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.hostile import evidence_sentences
from ragassay.judges.offline.language.numbers import (
    HALVES_OF_DAY,
    MONTHS,
    UNITS,
    is_number,
    measured,
)
from ragassay.judges.offline.language.version_numbers import Version, differ, versions
from ragassay.judges.offline.language.word_weights import (
    content,
    stem,
    tokens,
    visible,
    weigh,
    weight,
)

UNIT_STEMS = frozenset(map(stem, [*UNITS.values(), *HALVES_OF_DAY.values()]))

Window = frozenset[str]
"""Stems of a few neighbouring sentences."""

_MANY = 1_000
"""Most windows of a passage; of longer ones, windows hold more sentences."""

_NAME = re.compile(r"(?<=[\w,;:)\"'’”] )[A-ZÀ-ÖØ-Þ][\w’'-]*|\b[A-Z]{2}[A-Z0-9]*\b")
_NEGATIONS = lists.words("negations")
_DENYING = lists.words("verbs_of_denial")
_REFUTING = lists.words("refuting")
_NEGATING = re.compile(r"n't$|[不没沒无無未非]")
_BEFORE = 3
"""How many words before the first of some words are searched for a negation of them."""


@dataclass(frozen=True)
class Lens:
    """How closely passages must match a piece of text.

    Attributes:
        window: number of neighbouring sentences of a passage that are searched together.
        share: a phrase is supported where more than this share of its weight is found.
        whole: the same for a piece of more than `phrase` content words, of which a larger share is
            found by chance.
        phrase: largest number of content words in a phrase.
        exact: whether all numbers and names must be found as well.
    """

    window: int = 3
    share: float = 0.5
    whole: float = 0.7
    phrase: int = 6
    exact: bool = True


LENS = Lens()


@dataclass(frozen=True)
class Piece:
    """A piece of text, prepared for the search.

    Attributes:
        stems: of its content words, each once, in order of first use.
        strict: its numbers and names, as stems.
        measured: its numbers that have a unit, each with the unit's stem.
        versions: its decimals that name something.
    """

    stems: tuple[str, ...]
    strict: frozenset[str]
    measured: frozenset[tuple[str, str]] = frozenset()
    versions: frozenset[Version] = frozenset()


@lru_cache(maxsize=4096)
def piece(text: str) -> Piece:
    """A text, prepared for the search in passages."""
    each = content(text)
    stems = tuple(dict.fromkeys(each))
    # `names` gives more than stands here: a month's short form alone and in a date.
    strict = {*filter(is_number, stems), *names(text).intersection(stems)}
    units = frozenset(pair for pair in measured(each, UNIT_STEMS) if pair[1])
    return Piece(stems, frozenset(strict), units, versions(text))


def names(text: str) -> set[str]:
    """Stems of capitalised words inside sentences, and of words all in capitals."""
    each = _NAME.findall(visible(text))
    # A month's name alone is read otherwise than in a date ("May 1999", "Jul 1999").
    months = {stem(month) for name in each if (month := MONTHS.get(name.casefold()))}
    return months.union(stemmed for name in each for stemmed in content(name))


def negates(token: str) -> bool:
    """Whether a token is a negation, or ends with one."""
    return token in _NEGATIONS or bool(_NEGATING.search(token))


def denials(each: Sequence[str]) -> list[bool]:
    """For each token of a sentence, whether it is a negation, a verb that denies what follows its
    "to" ("failed to land"), or a word that denies what follows its "that" ("it is false that");
    "nor" after one does not count."""
    denials: list[bool] = []
    denied = False
    for at, token in enumerate(each):
        following = each[at + 1] if at + 1 < len(each) else ""
        denies = (
            negates(token)
            or (token in _DENYING and following == "to")
            or (token in _REFUTING and following == "that")
        )
        denials.append(denies and not (token in _CONTINUES and denied))
        denied = denied or denials[-1]
    return denials


_CONTINUES = {"nor", "ni", "né", "noch"}


def negated(text: str, words: Set[str]) -> bool:
    """Whether an odd number of negations stands among some words of a text.

    Args:
        text: a sentence.
        words: stems. Negations count from `_BEFORE` words before the first of them to the last.
    """
    stems, denied = _denials(text)
    at = [place for place, stemmed in enumerate(stems) if stemmed in words]
    if not at:
        return False
    return sum(denied[max(0, at[0] - _BEFORE) : at[-1] + 1]) % 2 == 1


@lru_cache(maxsize=4096)
def _denials(text: str) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """The stem of each word of a text, empty for a small one, and whether it denies."""
    each = tokens(text)
    return tuple(map(stem, each)), tuple(denials(each))


@lru_cache(maxsize=1024)
def stems_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Stems of each sentence of a text that may be used as evidence.

    The word "one" is evidence for the number 1, though a claim with "one" needs no number.
    """
    return tuple(
        (*content(sentence), "1") if _ONE.search(sentence) else tuple(content(sentence))
        for sentence in evidence_sentences(text)
    )


_ONE = re.compile(r"\bone\b", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _units_of(text: str) -> frozenset[tuple[str, str]]:
    """Each number of a text with its unit, empty where it has none."""
    return frozenset(pair for each in stems_of(text) for pair in measured(each, UNIT_STEMS))


@lru_cache(maxsize=1024)
def _versions_of(text: str) -> frozenset[Version]:
    """The decimals of a text that name something."""
    return versions("\n".join(evidence_sentences(text)))


@lru_cache(maxsize=1024)
def _windows(text: str, size: int) -> tuple[Window, ...]:
    each = stems_of(text)
    step = max(1, len(each) // _MANY)
    starts = range(0, max(1, len(each) - size + 1), step)
    windows = (frozenset[str]().union(*each[at : at + size + step - 1]) for at in starts)
    return tuple(window for window in windows if window)


class PreparedPassages:
    """Passages, prepared for searching pieces of text in them.

    Args:
        texts: the passages.
        lens: how closely they must match a piece.
    """

    def __init__(self, texts: Sequence[str], lens: Lens = LENS) -> None:
        self._lens = lens
        self._windows = [one for text in texts for one in _windows(text, lens.window)]
        windows = enumerate(self._windows)
        self._places = grouped((word, at) for at, window in windows for word in window)
        self._units = grouped(frozenset[tuple[str, str]]().union(*map(_units_of, texts)))
        self._versions = frozenset[Version]().union(*map(_versions_of, texts))
        self._best_windows: dict[Piece, tuple[float, int | None]] = {}

    def coverage(self, wanted: Piece) -> float:
        """The largest share of the weight that a single window holds, 0 to 1."""
        return self._best(wanted)[0]

    def supports(self, wanted: Piece) -> bool:
        """Whether one window holds enough of its weight, and the passages its numbers and names."""
        lens = self._lens
        share, _ = self._best(wanted)
        least = lens.share if len(wanted.stems) <= lens.phrase else lens.whole
        return share > least and (not lens.exact or self.exact(wanted))

    def exact(self, wanted: Piece) -> bool:
        """Whether the passages hold its numbers and names, and no number with other units only."""
        return self.holds(wanted.strict) and self.measures(wanted)

    def measures(self, wanted: Piece) -> bool:
        """Whether the passages give each of its numbers that has a unit with this unit, without a
        unit, or not at all; and write each of its versions alike."""
        if differ(wanted.versions, self._versions):
            return False
        pairs = ((self._units.get(number), unit) for number, unit in wanted.measured)
        return all(units is None or unit in units or "" in units for units, unit in pairs)

    def holds(self, stems: Iterable[str]) -> bool:
        """Whether the passages hold each of the stems."""
        return all(word in self._places for word in stems)

    def window(self, wanted: Piece) -> Window:
        """The window that holds most of its weight; empty where none holds any."""
        _, at = self._best(wanted)
        return frozenset() if at is None else self._windows[at]

    def _best(self, wanted: Piece) -> tuple[float, int | None]:
        if wanted not in self._best_windows:
            self._best_windows[wanted] = self._search(wanted)
        return self._best_windows[wanted]

    def _search(self, wanted: Piece) -> tuple[float, int | None]:
        held: dict[int, int] = {}
        for word in wanted.stems:
            heavy = weight(word)
            for at in self._places.get(word, ()):
                held[at] = held.get(at, 0) + heavy
        if not held:
            return 0.0, None
        # Of several best windows the first one: the order of insertion does not matter then.
        best = min(held, key=lambda at: (-held[at], at))
        return held[best] / weigh(wanted.stems), best


def share_of(wanted: Iterable[str], stems: Set[str]) -> float:
    """The share of the weight of the wanted stems that is there, from 0 to 1; 0 where nothing is
    wanted.

    Args:
        wanted: stems whose weight counts; it is remembered from one call to the next.
        stems: that are there.
    """
    wanted = frozenset(wanted)
    total = _weight_of(wanted)
    return weigh(wanted & stems) / total if total else 0.0


# The same set is searched in every sentence of a text, so its weight is kept.
_weight_of = lru_cache(maxsize=1024)(weigh)
