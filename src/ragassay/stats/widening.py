"""Where the sign-flip interval is too narrow, and how far it reaches then.

Two kinds of samples show less spread than there is:

- **Ties.** Fourteen equal differences, or twenty ties, show no spread, but clusters that differ may
  have been missed. How many is bounded as in any sample of yes and no: the mean of what lies above
  the common value, and of what lies below it, are each a mean of scores in a known range (most of
  them 0), whose bounds `ragassay.stats.bounded` gives. The two are combined as for a difference of
  independent estimates (method of variance estimates recovery): each side's distance from its
  estimate, squared, summed, and the root.
- **Skewness.** The test assumes that differences are symmetrical about their mean. A few large
  gains among small differences are not: its interval then ends too early on the side of the longer
  tail. Where the skewness of the sample exceeds 1, the interval reaches at least as far as that of
  a mean of scores without a range (`ragassay.stats.bounded.skewed_bounds`). Samples of symmetrical
  differences are rarely that skewed (of 20 normal ones 4 in 100), so they lose next to nothing.

Source: G. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
approach", Statistics in Medicine 27 (2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.bounded import range_bounds, skewed_bounds
from ragassay.stats.intervals import Span
from ragassay.stats.units import ROUNDING, FloatArray, IntArray, Units

_SKEWED = 1.0
"""Skewness of a sample beyond which the interval is widened for it."""

_P_STEPS = 30
_SMALLEST_P = 1e-12


class Widening(Protocol):
    """An interval of one row's mean difference, which the test's interval must hold."""

    cause: str

    def interval(self, level: float) -> tuple[float, float]:
        """Bounds of the mean difference at a confidence level in (0, 1)."""


def widenings(
    differences: FloatArray,
    scored: NDArray[np.bool_],
    codes: IntArray | None,
    spans: Sequence[Span],
) -> dict[int, Widening]:
    """The rows whose interval has to be widened, by row number.

    Args:
        differences: one row a metric, shape ``(n_rows, n)``.
        scored: where there is a pair, same shape.
        codes: cluster of each column, where there are clusters.
        spans: lowest and highest score of each row's metric, where there are such.
    """
    found: dict[int, Widening] = {}
    for row, (low, high) in enumerate(spans):
        columns = np.flatnonzero(scored[row])
        if columns.size < 2:
            continue
        values = differences[row, columns]
        seen = float(np.abs(values).max())
        units = Units.of(
            values[None, :], None if codes is None else codes[columns], np.array([seen])
        )
        if units.n_units < 2:
            continue
        reach = 2 * seen if low is None or high is None else max(high - low, seen)
        if mostly_ties(units.sums[0], units.counts, reach):
            found[row] = Ties(units.sums[0], units.counts, reach)
        elif abs(skewness(units)) > _SKEWED:
            found[row] = Skewness(units)
    return found


def smallest_level(widening: Widening) -> float:
    """The p-value that belongs to an interval: the smallest level of a test at which it does not
    hold 0; 1 where it always does."""
    holds, excludes = math.log(_SMALLEST_P), 0.0
    for _ in range(_P_STEPS):
        middle = (holds + excludes) / 2.0
        low, high = widening.interval(1.0 - math.exp(middle))
        holds, excludes = (middle, excludes) if low <= 0.0 <= high else (holds, middle)
    return math.exp(excludes)


def skewness(units: Units) -> float:
    """Skewness of the units' residuals, 0 where they are equal."""
    residuals = units.residuals[0]
    largest = float(np.abs(residuals).max())
    if largest == 0.0:
        return 0.0
    scaled = residuals / largest
    return float((scaled**3).mean() / (scaled**2).mean() ** 1.5)


class Skewness:
    """Skewed differences of a row that is not mostly ties."""

    cause = "skewness"

    def __init__(self, units: Units) -> None:
        self._units = units

    def interval(self, level: float) -> tuple[float, float]:
        """Student's t interval, moved outwards on the side of the longer tail."""
        found = skewed_bounds(self._units, 0, level)
        return (-math.inf, math.inf) if found is None else found


class Ties:
    """Differences by cluster most of which are equal.

    Args:
        sums: of the differences in each cluster, shape ``(n_clusters,)``.
        sizes: pairs in each cluster, at least 1, same shape.
        reach: the largest possible size of a difference. Of the k differences that are not the
            common one, the next is larger than all with a chance of 1 / (k + 1); so what was seen
            counts, and this share of what is possible beyond it.
    """

    cause = "ties"

    def __init__(self, sums: FloatArray, sizes: FloatArray, reach: float) -> None:
        means = sums / sizes
        self._common = _most_common(means, reach)
        seen = float(np.abs(means).max())
        n_others = int((np.abs(means - self._common) > ROUNDING * max(reach, 1.0)).sum())
        reach = seen + (reach - seen) / (n_others + 1)
        self._reach = reach
        above = np.maximum(means - self._common, 0.0)
        below = np.maximum(self._common - means, 0.0)
        noise = ROUNDING * max(reach, 1.0)
        sides = np.where(np.stack([above, below]) <= noise, 0.0, np.stack([above, below]))
        scale = np.array([reach - self._common, reach + self._common])
        self._units = Units(sides * sizes, sizes, np.abs(scale))
        self._room = np.maximum(scale, sides.max(axis=1))

    def interval(self, level: float) -> tuple[float, float]:
        """Bounds of the mean difference, within the possible ones."""
        (up, up_low, up_high), (down, down_low, down_high) = (
            self._side(row, level) for row in (0, 1)
        )
        mean = self._common + up - down
        low = mean - math.hypot(up - up_low, down_high - down)
        high = mean + math.hypot(up_high - up, down - down_low)
        return max(low, -self._reach), min(high, self._reach)

    def _side(self, row: int, level: float) -> tuple[float, float, float]:
        """Mean of what lies on one side of the common value, and its bounds."""
        room, mean = float(self._room[row]), float(self._units.means[row])
        if room <= 0.0:
            return 0.0, 0.0, 0.0
        return mean, *range_bounds(self._units, row, 0.0, room, level)


def mostly_ties(sums: FloatArray, sizes: FloatArray, reach: float) -> bool:
    """Whether more than half of the clusters have the same mean difference."""
    means = sums / sizes
    same = np.abs(means - _most_common(means, reach)) <= ROUNDING * max(reach, 1.0)
    return bool(same.mean() > 0.5)


def _most_common(means: FloatArray, reach: float) -> float:
    """The value that most clusters have, up to rounding."""
    digits = np.round(means / (reach or 1.0), 11)
    values, first, counts = np.unique(digits, return_index=True, return_counts=True)
    return float(means[first[int(np.argmax(counts))]]) if values.size else 0.0
