"""Sections of documents, with the places of their sentences; and the words of all documents."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ragassay.golden import Document
from ragassay.judges.offline.language import content, sentences, weight

MOST = 2_000
"""Characters of a section; a longer one is divided at blank lines."""

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_BLOCK = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A part of a document, below one heading.

    Attributes:
        document: its id.
        title: of the document; the id where it has none.
        heading: above the section; empty where there is none.
        start, end: characters of the document.
        text: these characters.
        place: where in the document it begins, 0 to 1.
    """

    document: str
    title: str
    heading: str
    start: int
    end: int
    text: str = field(repr=False)
    place: float = 0.0

    @property
    def shown(self) -> str:
        """The section with the headings above it, as a generator or checker reads it."""
        return with_headings(self, self.text)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each sentence, as characters of the document."""
        places: list[tuple[int, int]] = []
        at = 0
        for one in sentences(self.text):
            at = self.text.find(one, at)
            if at < 0:  # it was changed where it was made plain
                return tuple(places)
            places.append((self.start + at, self.start + at + len(one)))
            at += len(one)
        return tuple(places)


def with_headings(section: Section, text: str) -> str:
    """A text of a section with the headings that stand above it.

    Args:
        section: that it stands in.
        text: of it.
    """
    return "\n".join(filter(None, (section.title, section.heading, text)))


def sections_of(document: Document) -> Iterator[Section]:
    """The sections of a document in their order; headings are not part of them.

    Args:
        document: with Markdown headings, or none.
    """
    text = document.text
    marks = list(_HEADING.finditer(text))
    titles = [one[2] for one in marks if len(one[1]) == 1]
    title = titles[0] if titles else document.id
    begins = [(0, ""), *((one.end(), "" if len(one[1]) == 1 else one[2]) for one in marks)]
    ends = [*(one.start() for one in marks), len(text)]
    for (begin, heading), end in zip(begins, ends, strict=True):
        for start, stop in _divided(text, begin, end):
            place = start / len(text)
            yield Section(document.id, title, heading, start, stop, text[start:stop], place)


def _divided(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of blocks that are no longer than `MOST`, where blocks allow it."""
    start = stop = -1
    for block in _BLOCK.finditer(text, begin, end):
        if start >= 0 and block.end() - start > MOST:
            yield start, stop
            start = -1
        start = block.start() if start < 0 else start
        stop = block.end()
    if start >= 0:
        yield start, stop - (len(text[start:stop]) - len(text[start:stop].rstrip()))


class Corpus:
    """All documents: their sections, their words, and a search by words.

    Args:
        documents: by id.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._of = {name: list(sections_of(one)) for name, one in documents.items()}
        self.sections = [one for each in self._of.values() for one in each]
        self._stems = [Counter(content(one.shown)) for one in self.sections]
        self._in = Counter(stem for stems in self._stems for stem in stems)

    def lacks(self, text: str) -> list[str]:
        """The stems of uncommon words of a text that stand in no document.

        Args:
            text: a query, say.
        """
        return [one for one in dict.fromkeys(content(text)) if one not in self._in and weight(one)]

    def found(self, query: str, most: int = 5) -> list[Section]:
        """The sections whose words match a query best (BM25), the best first.

        Args:
            query: its text.
            most: sections at most.
        """
        mean = sum(stems.total() for stems in self._stems) / len(self._stems)
        wanted = set(content(query))
        scored = []
        for at, stems in enumerate(self._stems):
            room = 1.2 * (0.25 + 0.75 * stems.total() / mean)
            score = sum(
                self.rarity(one) * stems[one] * 2.2 / (stems[one] + room)
                for one in wanted
                if one in stems
            )
            scored.append((-score, at))
        return [self.sections[at] for score, at in sorted(scored)[:most] if score < 0]

    def rarity(self, stem: str) -> float:
        """The inverse document frequency of a stem, over sections; above 0.

        Args:
            stem: of a word.
        """
        n = self._in[stem]
        return math.log(1 + (len(self.sections) - n + 0.5) / (n + 0.5))

    def at(self, document: str, start: int) -> Section:
        """The section that a character of a document stands in, or the last before it.

        Args:
            document: its id.
            start: the character.
        """
        here = self._of[document]
        return next((one for one in reversed(here) if one.start <= start), here[0])


def shared_names(sections: Sequence[Section]) -> Iterator[tuple[Section, Section, str]]:
    """Pairs of sections of different documents with a name that stands in both and in few others,
    the rarest names first.

    Args:
        sections: of all documents.
    """
    places: dict[str, list[Section]] = {}
    for section in sections:
        for name in set(_NAME.findall(section.text)):
            places.setdefault(name, []).append(section)
    for name, held in sorted(places.items(), key=lambda one: (len(one[1]), one[0])):
        if not 2 <= len(held) <= _FEW:
            continue
        for at, first in enumerate(held):
            for second in held[at + 1 :]:
                if first.document != second.document:
                    yield first, second, name


_NAME = re.compile(r"(?<=[a-z,;:)] )[A-ZÀ-ÖØ-Þ][\w’'-]+(?: [A-ZÀ-ÖØ-Þ][\w’'-]+)*")
_FEW = 8
