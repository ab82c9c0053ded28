"""How far the mean of differences may lie from what was seen, where most of them are the same.

Fourteen equal differences, or twenty ties, show no spread: the sign-flip interval is then a point,
or close to one. But clusters that differ may have been missed. How many is bounded as in any sample
of yes and no: the mean of what lies above the common value, and of what lies below it, are each a
mean of scores in a known range (most of them 0), whose bounds `ragassay.stats.bounded` gives. The
two are combined as for a difference of independent estimates (method of variance estimates
recovery): each side's distance from its estimate, squared, summed, and the root.

Source: G. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
approach", Statistics in Medicine 27 (2008).
"""

from __future__ import annotations

import math

import numpy as np

from ragassay.stats.bounded import range_bounds
from ragassay.stats.units import ROUNDING, FloatArray, Units

_P_STEPS = 30
_SMALLEST_P = 1e-12


class Ties:
    """Differences by cluster most of which are equal.

    Args:
        sums: of the differences in each cluster, shape ``(n_clusters,)``.
        sizes: pairs in each cluster, at least 1, same shape.
        reach: the largest possible size of a difference. Of the k differences that are not the
            common one, the next is larger than all with a chance of 1 / (k + 1); so what was seen
            counts, and this share of what is possible beyond it.
    """

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

    def p_value(self) -> float:
        """The smallest level at which the interval does not hold 0; 1 where it always does."""
        holds, excludes = math.log(_SMALLEST_P), 0.0
        for _ in range(_P_STEPS):
            middle = (holds + excludes) / 2.0
            low, high = self.interval(1.0 - math.exp(middle))
            holds, excludes = (middle, excludes) if low <= 0.0 <= high else (holds, middle)
        return math.exp(excludes)


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
