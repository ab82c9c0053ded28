"""What a synthesis is asked for, what it would ask, and what it gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragassay.base.counts import grouped
from ragassay.base.sample import Sample
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.asking import Usage
from ragassay.synthesis.draft import Rejection
from ragassay.synthesis.filters import WORDS
from ragassay.synthesis.mix import Mix

OFFLINE = "offline"
"""The word for the generator by rules and for the embedded judge."""
PILOT = 20
"""Items of a pilot."""


@dataclass(frozen=True)
class Wish:
    """What is to be synthesized.

    Attributes:
        n: items that ``output`` is to hold in the end, those made before included.
        generator, checker: ``offline``, a judge's word, or a target's.
        given: queries that only need answers; then ``n`` and ``mix`` do not count.
        words: fewest and most words of a query.
        pilot: only the first 20, for review.
    """

    documents: Path
    output: Path
    n: int = 200
    generator: str = OFFLINE
    checker: str = OFFLINE
    mix: Mix = field(default_factory=lambda: Mix.parse(()))
    seed: int = 0
    guide: str = ""
    like: Path | None = None
    real: Sequence[str] = ()
    given: Sequence[Sample] = ()
    answers: bool = True
    words: tuple[int, int] = WORDS
    same_model: bool = False
    pilot: bool = False
    skip_unreadable: bool = False

    @property
    def target(self) -> int:
        """Items that the folder is to hold after this run."""
        return min(PILOT, self.n) if self.pilot else self.n


@dataclass(frozen=True)
class Outcome:
    """What a synthesis gave.

    Attributes:
        total: synthetic items in the folder, rejected ones left out.
        n_drafts: that were written, or asked for in vain, in this run.
        against: why drafts of this run are no items; also of those that nobody was asked for.
        n_lines: of ``rejected.jsonl`` now; 0 where nothing was written.
    """

    items: Sequence[GoldenItem]
    total: int
    n_drafts: int
    against: Sequence[Rejection]
    usage: Usage
    n_lines: int = 0

    @property
    def rejections(self) -> list[Rejection]:
        """The drafts with which something is wrong."""
        return [one for one in self.against if not one.unasked and one.why != "not-chosen"]

    @property
    def unasked(self) -> list[Rejection]:
        """The drafts that nobody was asked for or about, because nothing more was sent."""
        return [one for one in self.against if one.unasked]

    @property
    def n_not_chosen(self) -> int:
        """Drafts with which nothing is wrong, and that became no item."""
        return sum(one.why == "not-chosen" for one in self.against)

    @property
    def stopped(self) -> bool:
        """Whether a passing reason kept drafts from being written or checked."""
        return any(one.passing for one in self.against)

    def reasons(self) -> dict[str, int]:
        """Kinds of rejection with their drafts, the most frequent first."""
        return dict(Counter(one.why for one in self.rejections).most_common())

    def frequent(self, most: int) -> list[tuple[Rejection, int]]:
        """The most frequent reasons, each by the first draft that has it. Reasons that differ only
        in numbers and quotations are one."""
        groups = grouped(((one.why, _QUOTED.sub("", one.detail)), one) for one in self.rejections)
        ranked = sorted(groups.values(), key=len, reverse=True)
        return [(group[0], len(group)) for group in ranked[:most]]


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+")
"""What differs between reasons that are alike."""
