"""Which passage a citation means, and what a passage is called in parts and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from ragassay.base.sample import Passage
from ragassay.texts.document_names import DocumentNames
from ragassay.texts.languages import held

_NUMBER = r"(?:n[°ºr.]|no\.|№)"
PREFIX = rf"(?:{'|'.join(held('sources').values())})"
"""Words before the number of a citation in any language: ``[doc 1]``, ``[источник: 2]``."""
BEFORE = rf"(?:{PREFIX}[\s:：#_.\-]*(?:{_NUMBER}\s*)?|{_NUMBER}\s*|[dps](?=\d)|[#^])"
"""What stands before the number of a citation."""

_NUMBERED = re.compile(rf"{BEFORE}?(\d+)", re.IGNORECASE)
_LONGEST = 3
"""Digits of a number that people cite by. Longer ones are keys of a database, or years."""


def bare(name: str) -> str:
    """A citation or id without brackets, case and white space: ``[Doc 1]`` becomes ``doc1``."""
    return "".join(name.split()).strip("[](){}【】［］<>^\\").casefold()


def _spaced(name: str) -> str:
    """A citation or name without brackets and case, its words between single blanks."""
    return " ".join(name.split()).strip("[](){}【】［］<>^\\ ").casefold()


def number(name: str) -> int | None:
    """The number of a citation or id that is nothing else (``[3]``, ``doc 3``); ``None``
    otherwise."""
    match = _NUMBERED.fullmatch(bare(name))
    return int(match[1]) if match and match[1].isascii() else None


def passage_keys(passages: Sequence[Passage]) -> tuple[str, ...]:
    """The name of each passage: its id, or its rank from 1 where it has none.

    Names are unique: a later passage whose name is taken has its rank appended.
    """
    keys: dict[str, None] = {}
    for rank, passage in enumerate(passages, start=1):
        name = passage.id if passage.id is not None else str(rank)
        while name in keys:
            name = f"{name} (rank {rank})"
        keys[name] = None
    return tuple(keys)


_ENDING = (
    r"\.(?:pdf|docx?|pptx?|xlsx?|html?|md|markdown|txt|csv|json|xml|rst|epub|odt|rtf)(?![^\W_])"
)
_SOURCE = re.compile(rf"https?://\S+|[^\[\]|]{{1,150}}{_ENDING}.*", re.IGNORECASE)
_PLACED = re.compile(rf"(?P<name>.*?(?:{_ENDING}|(?=#)))(?P<place>.*)", re.IGNORECASE)
"""A file, and the place in it: ``guide.pdf#page=4``, ``guide.pdf, p. 4``, ``guide.pdf:4``."""
_SHORTEST = 4
"""Characters of a name that is found among other words."""


def _placed(name: str) -> tuple[str, tuple[str, ...]]:
    """A name without the place in the document that it may end with, and the numbers of that."""
    found = _PLACED.fullmatch(name)
    return (found["name"], tuple(re.findall(r"\d+", found["place"]))) if found else (name, ())


_LABEL = re.compile(r"\s*([^\s:][^:\n]{0,150}?\.[a-z]{2,5}(?:#[\w=.,-]+)?)\s*:\s", re.IGNORECASE)
"""The name of a file that a passage's text begins with."""


def is_source(content: str) -> bool:
    """Whether what stands in brackets looks like the name of a file or an address."""
    return _SOURCE.fullmatch(content.strip()) is not None


