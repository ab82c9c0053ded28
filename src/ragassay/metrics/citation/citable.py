"""Which passage a citation means, and what a passage is called in parts and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from ragassay.samples import Passage
from ragassay.texts import DocumentNames, held

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


_PLACE = re.compile(
    r"(?:#[^#]*|:\d+|[,;:]?"
    r"\(?(?:pp?\.|pages?|seiten?|第)\d+(?:[-–]\d+)?页?\)?)$",
    re.IGNORECASE,
)
"""The place in a document behind its bare name: ``guide.pdf#page=4``, ``guide.pdf:4``."""


def _place(name: str) -> tuple[str, ...]:
    """The numbers of the place in a document that a name in its `bare` form ends with."""
    found = _PLACE.search(name)
    return tuple(re.findall(r"\d+", found[0])) if found else ()


_CALLED = re.compile(rf"^{PREFIX}:", re.IGNORECASE)
"""The word before a name: ``Source: guide.pdf``, in its bare form."""

_LABEL = re.compile(r"\s*([^\s:][^:\n]{0,150}?\.[a-z]{2,5}(?:#[\w=.,-]+)?)\s*:\s", re.IGNORECASE)
"""The name of a file that a passage's text begins with."""

_SOURCE = re.compile(
    r"https?://\S+|[^\[\]|]{1,150}\.(?:pdf|docx?|pptx?|xlsx?|html?|md|markdown|txt|csv|json|xml|rst"
    r"|epub|odt|rtf)(?:[#?,:].*)?",
    re.IGNORECASE,
)


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
        for index, passage in enumerate(passages):
            if passage.id is not None:
                self._by_name.setdefault(bare(passage.id), index)
            label = _LABEL.match(passage.text or "")
            sources = (passage.document, *passage.names, label and label[1], passage.id)
            whole = [bare(one) for one in sources if one]
            self._places.append({place for one in whole if (place := _place(one))})
            for name in {*whole, *(_PLACE.sub("", one) for one in whole)} - {""}:
                self._by_source.setdefault(name, []).append(index)
        self.names_sources = any(one.document or one.names for one in passages) or any(
            _LABEL.match(one.text or "") for one in passages
        )

    def __contains__(self, name: object) -> bool:
        """Whether a name, in its `bare` form, is that of a passage or its source."""
        return isinstance(name, str) and bool(name in self._by_name or self._of_source(name))

    @cached_property
    def _sources(self) -> DocumentNames:
        return DocumentNames({name: name for name in self._by_source})

    def _of_source(self, name: str) -> list[int]:
        if not name or name.isdecimal():
            return []
        plain = _CALLED.sub("", name)
        found = self._sources.find(name)
        place = () if found else _place(plain)
        found = found or self._sources.find(_PLACE.sub("", plain))
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
            return tuple(self._of_source(name))
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
