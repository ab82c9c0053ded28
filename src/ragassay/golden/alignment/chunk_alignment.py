"""Finds the chunks of any system in the documents, so that they have offsets.

White space does not count: chunkers join lines. A chunk that stands in the documents is found
exactly, by one of its sixteen-character pieces; one that was changed by the pieces that it kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ragassay.base.sample import Passage
from ragassay.golden.alignment.span_alignment import occurrences
from ragassay.golden.documents import Document, names_of

PIECE = 16
"""Characters of an indexed piece; every sixteenth one of a document is indexed."""
LEAST_ALIKE = 80.0
"""How alike a changed chunk must be to its place, 0 to 100."""
_MOST_PLACES = 200
"""Places of one piece that are looked at."""

_Place = tuple[str, int, int]
"""Document, start and end."""


@dataclass
class Counts:
    """How many chunks were found changed, and how many not at all. ``repeated`` of those found
    exactly stand at several places, of which the first one counts."""

    changed: int = 0
    not_found: int = 0
    repeated: int = 0


class ChunkAligner:
    """The documents, indexed."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.counts = Counts()
        self._documents = documents
        self._names = names_of(documents)
        self._texts: dict[str, str] = {}
        self._offsets: dict[str, NDArray[np.int32]] = {}
        self._pieces: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._known: dict[tuple[str | None, str], tuple[_Place | None, bool]] = {}
        for key, one in documents.items():
            text, offsets = squeezed(one.text)
            self._texts[key], self._offsets[key] = text, offsets
            for at in range(0, len(text) - PIECE + 1, PIECE):
                self._pieces[text[at : at + PIECE]].append((key, at))

    def passage(self, passage: Passage) -> Passage:
        """The passage with its place, where it has none and is found."""
        document_id = self._names.one(passage.document)
        if passage.start is not None and passage.end is not None and document_id is not None:
            stands = self._documents[document_id].text[passage.start : passage.end]
            # Offsets may count in the documents as they were before an edit.
            if not passage.text or passage.text.split() == stands.split():
                return replace(passage, document=document_id)
        if not passage.text:
            self.counts.not_found += 1
            return passage
        key = (document_id, passage.text)
        if key not in self._known:
            self._known[key] = self._place(passage.text, document_id)
        place, is_repeated = self._known[key]
        self.counts.repeated += is_repeated
        if place is None:
            self.counts.not_found += 1
            return replace(passage, start=None, end=None)
        document, start, end = place
        return replace(passage, document=document, start=start, end=end)

    def _place(self, chunk: str, document_id: str | None) -> tuple[_Place | None, bool]:
        """The place of a chunk, and whether it stands exactly at others, too."""
        text, _ = squeezed(chunk)
        if not text:
            return None, False
        exact = list(islice(self._exact(text, document_id), 2))
        if exact:
            document, at = exact[0]
            return self._original(document, at, at + len(text)), len(exact) > 1
        changed = self._changed(text, document_id)
        self.counts.changed += changed is not None
        return changed, False

    def _exact(self, text: str, document_id: str | None) -> Iterator[tuple[str, int]]:
        """The places of a text: those in the document that is named, where there is one."""
        if document_id is not None and (
            places := list(islice(occurrences(self._texts[document_id], text), 2))
        ):
            yield from ((document_id, at) for at in places)
        elif len(text) < 2 * PIECE:
            for document, document_text in self._texts.items():
                yield from ((document, at) for at in occurrences(document_text, text))
        else:
            for shift in range(PIECE):
                pieces = self._pieces.get(text[shift : shift + PIECE], ())
                for document, at in pieces[:_MOST_PLACES]:
                    begin = at - shift
                    if begin >= 0 and self._texts[document].startswith(text, begin):
                        yield document, begin

    def _changed(self, text: str, document_id: str | None) -> _Place | None:
        """Where most pieces of a chunk stand in the same order."""
        votes: Counter[tuple[str, int]] = Counter()
        for shift in range(len(text) - PIECE + 1):
            for document, at in self._pieces.get(text[shift : shift + PIECE], ())[:_MOST_PLACES]:
                weight = 2 if document == document_id else 1
                votes[document, (at - shift) // len(text)] += weight
        for (document, bucket), _ in votes.most_common(3):
            begin = max(0, (bucket - 1) * len(text))
            window = self._texts[document][begin : begin + 4 * len(text)]
            best = fuzz.partial_ratio_alignment(text, window, score_cutoff=LEAST_ALIKE)
            if best is not None and len(window) >= len(text):
                return self._original(document, begin + best.dest_start, begin + best.dest_end)
        return None

    def _original(self, document: str, start: int, end: int) -> _Place:
        """A place of the squeezed text in the document as it is."""
        offsets = self._offsets[document]
        return document, int(offsets[start]), int(offsets[end - 1]) + 1


def squeezed(text: str) -> tuple[str, NDArray[np.int32]]:
    """The text with one blank for all whitespace that stands together, and the place of each of its
    characters in the text."""
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
