"""Counts planned questions: each distinct one once in each line that asks it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ragassay.engine.plan.cost_estimate import Amount, Range
from ragassay.judges import Demand

TOTAL = 0b11
"""The line of the whole run in a `RequestCounter`."""


def ends(mask: int) -> tuple[int, int]:
    """A mask split into its lower and its upper ends."""
    below = int("01" * (mask.bit_length() // 2 + 1), 2)
    return mask & below, mask & (below << 1)


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    held: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, demand: Demand) -> None:
        self.calls += demand.calls
        self.held += demand.held
        self.input_tokens += demand.input_tokens
        self.output_tokens += demand.output_tokens
        self.cost += demand.cost
        self.unpriced += demand.unpriced


class RequestCounter:
    """Counts each distinct question once in each line. A line is two bits: lower end, upper end."""

    def __init__(self) -> None:
        self._tallies = [_Tally(), _Tally()]
        self._seen: dict[int, int] = {}
        self._masks: dict[int, int] = {}  # equal masks are one object
        self._kinds: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def line(self) -> int:
        """A new line's mask."""
        self._tallies += [_Tally(), _Tally()]
        return 0b11 << (len(self._tallies) - 2)

    def enter(self, name: str, demand: Demand, mask: int) -> None:
        """Counts a question in each line of ``mask`` that does not have it yet.

        Args:
            name: id of the question.
            demand: what it takes.
            mask: bits of the lines that ask it.
        """
        key = hash(name)  # the text's own 64 bits; the text itself would take twice the memory
        seen = self._seen.get(key, 0)
        new = mask & ~seen
        if not new:
            return
        both = seen | mask
        self._seen[key] = self._masks.setdefault(both, both)
        for end in (0, 1):
            if new & 1 << end:
                self._kinds[end][demand.kind] += demand.calls
        while new:
            lowest = new & -new
            self._tallies[lowest.bit_length() - 1].add(demand)
            new ^= lowest

    def amount(self, line: int) -> Amount:
        """What a line adds up to."""
        at = line.bit_length() - 2
        # Lower ends of different metrics may share less than their upper ends do.
        low, high = sorted(self._tallies[at : at + 2], key=lambda tally: tally.calls + tally.held)
        priced = not (low.unpriced or high.unpriced)
        return Amount(
            _range(low.calls, high.calls),
            _range(low.held, high.held),
            _range(low.input_tokens, high.input_tokens),
            _range(low.output_tokens, high.output_tokens),
            _range(round(low.cost, 9), round(high.cost, 9)) if priced else None,
        )

    def kinds(self) -> dict[str, Range]:
        """Requests to send by kind of question, most first."""
        low, high = self._kinds
        requests = {kind: _range(low[kind], high[kind]) for kind in high | low}
        return dict(sorted(requests.items(), key=lambda item: (-item[1].high, item[0])))


def _range(one: float, other: float) -> Range:
    return Range(min(one, other), max(one, other))
