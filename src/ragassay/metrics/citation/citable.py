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
"""Words that stand before the number of a citation: ``[doc 1]``, ``[source: 2]``."""

_NUMBERED = re.compile(rf"(?:{PREFIX}[\s:#_.\-]*|[dps]|[#^])?(\d+)", re.IGNORECASE)
_LONGEST = 3
"""Digits of a number that people cite by. Longer ones are keys of a database, or years."""


def bare(name: str) -> str:
    """A citation or id without brackets, case and white space: ``[Doc 1]`` and ``doc1`` are one."""
    return "".join(name.split()).strip("[](){}【】［］<>^\\").casefold()


def number(name: str) -> int | None:
    """The number by which a citation or id goes, where that is all it is (``[3]``, ``doc 3``)."""
    found = _NUMBERED.fullmatch(bare(name))
    return int(found[1]) if found and found[1].isascii() else None


def passage_keys(passages: Sequence[Passage]) -> tuple[str, ...]:
    """What each passage is called: its id, or its rank from 1 where it has none.

    Names are unique: a later passage with a name that is taken has its rank after it.
    """
    found: dict[str, None] = {}
    for rank, passage in enumerate(passages, start=1):
        name = passage.id if passage.id is not None else str(rank)
        while name in found:
            name = f"{name} (rank {rank})"
        found[name] = None
    return tuple(found)


class Citable:
    """A sample's passages as what an answer may cite.

    A citation means the passage with that id, brackets and case apart. Where no passage has it, a
    number is the rank (from 1), unless the ids themselves are numbers that people cite by (up to
    three digits): then a number that is no id names nothing that was retrieved.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids in their bare form."""
        return frozenset(self._by_name)

    def find(self, citation: str) -> int | None:
        """The index of the passage that a citation means; ``None`` where it was not retrieved."""
        found = self._by_name.get(bare(citation))
        if found is not None:
            return found
        rank = number(citation)
        if rank is None:
            return None
        if self._by_number:
            return self._by_number.get(rank)
        return rank - 1 if 1 <= rank <= len(self.passages) else None

    @cached_property
    def _by_name(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for index, passage in enumerate(self.passages):
            if passage.id is not None:
                found.setdefault(bare(passage.id), index)
        return found

    @cached_property
    def _by_number(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for name, index in self._by_name.items():
            numbered = number(name)
            if numbered is not None and numbered < 10**_LONGEST:
                found.setdefault(numbered, index)
        return found
