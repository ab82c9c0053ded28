"""Finds the chunks of any system in the documents, so that they have offsets.

Whitespace does not count: chunkers join lines. A chunk that stands in the documents is found
exactly, by one of its sixteen-character pieces; one that was changed by the pieces that it kept.

A text that is to be gold is found where it stands once (`TextFinder`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from ragassay.golden.documents import Document
from ragassay.golden.span_alignment import UNSPACED, aligned, alike_parts, occurrences
from ragassay.samples import Passage

_PIECE = 16
"""Characters of an indexed piece; every sixteenth one of a document is indexed."""
_LEAST_ALIKE = 80.0
"""How alike a changed chunk must be to its place, 0 to 100."""
_MOST_PLACES = 200
"""Places of one piece that are looked at."""


@dataclass
class Counts:
    """How the chunks were found: with offsets of their own, exactly, changed, or not at all.
    ``repeated`` of those found exactly stand at several places, of which the first was taken."""

    given: int = 0
    exact: int = 0
    changed: int = 0
    not_found: int = 0
    repeated: int = 0


class ChunkAligner:
    """The documents, indexed.

    Args:
        documents: by id.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.counts = Counts()
        self._documents = documents
        self._names = {one.path: key for key, one in documents.items()}
        self._names |= {key: key for key in documents}
        self._texts: dict[str, str] = {}
        self._offsets: dict[str, NDArray[np.int32]] = {}
        self._pieces: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._found: dict[tuple[str | None, str], tuple[str, int, int] | None] = {}
        self._repeated: set[tuple[str | None, str]] = set()
        for key, one in documents.items():
            text, offsets = _squeezed(one.text)
            self._texts[key], self._offsets[key] = text, offsets
            for at in range(0, len(text) - _PIECE + 1, _PIECE):
                self._pieces[text[at : at + _PIECE]].append((key, at))

    def passage(self, passage: Passage) -> Passage:
        """The passage with its place, where it has none and is found.

        Args:
            passage: of a system; ``document`` may say where to look first.
        """
        named = self._names.get(passage.document or "")
        if passage.start is not None and passage.end is not None and named is not None:
            stands = self._documents[named].text[passage.start : passage.end]
            # Offsets may count in the documents as they were before an edit.
            if not passage.text or passage.text.split() == stands.split():
                self.counts.given += 1
                return replace(passage, document=named)
        if not passage.text:
            self.counts.not_found += 1
            return passage
        key = (named, passage.text)
        if key not in self._found:
            self._found[key] = self._place(passage.text, named)
        place = self._found[key]
        self.counts.repeated += key in self._repeated
        if place is None:
            self.counts.not_found += 1
            return replace(passage, start=None, end=None)
        document, start, end = place
        return replace(passage, document=document, start=start, end=end)

    def _place(self, chunk: str, named: str | None) -> tuple[str, int, int] | None:
        text, _ = _squeezed(chunk)
        text = text.strip()
        if not text:
            return None
        exact = list(islice(self._exact(text, named), 2))
        if exact:
            self.counts.exact += 1
            if len(exact) > 1:
                self._repeated.add((named, chunk))
            document, at = exact[0]
            return self._original(document, at, at + len(text))
        changed = self._changed(text, named)
        if changed is not None:
            self.counts.changed += 1
        return changed

    def _exact(self, text: str, named: str | None) -> Iterator[tuple[str, int]]:
        """The places of a text: those in the document that is named, where there is one."""
        if named is not None and (places := list(islice(occurrences(self._texts[named], text), 2))):
            yield from ((named, at) for at in places)
        elif len(text) < 2 * _PIECE:
            for document, whole in self._texts.items():
                yield from ((document, at) for at in occurrences(whole, text))
        else:
            for shift in range(_PIECE):
                pieces = self._pieces.get(text[shift : shift + _PIECE], ())
                for document, at in pieces[:_MOST_PLACES]:
                    begin = at - shift
                    if begin >= 0 and self._texts[document].startswith(text, begin):
                        yield document, begin

    def _changed(self, text: str, named: str | None) -> tuple[str, int, int] | None:
        """Where most pieces of a chunk stand in the same order."""
        votes: Counter[tuple[str, int]] = Counter()
        for shift in range(len(text) - _PIECE + 1):
            for document, at in self._pieces.get(text[shift : shift + _PIECE], ())[:_MOST_PLACES]:
                weight = 2 if document == named else 1
                votes[document, (at - shift) // len(text)] += weight
        for (document, bucket), _ in votes.most_common(3):
            whole = self._texts[document]
            begin = max(0, (bucket - 1) * len(text))
            window = whole[begin : begin + 4 * len(text)]
            best = fuzz.partial_ratio_alignment(text, window, score_cutoff=_LEAST_ALIKE)
            if best is not None and len(window) >= len(text):
                return self._original(document, begin + best.dest_start, begin + best.dest_end)
        return None

    def _original(self, document: str, start: int, end: int) -> tuple[str, int, int]:
        """A place of the squeezed text in the document as it is."""
        offsets = self._offsets[document]
        return document, int(offsets[start]), int(offsets[end - 1]) + 1


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
"""Places of a text that are told."""
_SHARED = 0.6
"""Share of the words of a text that a document must hold to be looked at for one like it."""


class TextFinder:
    """Finds texts whose surroundings nobody knows: where each stands exactly, else whatever the
    white space, else whatever markup and case, else with a distance of at most `MOST_DISTANT` and
    the same numbers. The first of these that finds any place counts.

    Args:
        documents: by id.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._spaced = cache(lambda name: _squeezed(documents[name].text))
        self._bare = cache(lambda name: _without_markup(documents[name].text))
        self._words = cache(lambda name: frozenset(_WORDS.findall(self._bare(name)[0])))

    def find(self, text: str, named: str | None = None) -> Sighting | None:
        """Where a text stands; ``None`` where it stands nowhere.

        Args:
            text: that is looked for.
            named: the document to look in; all of them where there is none of this id.
        """
        names = [named] if named in self._documents else list(self._documents)
        among = [name for name in names if name is not None]
        exact = [
            (name, at, at + len(text))
            for name in among
            for at in islice(occurrences(self._documents[name].text, text), MOST_SIGHTED)
        ]
        if exact:
            return Sighting("exact", tuple(exact[:MOST_SIGHTED]))
        forms: tuple[tuple[Likeness, str, _Forms], ...] = (
            ("but for white space", _squeezed(text)[0], self._spaced),
            ("but for markup", _without_markup(text)[0], self._bare),
        )
        for likeness, wanted, form in forms:
            if not wanted:
                return None
            places = [
                (name, int(offsets[at]), int(offsets[at + len(wanted) - 1]) + 1)
                for name in among
                for whole, offsets in [form(name)]
                for at in islice(occurrences(whole, wanted), MOST_SIGHTED)
                if _is_whole(whole, at, at + len(wanted))
            ]
            if places:
                return Sighting(likeness, tuple(places[:MOST_SIGHTED]))
        return self._nearly(forms[-1][1], among)

    def _nearly(self, wanted: str, among: Iterable[str]) -> Sighting | None:
        """Where a text like one without markup stands."""
        words = frozenset(_WORDS.findall(wanted))
        found: list[tuple[float, tuple[str, int, int]]] = []
        for name in among:
            if len(words & self._words(name)) < _SHARED * len(words) or not words:
                continue
            whole, offsets = self._bare(name)
            for start, end in _like(wanted, whole):
                distance = Levenshtein.normalized_distance(wanted, whole[start:end])
                # Another number is another fact.
                same = numbers(wanted) == numbers(whole[start:end])
                if same and distance <= MOST_DISTANT:
                    found.append((distance, (name, int(offsets[start]), int(offsets[end - 1]) + 1)))
        if not found:
            return None
        places = dict.fromkeys(place for _, place in sorted(found))
        return Sighting("nearly", tuple(places)[:MOST_SIGHTED], min(found)[0])


def numbers(text: str) -> list[str]:
    """The numbers in a text, as they are written."""
    return _NUMBERS.findall(text)


_Forms = Callable[[str], tuple[str, NDArray[np.int32]]]
_WORDS = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER = re.compile(rf"[^\W{UNSPACED}]")
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$|^[ \t]*[-+>][ \t]+|\|", re.MULTILINE)
"""Markup that parts words: rules, lines of tables between head and rows, marks of lists and
quotations, sides of cells."""
_EMPHASIS = re.compile(r"\]\([^()\s]*\)|[*_`#\[\]]")
"""Markup within or beside words: targets of links, emphasis, code, headings."""


def _without_markup(text: str) -> tuple[str, NDArray[np.int32]]:
    """As `_squeezed`, without what marks up text, in small letters."""
    parted = _TABLE.sub(lambda one: " " * len(one[0]), text)
    is_kept = np.ones(len(parted), bool)
    for one in _EMPHASIS.finditer(parted):
        is_kept[one.start() : one.end()] = False
    bare, offsets = _squeezed(_EMPHASIS.sub("", parted))
    # Few characters have several small ones; they stay, so that places do.
    small = "".join(low if len(low := one.lower()) == 1 else one for one in bare)
    return small, np.flatnonzero(is_kept)[offsets].astype(np.int32)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word is cut at either end of a part of a text."""
    return not any(
        0 < at < len(text) and _LETTER.match(text[at - 1]) and _LETTER.match(text[at])
        for at in (start, end)
    )


def _like(wanted: str, whole: str) -> Iterator[tuple[int, int]]:
    """Parts of a text that may be like another text, best first in each part that is left."""
    margin = _PIECE + round(len(wanted) * MOST_DISTANT)
    least = len(wanted) * (1 - MOST_DISTANT)
    for part in alike_parts(wanted, whole, least, _LEAST_ALIKE, MOST_SIGHTED):
        start, end = max(part.begin, part.start - margin), min(part.stop, part.end + margin)
        if (ends := aligned(wanted, "", "", whole, start, end)) is not None:
            yield ends


def _squeezed(text: str) -> tuple[str, NDArray[np.int32]]:
    """The text with one blank for all whitespace that stands together, and the place of each of its
    characters in the text."""
    pieces: list[str] = []
    kept: list[NDArray[np.int32]] = []
    at = 0
    for word in text.split():
        begin = text.index(word, at)
        if pieces:
            pieces.append(" ")
            kept.append(np.array([begin - 1], np.int32))
        pieces.append(word)
        kept.append(np.arange(begin, begin + len(word), dtype=np.int32))
        at = begin + len(word)
    return "".join(pieces), np.concatenate(kept) if kept else np.zeros(0, np.int32)
