"""Sections of documents, with the places of their sentences; and the words of all documents."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldSpan
from ragassay.judges.offline.words import content, weight
from ragassay.texts import sentences
from ragassay.texts.languages import language_of, word_lists

MOST = 2_000
"""Characters of a section; a longer one is divided at blank lines."""

NAME = re.compile(r"(?<=[a-z,;:)] )[A-ZÀ-ÖØ-Þ][\w’'-]+(?: [A-ZÀ-ÖØ-Þ][\w’'-]+)*")
"""Words with capital letters within a sentence."""
_BEST = 5
"""Sections that a search gives, at most."""
_FEW = 8
"""Sections that share a name, at most: what is in more of them is nothing special."""
_BLOCK = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A part of a document, below one heading (or none); a document without a title has its id in
    place of it."""

    document: str
    title: str
    heading: str
    start: int
    end: int
    text: str = field(repr=False)

    @property
    def shown(self) -> str:
        """The section with the headings above it, as a generator or checker reads it."""
        return with_headings(self, self.text)

    def between(self, start: int, end: int) -> str:
        """The text between two characters of the document that are in the section."""
        return self.text[start - self.start : end - self.start]

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each sentence, as characters of the document."""
        return tuple((self.start + begin, self.start + end) for begin, end in sentences(self.text))


def with_headings(section: Section, text: str) -> str:
    """A text of a section with the headings above it."""
    return "\n".join(filter(None, (section.title, section.heading, text)))


def sections_of(document: Document) -> Iterator[Section]:
    """The sections of a document in their order; headings are not part of them, and pages are none:
    a sentence goes on from one to the next, and nobody asks about page 3."""
    text, title = document.text, document.title
    name = document.id if title is None else title.title
    has_pages = any(heading.is_page for heading in document.headings)
    for heading, start, stop in [(None, 0, len(text))] if has_pages else document.parts():
        above = "" if heading is None or heading == title else heading.title
        for begin, end in _divided(text, start, stop):
            yield Section(document.id, name, above, begin, end, text[begin:end])


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
    """All documents: their sections, their words, and a search by words."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._by_document = {
            name: list(sections_of(document)) for name, document in documents.items()
        }
        self.sections = [section for each in self._by_document.values() for section in each]
        self._stems = [Counter(content(section.shown)) for section in self.sections]
        self._languages: dict[str, str] = {}
        self._n_sections = Counter(stem for stems in self._stems for stem in stems)

    def language(self, document: str) -> str:
        """The code of the language that a document is in; empty where its words do not tell."""
        if document not in self._languages:
            self._languages[document] = language_of(self.documents[document].text)
        return self._languages[document]

    def lacks(self, text: str) -> list[str]:
        """The stems of a text's uncommon words that no document has."""
        lists = word_lists().get(language_of(text))
        small = {stem for word in (lists.small if lists else ()) for stem in content(word)}
        return [
            name
            for name in dict.fromkeys(content(text))
            if name not in self._n_sections and name not in small and weight(name)
        ]

    def span(self, section: Section, start: int, end: int) -> GoldSpan:
        """The gold span at a place."""
        return GoldSpan.of(section.document, self.documents[section.document].text, start, end)

    def search(self, query: str) -> list[Section]:
        """The five sections whose words match a query best (BM25), the best first."""
        mean = sum(stems.total() for stems in self._stems) / len(self._stems)
        wanted = set(content(query))
        scored = []
        for at, stems in enumerate(self._stems):
            room = 1.2 * (0.25 + 0.75 * stems.total() / mean)
            score = sum(
                self._rarity(text) * stems[text] * 2.2 / (stems[text] + room)
                for text in wanted
                if text in stems
            )
            scored.append((-score, at))
        return [self.sections[at] for score, at in sorted(scored)[:_BEST] if score < 0]

    def _rarity(self, stem: str) -> float:
        """The inverse document frequency of a stem, over sections; above 0."""
        n = self._n_sections[stem]
        return math.log(1 + (len(self.sections) - n + 0.5) / (n + 0.5))

    def at(self, document: str, start: int) -> Section:
        """The section that holds a character of a document, or the last before it."""
        here = self._by_document[document]
        return next((section for section in reversed(here) if section.start <= start), here[0])


def pairs_with_shared_names(sections: Sequence[Section]) -> Iterator[tuple[Section, Section]]:
    """Pairs of sections of different documents with a name that is in both and in few others,
    the rarest names first."""
    places: dict[str, list[Section]] = {}
    for section in sections:
        for name in set(NAME.findall(section.text)):
            places.setdefault(name, []).append(section)
    for _, sharing in sorted(places.items(), key=lambda value: (len(value[1]), value[0])):
        if len(sharing) <= _FEW:
            pairs = combinations(sharing, 2)
            yield from (pair for pair in pairs if pair[0].document != pair[1].document)
