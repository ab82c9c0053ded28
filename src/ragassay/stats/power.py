"""The smallest true difference that a comparison of this size finds with a given power.

Clusters are drawn with weights that make their mean that difference (exponential tilting), and the
sign-flip test is applied to each draw. Source: Efron, Canadian Journal of Statistics 9 (1981).
"""

from __future__ import annotations

import math

import numpy as np

from ragassay.stats.distributions import normal_cdf, normal_ppf
from ragassay.stats.intervals import FloatArray, Units

_DRAWS = 250
_STEPS = 8
_EXACT = 8  # clusters of which all patterns of signs are counted; of more, as many random ones
_MOST_DRAWN = 40  # where more clusters differ in a draw, sums are taken for normally distributed
_STEEPEST = 500.0  # largest exponent of a weight: all of it lies on one cluster then


def detectable(
    units: Units, *, halves: bool, alpha: float = 0.05, power: float = 0.8, seed: int = 0
) -> float | None:
    """The smallest true mean difference, in the direction of the observed one, that the two-sided
    sign-flip test finds with a given power in so many clusters. ``units`` are the differences by
    cluster; with ``halves`` ties count half. ``None`` with fewer than two clusters, where all are
    equal, or where no mean that these clusters can have is found with that power."""
    total = float(units.sums.sum())
    # Where neither direction is observed, swapping the systems must not change the result.
    down = total < 0.0 or (total == 0.0 and sorted(-units.sums) > sorted(units.sums))
    sums = -units.sums if down else units.sums
    order = np.lexsort((units.counts, sums))
    sums, counts = sums[order], units.counts[order]
    most = float((sums / counts).max(initial=0.0))
    if units.n_units < 2 or most <= 0.0 or not units.residuals.any():
        return None

    chance = _Chance(sums, alpha, halves, seed)

    def found(difference: float) -> bool:
        return chance.of_finding(_tilted(sums - difference * counts)) >= power

    # Six standard errors are found nearly always, whatever the difference.
    error = math.sqrt(float((sums**2).sum())) / units.n_values
    low, high = 0.0, min(6.0 * error, most)
    if not found(high * (1.0 - 1e-9)):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if found(middle) else (middle, high)
    # Clusters vary more than those drawn do about their own mean: n - 1 degrees of freedom.
    return min(high * math.sqrt(units.n_units / (units.n_units - 1)), most)


def _tilted(residuals: FloatArray) -> FloatArray:
    """Weights of the clusters, ``exp(c * residual)`` up to a factor, whose mean residual is 0."""
    scaled = residuals / np.abs(residuals).max()
    low, high = -_STEEPEST, _STEEPEST
    for _ in range(50):
        slope = (low + high) / 2.0
        exponents = slope * scaled
        weights = np.exp(exponents - exponents.max())
        low, high = (low, slope) if float(weights @ scaled) > 0.0 else (slope, high)
    return np.asarray(weights / weights.sum())


class _Chance:
    """How often the test finds a difference in draws of as many clusters."""

    def __init__(self, sums: FloatArray, alpha: float, halves: bool, seed: int) -> None:
        self._sums, self._differ = sums, sums != 0.0
        self._alpha, self._halves, self._seed = alpha, halves, seed
        most = min(sums.size, 2 * _MOST_DRAWN)
        rng = np.random.default_rng(seed)
        self._drawn = rng.random((_DRAWS, most))
        patterns = np.arange(2**_EXACT)
        signs = [1.0 - 2.0 * (patterns >> bit & 1) for bit in range(min(most, _EXACT))]
        signs += list(rng.choice((-1.0, 1.0), size=(max(most - _EXACT, 0), patterns.size)))
        self._signs = np.array(signs)

    def of_finding(self, weights: FloatArray) -> float:
        """The share of draws, cluster i with the chance ``weights[i]``, with a finding."""
        n, sums = self._sums.size, self._sums
        values, shares = sums[self._differ], weights[self._differ]
        share = min(float(shares.sum()), 1.0)
        if n * share > _MOST_DRAWN:
            mean, square = float(weights @ sums), float(weights @ sums**2)
            beyond = n * mean + normal_ppf(self._alpha / 2.0) * math.sqrt(n * square)
            return normal_cdf(beyond / math.sqrt(n * max(square - mean * mean, 1e-300)))
        numbers = np.random.default_rng(self._seed).binomial(n, share, size=_DRAWS)
        most = max(int(numbers.max()), 1)
        at = np.searchsorted(np.cumsum(shares / share), self._drawn[:, :most])
        draws = values[at.clip(max=values.size - 1)]
        draws[np.arange(most) >= numbers[:, None]] = 0.0  # the other clusters do not differ
        observed = np.abs(draws.sum(axis=1, keepdims=True))
        flipped = np.abs(draws @ self._signs[:most])
        slack = 1e-9 * np.abs(draws).sum(axis=1, keepdims=True)
        p = (flipped >= observed - slack).mean(axis=1)
        if self._halves:
            p = (p + (flipped > observed + slack).mean(axis=1)) / 2.0
        return float((p <= self._alpha).mean())
