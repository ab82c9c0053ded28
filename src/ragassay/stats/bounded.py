"""Bounds of a mean of scores, at any number of samples.

0/1 scores have Clopper and Pearson's bounds; other scores in a range count as ``n / (v d)`` of
these. With m for the mean, and the range taken as 0 to 1: v is a score's variance over m(1 - m), at
most 1; d, the design effect of clusters, is ``1 + icc (K - 1)``, K being the sum of squared sizes
over n, at most K. Both are estimated, so v is enlarged by (t / z)^2 and d by t / z, where t has
k + 1 degrees of freedom (at most clusters - 1). k says how many clusters the spread rests on:
``sum(D)^2 / sum(D^2)`` of the clusters' distances D from the end of the range with the smaller k.
The 1 is a cluster believed beforehand, with an icc of 0.2. The variance is no smaller than if one
more score lay half a percent of the range away. Where all scores are equal, v is 1 and d is K.

Sources: Clopper and Pearson, Biometrika 26 (1934); Korn and Graubard, Survey Methodology 24 (1998),
for the effective n and (t / z)^2; Kish, "Survey Sampling" (1965), for d and K.
"""

from __future__ import annotations

import math

import numpy as np

from ragassay.stats.distributions import beta_ppf, normal_ppf, t_ppf
from ragassay.stats.units import FloatArray, Units

_BELIEVED_ICC = 0.2  # correlation inside the one cluster that is believed beforehand
_LEAST_SPREAD = 0.005  # how far from all others one more score may lie, as a share of the range
_FEW, _CROWDED = 3.0, 0.1  # values are crowded where k is below the first, and v below the second
# Effective successes and failures from which beta and normal bounds agree to 1 % of the width.
_NORMAL_FROM = 1e4


def range_bounds(units: Units, low: float, high: float, level: float) -> tuple[float, float]:
    """Lower and upper bound of the mean of two units or more, inside the range of the values (low <
    high), at a level for both bounds together."""
    mean = min(max((units.mean - low) / (high - low), 0.0), 1.0)
    z = normal_ppf((1.0 + level) / 2.0)
    trials = units.n_values / _average_size(units)
    if units.within or _between(units):
        k = _distant(units, low, high)
        t = t_ppf((1.0 + level) / 2.0, min(k + 1.0, units.n_units - 1.0))
        effect = min(_design_effect(units, k) * t / z, _average_size(units))
        variance = min(_variance(units, low, high, k) * (t / z) ** 2, 1.0)
        trials = units.n_values / (variance * effect)
    if trials * min(mean, 1.0 - mean) > _NORMAL_FROM:
        reach = z * math.sqrt(mean * (1.0 - mean) / trials)
        bounds = max(mean - reach, 0.0), min(mean + reach, 1.0)
    else:
        bounds = beta_bounds(trials * mean, trials * (1.0 - mean), level)
    width = high - low
    return low + width * min(bounds[0], mean), low + width * max(bounds[1], mean)


def is_crowded(units: Units, low: float, high: float) -> bool:
    """Whether nearly all values lie so close to one end that the bounds may be too close."""
    k = _distant(units, low, high)
    return 0.0 < k < min(_FEW, units.n_units / 2.0) and _variance(units, low, high, k) < _CROWDED


def _distant(units: Units, low: float, high: float) -> float:
    """The k of the formula above."""
    from_ends = (units.sums - low * units.counts, high * units.counts - units.sums)
    return min(_equal_parts(np.maximum(distances, 0.0)) for distances in from_ends)


def _variance(units: Units, low: float, high: float, k: float) -> float:
    """The v of the formula above, for values that differ."""
    mean, width, n = (units.mean - low) / (high - low), high - low, units.n_values
    squares = (units.within + _between(units)) / width**2 + _LEAST_SPREAD**2
    # Squared distances are from the mean of these values, which is nearer to them than the truth.
    variance = squares / (n - _design_effect(units, k))
    most = mean * (1.0 - mean)
    return min(variance / most, 1.0) if most > 0.0 else 1.0


def _design_effect(units: Units, k: float) -> float:
    """The d of the formula above: the correlation is found in k clusters and believed of one."""
    more = units.n_values - units.n_units
    if not more:
        return 1.0
    inside = units.within / more
    extra = _between(units) - (units.n_units - 1.0) * inside
    found = max(extra / (units.n_values - _average_size(units)), 0.0)
    between = (k * found + _BELIEVED_ICC / (1.0 - _BELIEVED_ICC) * inside) / (k + 1.0)
    icc = between / (between + inside) if between > 0.0 else _BELIEVED_ICC
    return 1.0 + icc * (_average_size(units) - 1.0)


def _between(units: Units) -> float:
    """Sum of the squared distances of the clusters' means from the mean, once for each value."""
    return float((units.residuals**2 / units.counts).sum())


def _average_size(units: Units) -> float:
    """The K of the formula above."""
    return float((units.counts**2).sum()) / units.n_values


def _equal_parts(amounts: FloatArray) -> float:
    """How many equal amounts would share their sum as evenly as these; 0 where all are 0."""
    largest = float(amounts.max())
    if largest <= 0.0:
        return 0.0
    shares = amounts / largest
    return float(shares.sum() ** 2 / (shares**2).sum())


def beta_bounds(won: float, lost: float, level: float) -> tuple[float, float]:
    """Bounds of a share, by Clopper and Pearson, of what happened and what did not so often."""
    tail = (1.0 - level) / 2.0
    low = beta_ppf(tail, won, lost + 1.0) if won > 0.0 else 0.0
    high = beta_ppf(1.0 - tail, won + 1.0, lost) if lost > 0.0 else 1.0
    return low, high


def skewed_bounds(units: Units, level: float) -> tuple[float, float] | None:
    """Student's t bounds of a mean without a range, the one on the side of the longer tail moved
    outwards by ``(1 + 2 t^2) sum(u^3) / (6 sum(u^2))`` for the residuals u of the units as shares
    of n; ``None`` where all units are equal. Clusters of unequal size count as fewer (Kish).

    Source: Johnson, "Modified t tests ...", Journal of the American Statistical Association 73
    (1978)."""
    mean, error = units.mean, units.standard_error
    if error == 0.0:
        return None
    t = t_ppf((1.0 + level) / 2.0, max(_equal_parts(units.counts) - 1.0, 1.0))
    shares = units.residuals / units.n_values
    largest = float(abs(shares).max())
    shares = shares / largest
    move = largest * (1.0 + 2.0 * t * t) * float((shares**3).sum() / (shares**2).sum()) / 6.0
    low, high = mean - t * error + min(move, 0.0), mean + t * error + max(move, 0.0)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
