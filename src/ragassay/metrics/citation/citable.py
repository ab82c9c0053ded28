"""Which passage a citation means, and what a passage is called in parts and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    has the id, a number is the rank (from 1). But where the ids themselves are numbers of up to
    three digits, a number that is no id refers to nothing that was retrieved.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids in their bare form."""
        return frozenset(self._by_name)

    def find(self, citation: str) -> int | None:
        """The index of the passage that a citation refers to; ``None`` where it was not
        retrieved."""
        index = self._by_name.get(bare(citation))
        if index is not None:
            return index
        rank = number(citation)
        if rank is None:
            return None
        if self._by_number:
            return self._by_number.get(rank)
        return rank - 1 if 1 <= rank <= len(self.passages) else None

    @cached_property
    def _by_name(self) -> dict[str, int]:
        indices: dict[str, int] = {}
        for index, passage in enumerate(self.passages):
            if passage.id is not None:
                indices.setdefault(bare(passage.id), index)
        return indices

    @cached_property
    def _by_number(self) -> dict[int, int]:
        indices: dict[int, int] = {}
        for name, index in self._by_name.items():
            numbered = number(name)
            if numbered is not None and numbered < 10**_LONGEST:
                indices.setdefault(numbered, index)
        return indices
