"""Samples for which the sign-flip interval is too narrow, and how it is widened.

Two kinds of samples show too little spread:

- **Ties.** Fourteen equal differences, or twenty ties, show no spread, but clusters that differ may
  have been missed. How much these could change is bounded: the mean of what lies above the common
  value, and of what lies below it, are each a mean of scores in a known range (most of them 0),
  whose bounds `ragassay.stats.bounded` gives. The two are combined as for a difference of
  independent estimates (method of variance estimates recovery): each side's distance from its
  estimate, squared, summed, and the root.
- **Skewness.** The test assumes that differences are symmetrical about their mean. A few large
  gains among small differences are not: its interval then ends too early on the side of the longer
  tail. Where the skewness of the sample exceeds 1, the interval is widened to hold that of a mean
  of scores without a range (`ragassay.stats.bounded.skewed_bounds`), with the skewness corrected
  because a small sample of a skewed distribution shows too little of it. Samples of symmetrical
  differences are rarely that skewed (of 20 normal ones 4 in 100), so they lose hardly any power.

Source: G. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
approach", Statistics in Medicine 27 (2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.bounded import range_bounds, skewed_bounds
from ragassay.stats.intervals import Span
from ragassay.stats.units import ROUNDING, FloatArray, IntArray, Units

_SKEWED = 1.0
"""Skewness of a sample beyond which the interval is widened for it."""

_SHORTFALL = 20.0
"""The skewness is enlarged by the share of this over n. The skewness of n exponential values is
1 / (1 + 10 / n) of the distribution's; mixtures of a few large gains and small differences need
twice that (``benchmarks/coverage.py``)."""

_P_STEPS = 30
_SLACK = 1.0 + 1e-6
"""An interval is taken at this multiple of a test's level: where it ends at 0 at that very level,
rounding must not decide whether it holds 0."""
_LEAST_CONFIDENCE = 1e-9


class Widening(NamedTuple):
    """An interval of one row's mean difference, which the test's interval must hold.

    Attributes:
        cause: why the test's interval is too narrow.
        interval: bounds of the mean difference at a confidence level in (0, 1).
    """

    cause: str
    interval: Callable[[float], tuple[float, float]]


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
    wider: dict[int, Widening] = {}
    for row, (low, high) in enumerate(spans):
        columns = np.flatnonzero(scored[row])
        if columns.size < 2:
            continue
        values = differences[row, columns]
        seen = float(np.abs(values).max())
        units = Units.of(values, None if codes is None else codes[columns])
        if units.n_units < 2:
            continue
        possible = 2 * seen if low is None or high is None else max(high - low, seen)
        if mostly_ties(units.sums, units.counts, possible):
            ties = Ties(units.sums, units.counts, possible)
            wider[row] = Widening("ties", ties.interval)
        elif abs(skewness(units)) > _SKEWED:
            wider[row] = Widening("skewness", partial(_skewed, units))
    return wider


def interval_of_test(widening: Widening, level: float) -> tuple[float, float]:
    """The widened interval that belongs to a test.

    Args:
        widening: the interval of the row.
        level: level of the test, in (0, 1): 0.05 for a 95 % interval.

    Returns:
        Lower and upper bound of the mean difference.
    """
    return widening.interval(max(1.0 - level * _SLACK, _LEAST_CONFIDENCE))


def widened_p_value(widening: Widening, p_value: float) -> float:
    """The p-value that belongs to a widened interval.

    Args:
        widening: the interval that has to be held.
        p_value: that of the test whose interval is widened, in (0, 1].

    Returns:
        The smallest level from ``p_value`` on at which the interval does not hold 0; 1 where it
        always does.
    """
    if not _holds_zero(widening, p_value):
        return p_value
    holds, excludes = math.log(p_value), 0.0
    for _ in range(_P_STEPS):
        middle = (holds + excludes) / 2.0
        if _holds_zero(widening, math.exp(middle)):
            holds = middle
        else:
            excludes = middle
    return math.exp(excludes)


def _holds_zero(widening: Widening, level: float) -> bool:
    low, high = interval_of_test(widening, level)
    return low <= 0.0 <= high


def skewness(units: Units) -> float:
    """Skewness of the units' residuals, 0 where they are equal."""
    residuals = units.residuals
    largest = float(np.abs(residuals).max())
    if largest == 0.0:
        return 0.0
    scaled = residuals / largest
    return float((scaled**3).mean() / (scaled**2).mean() ** 1.5)


def _skewed(units: Units, level: float) -> tuple[float, float]:
    """Student's t interval of skewed differences, moved outwards on the side of the longer tail."""
    wide = skewed_bounds(units, level)
    return (-math.inf, math.inf) if wide is None else wide


class Ties:
    """The interval of differences by cluster most of which are equal.

    Args:
        sums: sum of the differences in each cluster, shape ``(n_clusters,)``.
        sizes: pairs in each cluster, at least 1, same shape.
        possible: the largest possible absolute difference. After k differences other than the
            common one, the next such difference exceeds all of them with a chance of 1 / (k + 1).
            So the largest expected difference is the largest observed one plus this share of the
            rest up to ``possible``.
    """

    def __init__(self, sums: FloatArray, sizes: FloatArray, possible: float) -> None:
        means = sums / sizes
        common = _most_common(means, possible)
        sides = np.stack([means - common, common - means])
        sides[sides <= ROUNDING * max(possible, 1.0)] = 0.0
        seen = float(np.abs(means).max())
        n_others = int((sides > 0.0).any(axis=0).sum())
        self._common = common
        self._largest = seen + (possible - seen) / (n_others + 1)
        rooms = (self._largest - common, self._largest + common)
        self._sides = [
            (Units(side * sizes, sizes, abs(room)), max(room, float(side.max())))
            for side, room in zip(sides, rooms, strict=True)
        ]

    def interval(self, level: float) -> tuple[float, float]:
        """Bounds of the mean difference, within the largest expected difference."""
        (up, up_low, up_high), (down, down_low, down_high) = (
            _side(units, room, level) for units, room in self._sides
        )
        mean = self._common + up - down
        low = mean - math.hypot(up - up_low, down_high - down)
        high = mean + math.hypot(up_high - up, down - down_low)
        return max(low, -self._largest), min(high, self._largest)


def _side(units: Units, room: float, level: float) -> tuple[float, float, float]:
    """Mean of the deviations on one side of the common value, which are at most ``room``, and its
    bounds."""
    if room <= 0.0:
        return 0.0, 0.0, 0.0
    return units.mean, *range_bounds(units, 0.0, room, level)


def mostly_ties(sums: FloatArray, sizes: FloatArray, possible: float) -> bool:
    """Whether more than half of the clusters have the same mean difference.

    Args:
        sums: sum of the differences in each cluster, shape ``(n_clusters,)``.
        sizes: pairs in each cluster, same shape.
        possible: the largest possible absolute difference.
    """
    means = sums / sizes
    same = np.abs(means - _most_common(means, possible)) <= ROUNDING * max(possible, 1.0)
    return bool(same.mean() > 0.5)


def _most_common(means: FloatArray, possible: float) -> float:
    """The value that most clusters have, up to rounding."""
    digits = np.round(means / (possible or 1.0), 11)
    values, first, counts = np.unique(digits, return_index=True, return_counts=True)
    return float(means[first[int(np.argmax(counts))]]) if values.size else 0.0