class Citable:
    """The passages of a sample, to which an answer's citations refer.

    A citation refers to the passage with that id; brackets and case do not matter. Where no passage
    has the id, these rules hold in turn:

    - The name of its document (see `DocumentNames`), with or without the page, its title or its
      address, or the file name that its text begins with, refers to all passages that have it;
      with a page, not to those of other pages.
    - Where ids are numbers of up to three digits (``[2]``, ``7``), a number is an id and no rank;
      one that is no id refers to nothing that was retrieved.
    - A number with a word (``[doc 2]``) is that of an id with a word and a number (``doc-2``).
    - A number is the rank, from 1: prompts count passages, whatever these are called (``p0``).
    - A number that is no rank is that of an id with a word and a number: ``[12]`` means ``doc-12``.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._by_name: dict[str, int] = {}
        self._by_source: dict[str, list[int]] = {}
        self._places: list[set[tuple[str, ...]]] = []
        self._words: set[str] = set()
        for index, passage in enumerate(passages):
            if passage.id is not None:
                self._by_name.setdefault(bare(passage.id), index)
            label = _LABEL.match(passage.text or "")
            sources = (passage.document, *passage.names, label and label[1], passage.id)
            whole = [bare(one) for one in sources if one]
            self._places.append({place for one in whole if (place := _placed(one)[1])})
            for name in {*whole, *(_placed(one)[0] for one in whole)} - {""}:
                self._by_source.setdefault(name, []).append(index)
            self._words |= {_spaced(_placed(one)[0]) for one in sources if one}
        self.names_sources = any(one.document or one.names for one in passages) or any(
            _LABEL.match(one.text or "") for one in passages
        )

    def __contains__(self, name: object) -> bool:
        """Whether a name is that of a passage or of its document."""
        return isinstance(name, str) and bool(bare(name) in self._by_name or self._of_source(name))

    @cached_property
    def _sources(self) -> DocumentNames:
        return DocumentNames({name: name for name in self._by_source})

    @cached_property
    def _among_words(self) -> re.Pattern[str] | None:
        """Finds the longest name of a document among other words, which no letter or digit
        touches."""
        words = {one.rpartition("/")[2] for one in self._words} | self._words
        names = sorted((one for one in words if len(one) >= _SHORTEST), key=len, reverse=True)
        if not names:
            return None
        return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, names))})(?![a-z0-9])")

    def _of_source(self, citation: str) -> list[int]:
        name = bare(citation)
        if not name or name.isdecimal():
            return []
        found, place = self._sources.find(name), tuple[str, ...]()
        if not found:
            name, place = _placed(name)
            found = self._sources.find(name)
        text = _spaced(citation)
        if not found and self._among_words and (named := self._among_words.search(text)):
            found = self._sources.find(bare(named[0]))
            place = tuple(re.findall(r"\d+", text[named.end() :]))
        indices = {index for one in found for index in self._by_source[one]}
        return sorted(at for at in indices if not place or place in (self._places[at] or [place]))

    def find(self, citation: str) -> int | None:
        """The index of the first passage that a citation refers to; ``None`` where none was
        retrieved."""
        return next(iter(self.find_all(citation)), None)

    def find_all(self, citation: str) -> tuple[int, ...]:
        """The indices of the passages that a citation refers to: several where it names their
        document, none where none was retrieved."""
        name = bare(citation)
        index = self._by_name.get(name)
        if index is not None:
            return (index,)
        rank = number(citation)
        if rank is None:
            return tuple(self._of_source(citation))
        with_word = self._by_word_and_number.get(rank)
        if self._by_number:
            found = self._by_number.get(rank, with_word)
        elif 1 <= rank <= len(self.passages) and (name.isdecimal() or with_word is None):
            found = rank - 1
        else:
            found = with_word
        return () if found is None else (found,)

    @cached_property
    def _by_number(self) -> dict[int, int]:
        return self._numbered(with_word=False)

    @cached_property
    def _by_word_and_number(self) -> dict[int, int]:
        return self._numbered(with_word=True)

    def _numbered(self, with_word: bool) -> dict[int, int]:
        """The indices of the ids that are a number, or a word and a number."""
        indices: dict[int, int] = {}
        for name, index in self._by_name.items():
            numbered = number(name)
            if name.isdecimal() != with_word and numbered is not None and numbered < 10**_LONGEST:
                indices.setdefault(numbered, index)
        return indices
