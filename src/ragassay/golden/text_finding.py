"""Finds texts in documents, whatever their white space: chunks of any system, by their
sixteen-character pieces, and texts that are to be gold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ragassay.base.printable import grouped
from ragassay.base.sample import Passage
from ragassay.golden.documents import Document, names_of
from ragassay.texts.languages import CHARACTERS

Likeness = Literal["exact", "but for white space", "but for markup"]
Place = tuple[str, int, int]
"""Document, start and end."""
_Form = tuple[str, NDArray[np.int32]]
"""Another form of a text, and the place of each of its characters in the text."""

PIECE = 16
"""Characters of an indexed piece; every sixteenth one of a document is indexed."""
LEAST_ALIKE = 80.0
"""How alike a changed chunk must be to its place, 0 to 100."""
_MOST_PLACES = 200
"""Places of one piece that are looked at."""
MOST_SIGHTED = 10
"""Places of a text that are returned, at most."""


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """The places of a text in another one."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def squeezed(text: str) -> _Form:
    """The text with one blank for each run of whitespace."""
    pieces: list[str] = []
    offsets: list[NDArray[np.int32]] = []
    at = 0
    for word in text.split():
        begin = text.index(word, at)
        if pieces:
            pieces.append(" ")
            offsets.append(np.array([begin - 1], np.int32))
        pieces.append(word)
        offsets.append(np.arange(begin, begin + len(word), dtype=np.int32))
        at = begin + len(word)
    return "".join(pieces), np.concatenate([np.zeros(0, np.int32), *offsets])


class Forms:
    """Documents in a form in which white space or markup does not count; each is made once."""

    def __init__(
        self, documents: Mapping[str, Document], form: Callable[[str], _Form] = squeezed
    ) -> None:
        self._of = cache(lambda name: form(documents[name].text))

    def text(self, document: str) -> str:
        """The form of a document."""
        return self._of(document)[0]

    def place(self, document: str, start: int, end: int) -> Place:
        """The place in a document as it is of a place in its form."""
        offsets = self._of(document)[1]
        return document, int(offsets[start]), int(offsets[end - 1]) + 1

    def occurrences(
        self, text: str, among: Iterable[str], most: int | None = None
    ) -> Iterator[tuple[str, int]]:
        """Where a text of this form is in documents, in each at so many places at most."""
        for name in among:
            for at in islice(occurrences(self.text(name), text), most):
                yield name, at


