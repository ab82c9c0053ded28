"""What a gate found, and the line that says so."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ragassay.stats.units import is_close

_MOST_DIGITS = 15
"""Decimal places of a number at most."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found.

    ``value`` is the mean or the one-sided bound that the gate asks about. ``passed`` is ``None``
    when it cannot be decided, and ``why`` says why not: n is too small, nothing was scored. Where
    ``unscored`` scores are missing that should be there (of two runs, also those of queries that
    the new one lacks), ``why`` counts them, also where the gate is decided. ``which`` is ``mean``,
    or the bound: ``low`` or ``high``, at the confidence level ``level``. ``low`` and ``high`` are
    the ends between which the gate was decided: both one-sided bounds, and what they and the mean
    are with the worst and the best values for missing scores. Of a gate on a drop, ``drop`` is the
    observed one, above 0 for the worse, and ``limit`` the largest that is allowed. ``metrics`` are
    those that the gate speaks of (its own, or those that are or may be worse), ``threshold`` is
    what the mean, the bound or the difference is compared with.
    """

    gate: str
    value: float | None
    passed: bool | None
    unscored: int = 0
    why: str = ""
    which: str = "mean"
    level: float = 0.95
    low: float | None = None
    high: float | None = None
    drop: float | None = None
    limit: float | None = None
    metrics: tuple[str, ...] = ()
    threshold: float | None = None

    @property
    def drop_bounds(self) -> tuple[float | None, float | None]:
        """Of a gate on a drop: ``low`` and ``high`` as bounds of it, above 0 for the worse."""
        if self.which == "high":  # lower is better: the difference is the drop
            return self.low, self.high
        low, high = (None if end is None else 0.0 - end for end in (self.high, self.low))
        return low, high

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        state = {True: "passed", False: "FAILED", None: "undecided"}[self.passed]
        drop, ends, bounds = "", "", ""
        low, high = (self.low, self.high) if self.limit is None else self.drop_bounds
        if low is not None and high is not None:
            ends = f"{self.rounded(low)} and {self.rounded(high)}"
        if self.limit is not None and self.drop is not None:
            gained = self.drop < 0.0
            change = f"gain of {-self.drop:.4f}" if gained else f"drop of {self.rounded(self.drop)}"
            allowed = f"a drop of {self.limit:g}" if gained else f"{self.limit:g}"
            drop = f"a {change} where {allowed} is allowed"
        if self.which == "mean" and self.value is not None:
            between = f", between {ends} with the missing scores" if ends else ""
            bounds = f"mean {self.rounded(self.value)}{between}"
        elif ends:
            of = " of the drop" if self.limit is not None else ""
            assumed = " with the worst and the best values for missing scores"
            bounds = f"one-sided {100 * self.level:.4g} % bounds{of} {ends}"
            bounds += assumed if self.unscored else ""
        facts = "; ".join(filter(None, (drop, bounds, self.why)))
        return f"gate {self.gate}: {', '.join(filter(None, (state, facts)))}"

    def rounded(self, value: float) -> str:
        """A value with four digits, or with as many as show on which side of the gate's threshold
        it lies: 0.69996 is not 0.7."""
        # A drop of 0.02 is a change by -0.02.
        threshold = value if self.threshold is None else math.copysign(self.threshold, value)
        digits = 4
        if not is_close(value, threshold):
            while digits < _MOST_DIGITS and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
                digits += 1
        return f"{value:.{digits}f}"

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self)
