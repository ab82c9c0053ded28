"""Exact tests of counts: how often something happens beside how often it should.

Sources: C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the
case of the binomial", Biometrika 26 (1934); J. Przyborowski and H. Wilenski, "Homogeneity of
results in testing samples from Poisson series", Biometrika 31 (1940), for the ratio of two rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragassay.stats.bounded import beta_bounds


@dataclass(frozen=True)
class Ratio:
    """A ratio of rates.

    Attributes:
        value: at least 0; ``inf`` where the second count is 0.
        low, high: ends of the interval.
        p: two-sided, of the ratio being 1.
    """

    value: float
    low: float
    high: float
    p: float


def share_ratio(count: int, n: int, share: float, level: float = 0.95) -> Ratio:
    """How often something happened, against how often it should: ``count / n / share``.

    Args:
        count: how often it happened, of ``n``.
        n: trials, at least 1.
        share: that is expected, between 0 and 1, both excluded.
        level: confidence level of the interval (Clopper and Pearson).

    Raises:
        ValueError: counts or share that cannot be.
    """
    if not 0 < share < 1 or not 0 <= count <= n or n < 1:
        raise ValueError(f"no count of {count} in {n} with a share of {share}")
    low, high = beta_bounds(count, n - count, level)
    p = _two_sided(count, n, share)
    return Ratio(count / n / share, low / share, high / share, p)


def rate_ratio(
    count: int, exposure: float, other: int, other_exposure: float, level: float = 0.95
) -> Ratio:
    """The ratio of two rates of counts: ``(count / exposure) / (other / other_exposure)``.

    Given both counts, the first is binomial where the rates are equal.

    Args:
        count: events on the first side.
        exposure: what they were counted in (words, say), above 0.
        other: events on the second side; one of the counts is above 0.
        other_exposure: what these were counted in.
        level: confidence level of the interval.

    Raises:
        ValueError: no event at all, a negative count, or an exposure that is not above 0.
    """
    n = count + other
    if min(count, other) < 0 or not n or not min(exposure, other_exposure) > 0:
        raise ValueError("a ratio of rates needs an event and exposures above 0")
    low, high = beta_bounds(count, n - count, level)
    scale = other_exposure / exposure

    def ratio(share: float) -> float:
        return math.inf if share >= 1.0 else share / (1.0 - share) * scale

    p = _two_sided(count, n, exposure / (exposure + other_exposure))
    return Ratio(ratio(count / n), ratio(low), ratio(high), p)


def _two_sided(count: int, n: int, share: float) -> float:
    """Twice the smaller tail, at most 1."""
    step = -1 if count < n * share else 1
    # Away from the mean each term is smaller than the one before.
    tail = term = here = _chance(count, n, share)
    at = count + step
    while 0 <= at <= n and term > tail * 1e-17:
        term = _chance(at, n, share)
        tail += term
        at += step
    return min(1.0, 2.0 * min(tail, 1.0 - tail + here))


def _chance(k: int, n: int, share: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))
