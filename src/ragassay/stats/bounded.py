"""Bounds of a mean of scores that lie in a known range, at any number of samples.

The mean m (on the range as 0 to 1) and its squared standard error SE^2 (robust to dependence inside
clusters) are those of n* = m(1 - m) / SE^2 trials that each give 0 or 1: the effective number of
samples. The bounds are beta quantiles, as Clopper and Pearson's for such trials, with three changes
that the simulation in ``benchmarks/coverage.py`` led to:

- n* is divided by (t / z)^2, because the standard error itself is estimated (Korn and Graubard).
- Where most values lie at one end of the range, the standard error is often too small: it rests on
  the few clusters that lie elsewhere. So n* is moved towards the number G of clusters, if it is
  larger: G + (n* - G)(1 - r) takes its place. For a share a of the values in clusters that lie
  wholly at that end, r = exp(-(1 - a) G / 10) where a is 1/2 or more, and (2a)^3 times that where a
  is smaller. It is at most G / r^2: where the few others differ from that end by a trifle, n* has
  no limit, and the interval would be far narrower than where none of them differs.
- The shape parameters stand a quarter inside Clopper and Pearson's, which cover too often.

Where all clusters are equal, the bounds are Clopper and Pearson's for one trial a cluster.

Clusters of unequal size count as fewer. Their number is ``sum(s)^2 / sum(s^2)`` for the sizes s
(Kish); the degrees of freedom of t are one less than the same of ``s^1.5``, between what
independent values and fully dependent ones in a cluster ask for; and the standard error allows for
the influence of a large cluster on the mean (each squared residual over 1 - s / n, known as CR2).
With equal sizes all three are the usual ones.

Sources: C. Clopper and E. Pearson, Biometrika 26 (1934); E. Korn and B. Graubard, "Confidence
intervals for proportions with small expected number of positive counts estimated from survey data",
Survey Methodology 24 (1998).
"""

from __future__ import annotations

import math

import numpy as np

from ragassay.stats.distributions import beta_ppf, normal_ppf, t_ppf
from ragassay.stats.units import ROUNDING, FloatArray, Units

_INSIDE = 0.25
"""How far the shape parameters stand inside Clopper and Pearson's."""

_FEW = 10.0
"""With so many clusters away from the end of the range, n* keeps two thirds (1 - 1/e) of what it
exceeds the number of clusters by."""

_DEPENDENT = 1.5
"""Power of the sizes in the degrees of freedom."""

_NORMAL_FROM = 1e4
"""Effective successes and failures from which a beta quantile and Student's t bound agree to a
hundredth of the interval's width."""


def range_bounds(units: Units, low: float, high: float, level: float) -> tuple[float, float]:
    """Lower and upper bound of a mean, inside the range of the values.

    Args:
        units: two units or more.
        low, high: the range of single values, low < high; all values lie in it.
        level: confidence level of the two bounds together, in (0, 1).
    """
    width = high - low
    n_clusters = _equal_clusters(units.counts)
    mean = min(max((units.mean - low) / width, 0.0), 1.0)
    error = _error(units) / width
    squared = error * error
    if squared == 0.0 or mean in (0.0, 1.0):
        return _scaled(beta_bounds(n_clusters * mean, n_clusters * (1.0 - mean), level), low, width)
    t = _quantile(units, level)
    n = mean * (1.0 - mean) / squared
    if n > n_clusters:
        at_end = _share_at_one_end(units, low, high)
        reduction = min(1.0, 2.0 * at_end) ** 3 * math.exp(-(1.0 - at_end) * n_clusters / _FEW)
        n = n_clusters + (n - n_clusters) * (1.0 - reduction)
        if (squared_reduction := reduction**2) > 0.0:
            n = min(n, n_clusters / squared_reduction)
    n *= (normal_ppf((1.0 + level) / 2.0) / t) ** 2
    if n * min(mean, 1.0 - mean) > _NORMAL_FROM:
        raw_bounds = (mean - t * error, mean + t * error)
    else:
        raw_bounds = beta_bounds(n * mean, n * (1.0 - mean), level, _INSIDE)
    return _scaled((min(raw_bounds[0], mean), max(raw_bounds[1], mean)), low, width)