class ChunkAligner:
    """The documents, indexed; ``counts`` of chunks that were found ``changed`` and ``not_found``
    at all, and ``repeated``: at several places, of which the first one counts."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.counts: Counter[str] = Counter()
        self._documents = documents
        self._names = names_of(documents)
        self._forms = Forms(documents)
        self._known: dict[tuple[str | None, str], tuple[Place | None, bool]] = {}
        self._pieces = grouped(
            (text[at : at + PIECE], (name, at))
            for name in documents
            for text in [self._forms.text(name)]
            for at in range(0, len(text) - PIECE + 1, PIECE)
        )

    def passage(self, passage: Passage) -> Passage:
        """The passage with its place, where it has none and is found."""
        document_id = self._names.one(passage.document)
        if passage.start is not None and passage.end is not None and document_id is not None:
            there = self._documents[document_id].text[passage.start : passage.end]
            # Offsets may count in the documents as they were before an edit.
            if not passage.text or passage.text.split() == there.split():
                return replace(passage, document=document_id)
        if not passage.text:
            self.counts["not_found"] += 1
            return passage
        key = (document_id, passage.text)
        if key not in self._known:
            self._known[key] = self._place(passage.text, document_id)
        place, is_repeated = self._known[key]
        self.counts["repeated"] += is_repeated
        if place is None:
            self.counts["not_found"] += 1
            return replace(passage, start=None, end=None)
        document, start, end = place
        return replace(passage, document=document, start=start, end=end)

    def _place(self, chunk: str, document_id: str | None) -> tuple[Place | None, bool]:
        """The place of a chunk, and whether it is exactly at others, too."""
        text, _ = squeezed(chunk)
        if not text:
            return None, False
        exact = list(islice(self._exact(text, document_id), 2))
        if exact:
            document, at = exact[0]
            return self._forms.place(document, at, at + len(text)), len(exact) > 1
        changed = self._changed(text, document_id)
        self.counts["changed"] += changed is not None
        return changed, False

    def _exact(self, text: str, document_id: str | None) -> Iterator[tuple[str, int]]:
        """The places of a text: those in the document that is named, where there is one."""
        if document_id is not None and (
            places := list(self._forms.occurrences(text, [document_id], 2))
        ):
            yield from places
        elif len(text) < 2 * PIECE:
            yield from self._forms.occurrences(text, self._documents)
        else:
            for shift in range(PIECE):
                pieces = self._pieces.get(text[shift : shift + PIECE], ())
                for document, at in pieces[:_MOST_PLACES]:
                    begin = at - shift
                    if begin >= 0 and self._forms.text(document).startswith(text, begin):
                        yield document, begin

    def _changed(self, text: str, document_id: str | None) -> Place | None:
        votes: Counter[tuple[str, int]] = Counter()
        for shift in range(len(text) - PIECE + 1):
            for document, at in self._pieces.get(text[shift : shift + PIECE], ())[:_MOST_PLACES]:
                weight = 2 if document == document_id else 1
                votes[document, (at - shift) // len(text)] += weight
        for (document, bucket), _ in votes.most_common(3):
            begin = max(0, (bucket - 1) * len(text))
            window = self._forms.text(document)[begin : begin + 4 * len(text)]
            best = fuzz.partial_ratio_alignment(text, window, score_cutoff=LEAST_ALIKE)
            if best is not None and len(window) >= len(text):
                return self._forms.place(document, begin + best.dest_start, begin + best.dest_end)
        return None


class Sighting(NamedTuple):
    """Where a text is: document, start and end of each place, at most `MOST_SIGHTED`."""

    likeness: Likeness
    places: tuple[Place, ...]


class TextFinder:
    """Finds texts whose surroundings nobody knows: where each is exactly, else whatever the
    white space, else whatever markup and case. The first of these that finds any place counts."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._spaced, self._bare = Forms(documents), Forms(documents, _without_markup)

    def find(self, text: str, document_id: str | None = None) -> Sighting | None:
        """Where a text is; ``None`` where it is nowhere."""
        among = [name for name in self._documents if name == document_id] or list(self._documents)
        exact = [
            (name, at, at + len(text))
            for name in among
            for at in islice(occurrences(self._documents[name].text, text), MOST_SIGHTED)
        ]
        if exact:
            return Sighting("exact", tuple(exact[:MOST_SIGHTED]))
        forms: tuple[tuple[Likeness, str, Forms], ...] = (
            ("but for white space", squeezed(text)[0], self._spaced),
            ("but for markup", _without_markup(text)[0], self._bare),
        )
        for likeness, wanted, form in forms:
            if not wanted:
                return None
            places = [
                form.place(name, at, at + len(wanted))
                for name, at in form.occurrences(wanted, among, MOST_SIGHTED)
                if _ends_between_words(form.text(name), at, at + len(wanted))
            ]
            if places:
                return Sighting(likeness, tuple(places[:MOST_SIGHTED]))
        return None


def numbers(text: str) -> list[str]:
    """The numbers in a text, as they are written."""
    return _NUMBERS.findall(text)


_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER = re.compile(rf"[^\W{CHARACTERS}]")
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$|^[ \t]*[-+>][ \t]+|\|", re.MULTILINE)
"""Markup that parts words: rules, lines of tables between head and rows, marks of lists and
quotations, sides of cells."""
_EMPHASIS = re.compile(r"\]\([^()\s]*\)|[*_`#\[\]]")
"""Markup within or beside words: targets of links, emphasis, code, headings."""


def _without_markup(text: str) -> _Form:
    """As `squeezed`, without what marks up text, in small letters."""
    parted = _TABLE.sub(lambda value: " " * len(value[0]), text)
    is_kept = np.ones(len(parted), bool)
    for match in _EMPHASIS.finditer(parted):
        is_kept[match.start() : match.end()] = False
    bare, offsets = squeezed(_EMPHASIS.sub("", parted))
    # Few characters have several small ones; they stay, so that places do.
    small = "".join(low if len(low := name.lower()) == 1 else name for name in bare)
    return small, np.flatnonzero(is_kept)[offsets].astype(np.int32)


def _ends_between_words(text: str, start: int, end: int) -> bool:
    return not any(
        0 < at < len(text) and _LETTER.match(text[at - 1]) and _LETTER.match(text[at])
        for at in (start, end)
    )
