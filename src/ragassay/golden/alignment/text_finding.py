"""Finds texts that are to be gold: where each stands in the documents, exactly or nearly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ragassay.golden.alignment.chunk_alignment import LEAST_ALIKE, PIECE, squeezed
from ragassay.golden.alignment.span_alignment import aligned, alike_parts, occurrences
from ragassay.golden.documents import Document
from ragassay.texts.scripts import CHARACTERS

Likeness = Literal["exact", "but for white space", "but for markup", "nearly"]


class Sighting(NamedTuple):
    """Where a text stands.

    Attributes:
        likeness: of the text that stands there.
        places: document, start and end of each, at most `MOST_SIGHTED`.
        distance: edits over characters, of white space, markup and case none.
    """

    likeness: Likeness
    places: tuple[tuple[str, int, int], ...]
    distance: float = 0.0


MOST_DISTANT = 0.1
"""Largest distance (edits over characters) of a text that was typed and the one that is meant."""
MOST_SIGHTED = 10
"""Places of a text that are returned, at most."""
_SHARED = 0.6
"""Share of the words of a text that a document must hold to be looked at for one like it."""


class TextFinder:
    """Finds texts whose surroundings nobody knows: where each stands exactly, else whatever the
    white space, else whatever markup and case, else with a distance of at most `MOST_DISTANT` and
    the same numbers. The first of these that finds any place counts."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._spaced = cache(lambda name: squeezed(documents[name].text))
        self._bare = cache(lambda name: _without_markup(documents[name].text))
        self._words = cache(lambda name: frozenset(_WORDS.findall(self._bare(name)[0])))

    def find(self, text: str, document_id: str | None = None) -> Sighting | None:
        """Where a text stands; ``None`` where it stands nowhere."""
        among = [name for name in self._documents if name == document_id] or list(self._documents)
        exact = [
            (name, at, at + len(text))
            for name in among
            for at in islice(occurrences(self._documents[name].text, text), MOST_SIGHTED)
        ]
        if exact:
            return Sighting("exact", tuple(exact[:MOST_SIGHTED]))
        forms: tuple[tuple[Likeness, str, _Forms], ...] = (
            ("but for white space", squeezed(text)[0], self._spaced),
            ("but for markup", _without_markup(text)[0], self._bare),
        )
        for likeness, wanted, form in forms:
            if not wanted:
                return None
            places = [
                (name, int(offsets[at]), int(offsets[at + len(wanted) - 1]) + 1)
                for name in among
                for squeezed_text, offsets in [form(name)]
                for at in islice(occurrences(squeezed_text, wanted), MOST_SIGHTED)
                if _ends_between_words(squeezed_text, at, at + len(wanted))
            ]
            if places:
                return Sighting(likeness, tuple(places[:MOST_SIGHTED]))
        return self._nearly(forms[-1][1], among)

    def _nearly(self, wanted: str, among: Iterable[str]) -> Sighting | None:
        """Where a text like one without markup stands."""
        words = frozenset(_WORDS.findall(wanted))
        matches: list[tuple[float, tuple[str, int, int]]] = []
        for name in among:
            if len(words & self._words(name)) < _SHARED * len(words) or not words:
                continue
            bare, offsets = self._bare(name)
            for start, end in _like(wanted, bare):
                distance = Levenshtein.normalized_distance(wanted, bare[start:end])
                # Another number is another fact.
                same = numbers(wanted) == numbers(bare[start:end])
                if same and distance <= MOST_DISTANT:
                    place = name, int(offsets[start]), int(offsets[end - 1]) + 1
                    matches.append((distance, place))
        if not matches:
            return None
        places = dict.fromkeys(place for _, place in sorted(matches))
        return Sighting("nearly", tuple(places)[:MOST_SIGHTED], min(matches)[0])


def numbers(text: str) -> list[str]:
    """The numbers in a text, as they are written."""
    return _NUMBERS.findall(text)


_Forms = Callable[[str], tuple[str, NDArray[np.int32]]]
_WORDS = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER = re.compile(rf"[^\W{CHARACTERS}]")
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$|^[ \t]*[-+>][ \t]+|\|", re.MULTILINE)
"""Markup that parts words: rules, lines of tables between head and rows, marks of lists and
quotations, sides of cells."""
_EMPHASIS = re.compile(r"\]\([^()\s]*\)|[*_`#\[\]]")
"""Markup within or beside words: targets of links, emphasis, code, headings."""


def _without_markup(text: str) -> tuple[str, NDArray[np.int32]]:
    """As `squeezed`, without what marks up text, in small letters."""
    parted = _TABLE.sub(lambda one: " " * len(one[0]), text)
    is_kept = np.ones(len(parted), bool)
    for one in _EMPHASIS.finditer(parted):
        is_kept[one.start() : one.end()] = False
    bare, offsets = squeezed(_EMPHASIS.sub("", parted))
    # Few characters have several small ones; they stay, so that places do.
    small = "".join(low if len(low := one.lower()) == 1 else one for one in bare)
    return small, np.flatnonzero(is_kept)[offsets].astype(np.int32)


def _ends_between_words(text: str, start: int, end: int) -> bool:
    """Whether no word is cut at either end of a part of a text."""
    return not any(
        0 < at < len(text) and _LETTER.match(text[at - 1]) and _LETTER.match(text[at])
        for at in (start, end)
    )


def _like(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Parts of a text that may be like another text, best first in each part that is left."""
    margin = PIECE + round(len(wanted) * MOST_DISTANT)
    least = len(wanted) * (1 - MOST_DISTANT)
    for part in alike_parts(wanted, text, least, LEAST_ALIKE, MOST_SIGHTED):
        start, end = max(part.begin, part.start - margin), min(part.stop, part.end + margin)
        if (ends := aligned(wanted, "", "", text, start, end)) is not None:
            yield ends
