"""Labels and counts: agreement of people beyond chance, and exact tests of rates.

Sources: Cohen 1960; Fleiss 1971; Krippendorff 2011 (nominal data); Clopper and Pearson 1934;
Przyborowski and Wilenski, Biometrika 31 (1940), for the ratio of two rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ragassay.stats.intervals import IntArray, beta_bounds, percentile_bounds


def cohen_kappa(pairs: IntArray) -> float | None:
    """Cohen's kappa of two people, -1 to 1; ``None`` without items, or with one label only."""
    if not len(pairs):
        return None
    n_labels = int(pairs.max()) + 1
    first, second = (np.bincount(column, minlength=n_labels) for column in pairs.T)
    expected = float(first @ second) / len(pairs) ** 2
    observed = float(np.mean(pairs[:, 0] == pairs[:, 1]))
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def fleiss_kappa(counts: IntArray) -> float | None:
    """Fleiss' kappa of several people, at most 1; ``None`` where it is undefined. Where items have
    different numbers of labels, each item counts alike in the agreement observed, each label in the
    expected one."""
    counts, n = _with_two(counts)
    if not len(counts):
        return None
    observed = float(np.mean((counts * (counts - 1)).sum(axis=1) / (n * (n - 1))))
    expected = float(((counts.sum(axis=0) / n.sum()) ** 2).sum())
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def krippendorff_alpha(counts: IntArray) -> float | None:
    """Krippendorff's alpha for nominal labels, by any number of people an item, at most 1; ``None``
    where it is undefined."""
    counts, n = _with_two(counts)
    total, of_label = n.sum(), counts.sum(axis=0)
    expected = float(total**2 - (of_label**2).sum())
    if not expected:
        return None
    observed = float(((n**2 - (counts**2).sum(axis=1)) / (n - 1)).sum())
    return 1.0 - float(total - 1) * observed / expected


def agreement_interval(
    statistic: Callable[[IntArray], float | None],
    rows: IntArray,
    *,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Low and high of a percentile bootstrap over items, without resamples in which the statistic
    is undefined; ``None`` where fewer than half of them have a value."""
    rng = np.random.default_rng(seed)
    n = len(rows)
    drawn = (statistic(rows[rng.integers(0, n, n)]) for _ in range(n_resamples if n else 0))
    values = np.array([value for value in drawn if value is not None])
    return percentile_bounds(values, level) if 2 * len(values) >= n_resamples else None


def _with_two(counts: IntArray) -> tuple[IntArray, IntArray]:
    """The items that two people or more labelled, and how many did."""
    items = counts[counts.sum(axis=1) > 1]
    return items, items.sum(axis=1)


@dataclass(frozen=True)
class Ratio:
    """A ratio of rates (``inf`` where the second count is 0), the ends of its interval, and the
    two-sided p of the ratio being 1."""

    value: float
    low: float
    high: float
    p: float


def rate_ratio(
    count: int, exposure: float, other: int, other_exposure: float, level: float = 0.95
) -> Ratio:
    """The ratio of two rates of counts: ``(count / exposure) / (other / other_exposure)``.

    Given both counts, the first is binomial where the rates are equal."""
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
