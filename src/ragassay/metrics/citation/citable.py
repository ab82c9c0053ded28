"""Which passage a citation means, and what a passage is called in parts and columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cached_property

from ragassay.samples import Passage

PREFIX = (
    r"(?:documents?|docs?|passages?|sources?|src|references?|refs?|contexts?|chunks?|citations?"
    r"|cites?|snippets?|results?|ids?)"
)
"""Words before the number of a citation: ``[doc 1]``, ``[source: 2]``."""

_NUMBERED = re.compile(rf"(?:{PREFIX}[\s:#_.\-]*|[dps]|[#^])?(\d+)", re.IGNORECASE)
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


class Citable:
    """The passages of a sample, to which an answer's citations refer.

    A citation refers to the passage with that id; brackets and case do not matter. Where no passage
    has the id, these rules hold in turn:

    - Where ids are numbers of up to three digits (``[2]``, ``7``), a number is an id and no rank;
      one that is no id refers to nothing that was retrieved.
    - A number with a word (``[doc 2]``) is that of an id with a word and a number (``doc-2``).
    - A number is the rank, from 1: prompts count passages, whatever these are called (``p0``).
    - A number that is no rank is that of an id with a word and a number: ``[12]`` means ``doc-12``.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._by_name: dict[str, int] = {}
        for index, passage in enumerate(passages):
            if passage.id is not None:
                self._by_name.setdefault(bare(passage.id), index)

    @property
    def ids(self) -> Collection[str]:
        """The ids in their bare form."""
        return self._by_name

    def find(self, citation: str) -> int | None:
        """The index of the passage that a citation refers to; ``None`` where it was not
        retrieved."""
        name = bare(citation)
        index = self._by_name.get(name)
        if index is not None:
            return index
        rank = number(citation)
        if rank is None:
            return None
        with_word = self._by_word_and_number.get(rank)
        if self._by_number:
            return self._by_number.get(rank, with_word)
        if 1 <= rank <= len(self.passages) and (name.isdecimal() or with_word is None):
            return rank - 1
        return with_word

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
