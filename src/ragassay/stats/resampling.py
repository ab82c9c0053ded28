"""The bootstrap: how much the mean would vary had other queries been drawn.

Sources: B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
Association 82 (1987); B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993),
chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragassay.stats.distributions import normal_cdf, normal_ppf
from ragassay.stats.units import FloatArray, IntArray, Units

_CHUNK_BYTES = 4 * 2**20
_BYTES_A_DRAW = 24


def resampled_means(units: Units, n_resamples: int, seed: int) -> FloatArray:
    """Means of samples of units drawn with replacement.

    The work is done in chunks whose memory stays near 4 MB (at least one
    resample at a time); the result does not depend on them.

    Returns:
        The means, shape ``(n_resamples,)``.
    """
    table = np.vstack([units.sums, units.counts]).T
    step = max(1, _CHUNK_BYTES // (_BYTES_A_DRAW * units.n_units))
    drawn = draws(units.n_units, n_resamples, seed, step)
    totals = np.concatenate([times.astype(np.float64) @ table for times in drawn])
    return np.asarray(totals[:, 0] / totals[:, 1])


def draws(n: int, n_resamples: int, seed: int, step: int) -> Iterator[IntArray]:
    """Draws ``n`` units with replacement, as many as there are.

    Yields:
        How often each unit was drawn, shape ``(step, n)``; the last may have fewer rows.
    """
    rng = np.random.default_rng(seed)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = rng.integers(0, n, size=(size, n))
        drawn += np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)


def percentile_bounds(resampled: FloatArray, level: float) -> tuple[float, float]:
    """The bounds of the middle ``level`` of resampled means."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail])
    return float(low), float(high)


def bca_bounds(
    resampled: FloatArray, mean: float, leave_one_out: FloatArray, level: float
) -> tuple[float, float]:
    """Percentiles moved for bias and skewness (bias-corrected and accelerated)."""
    # Equal means differ in their last digits, and not alike on every machine: they are ties.
    rounding = 1e-12 * max(abs(mean), float(np.abs(resampled).max()))
    at_most = np.mean(resampled <= mean + rounding)
    below = (np.mean(resampled < mean - rounding) + at_most) / 2.0
    # A share of 0 or 1 would move the percentiles to infinity: half a resample is left over.
    bias = normal_ppf(min(max(float(below), 0.5 / resampled.size), 1.0 - 0.5 / resampled.size))
    pull = leave_one_out.mean() - leave_one_out
    pull /= np.abs(pull).max() or 1.0
    spread = float((pull**2).sum())
    acceleration = float((pull**3).sum()) / (6.0 * spread**1.5) if spread else 0.0
    shares = []
    for z in (normal_ppf((1.0 - level) / 2.0), normal_ppf((1.0 + level) / 2.0)):
        moved = bias + z
        shares.append(normal_cdf(bias + moved / max(1.0 - acceleration * moved, 1e-9)))
    low, high = np.quantile(resampled, shares)
    return float(low), float(high)