def _equal_clusters(sizes: FloatArray, power: float = 1.0) -> float:
    """The number of clusters of equal size that give as much information as these (Kish)."""
    weights = sizes**power
    return float(weights.sum() ** 2 / (weights**2).sum())


def _quantile(units: Units, level: float) -> float:
    """Student's t for two-sided bounds at this level."""
    return t_ppf((1.0 + level) / 2.0, max(_equal_clusters(units.counts, _DEPENDENT) - 1.0, 1.0))


def _error(units: Units) -> float:
    """Standard error of the mean, corrected for the influence of large clusters (CR2)."""
    influence = units.residuals / np.sqrt(1.0 - units.counts / units.n_values) / units.n_values
    largest = float(np.abs(influence).max())
    return largest * math.sqrt(float(((influence / largest) ** 2).sum())) if largest else 0.0


def _share_at_one_end(units: Units, low: float, high: float) -> float:
    """The larger of two shares: of the values in units that lie entirely at the lower end of the
    range, and of those at the upper end."""
    means: FloatArray = units.sums / units.counts
    slack = ROUNDING * max(abs(low), abs(high))
    lowest, highest = means <= low + slack, means >= high - slack
    return max(float(units.counts[at].sum()) for at in (lowest, highest)) / units.n_values


def beta_bounds(won: float, lost: float, level: float, inside: float = 0.0) -> tuple[float, float]:
    """Bounds of a share, by Clopper and Pearson.

    Args:
        won, lost: how often something happened and did not, 0 or more.
        level: two-sided confidence level.
        inside: how far the shape parameters stand inside those of Clopper and Pearson.
    """
    tail = (1.0 - level) / 2.0
    low = beta_ppf(tail, won + inside, lost + 1.0 - inside) if won > 0.0 else 0.0
    high = beta_ppf(1.0 - tail, won + 1.0 - inside, lost + inside) if lost > 0.0 else 1.0
    return low, high


def _scaled(unit_bounds: tuple[float, float], low: float, width: float) -> tuple[float, float]:
    return low + width * max(unit_bounds[0], 0.0), low + width * min(unit_bounds[1], 1.0)


def skewed_bounds(
    units: Units, level: float, *, shortfall: float = 0.0
) -> tuple[float, float] | None:
    """Student's t bounds of a mean, with the bound on the side of the longer tail moved
    outwards.

    For scores without a range. The move is the first-order effect of skewness on t, ``(1 + 2 t^2)
    sum(u^3) / (6 sum(u^2))`` for the residuals u of the units as shares of n; so the interval is
    never narrower than Student's.

    Source: N. Johnson, "Modified t tests and confidence intervals for asymmetrical populations",
    Journal of the American Statistical Association 73 (1978).

    Args:
        units: two units or more.
        level: confidence level of the two bounds together, in (0, 1).
        shortfall: share by which the move is enlarged, at least 0: a small sample of a skewed
            distribution is less skewed than the distribution.

    Returns:
        The bounds; ``None`` where all units are equal and the spread is unknown.
    """
    mean, plain = units.mean, units.standard_error
    if plain == 0.0:
        return None
    t = t_ppf((1.0 + level) / 2.0, units.n_units - 1)
    reach = max(t * plain, _quantile(units, level) * _error(units))
    shares = units.residuals / units.n_values
    largest = float(np.abs(shares).max())
    shares = shares / largest
    move = largest * (1.0 + 2.0 * t * t) * float((shares**3).sum() / (shares**2).sum()) / 6.0
    move *= 1.0 + shortfall
    low, high = mean - reach + min(move, 0.0), mean + reach + max(move, 0.0)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
