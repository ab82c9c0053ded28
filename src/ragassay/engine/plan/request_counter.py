"""Counts planned questions: each distinct one once in each line that asks it."""

from __future__ import annotations

import math

from ragassay.engine.plan.cost_estimate import Amount, Range
from ragassay.judges import Demand


class RequestCounter:
    """Adds up the demands of distinct questions, line by line.

    A line is two bits of a number: questions that are certain, and questions that are possible. A
    set of lines is the sum of their lower bits.
    """

    def __init__(self) -> None:
        self._tallies: list[list[float]] = []
        self._lines: dict[tuple[str, str], int] = {}
        self._seen: dict[int, int] = {}
        self._masks: dict[int, int] = {}  # equal masks are one object

    def line(self, group: str, name: str = "") -> int:
        """The lower bit of a line, which is made where it is new."""
        if (group, name) not in self._lines:
            self._lines[group, name] = 1 << len(self._tallies)
            self._tallies += [[0.0] * 6, [0.0] * 6]
        return self._lines[group, name]

    def enter(self, name: str, demand: Demand, lines: int, *, certain: bool) -> None:
        """Counts a question in each line that does not have it yet.

        Args:
            name: id of the question.
            demand: what it takes.
            lines: those that ask it.
            certain: whether it is asked whatever the judge says; else it may be.
        """
        key = hash(name)  # the text's own 64 bits; the text itself would take twice the memory
        seen, mask = self._seen.get(key, 0), lines * (3 if certain else 2)
        new = mask & ~seen
        if new:
            self._seen[key] = self._masks.setdefault(seen | mask, seen | mask)
        while new:
            tally = self._tallies[(new & -new).bit_length() - 1]
            tally[0] += demand.calls
            tally[1] += demand.held
            tally[2] += demand.input_tokens
            tally[3] += demand.output_tokens
            tally[4] += demand.cost
            tally[5] += demand.unpriced
            new &= new - 1

    def amounts(self, group: str, factor: float) -> dict[str, Amount]:
        """What the lines of a group add up to, by their names.

        Args:
            group: of lines.
            factor: how many times as much data the amount is for; counts are rounded outwards.
        """
        return {
            name: self._amount(line.bit_length() - 1, factor)
            for (of, name), line in self._lines.items()
            if of == group
        }

    def _amount(self, at: int, factor: float) -> Amount:
        ends = list(zip(*self._tallies[at : at + 2], strict=True))
        calls, held, sent, received = (
            Range(math.floor(low * factor), math.ceil(up * factor)) for low, up in ends[:4]
        )
        dollars = Range(*(round(end * factor, 9) for end in ends[4]))
        return Amount(calls, held, sent, received, None if any(ends[5]) else dollars)
