"""The paired sign-flip test, and the interval of the difference that belongs to it.

The p-value is the share of all sign patterns of the clusters' differences whose mean is at least as
far from zero as the one observed (two-sided). For scores that are 0 or 1 the test that decides
counts half of the ties (mid-p). The interval holds all theta that the same test does not reject
when theta is first taken from each pair: with cluster sums D and sizes s, a pattern e has ``A -
theta B`` for ``A = sum(e D)`` and ``B = sum(e s)``. All rows (metrics) share each pattern.

Sources: Fisher, "The Design of Experiments" (1935), section 21; Smucker, Allan and Carterette, CIKM
2007; Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010);
Garthwaite, Biometrics 52 (1996); Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13
(2013), for mid-p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.stats.intervals import ROUNDING, FloatArray

EXACT_UP_TO = 16  # clusters of which all patterns are enumerated: 2^16, half of them by symmetry
_CHUNK_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class SignFlips:
    """Several rows of differences under all sign patterns.

    Attributes:
        sums: each pattern's sum of differences, shape ``(n_patterns, n_rows)``. The first pattern
            flips nothing: it is the observation.
        sizes: each pattern's sum of sizes, same shape.
        spread: root of the sum of squared differences of each row, shape ``(n_rows,)``.
        slack: sums of a row that are closer than this are equal, shape ``(n_rows,)``.
        halves: rows of scores that are 0 or 1: a tie with the observation counts half in the test
            that decides, shape ``(n_rows,)``.
        exact: whether the patterns are all there are (up to the mirror images), not a sample.
    """

    sums: FloatArray
    sizes: FloatArray
    spread: FloatArray
    slack: FloatArray
    halves: NDArray[np.bool_]
    exact: bool

    @property
    def n_patterns(self) -> int:
        """The number of patterns, including the observation."""
        return len(self.sums)

    @property
    def p_values(self) -> FloatArray:
        """Two-sided p-value of each row as published, in (0, 1], shape ``(n_rows,)``."""
        distances = np.abs(self.sums)
        return np.asarray((distances >= distances[0] - self.slack).mean(axis=0))

    @property
    def deciding(self) -> FloatArray:
        """The p-values that decide: mid-p where ties count half and the mean is not 0."""
        distances = np.abs(self.sums)
        beyond = np.asarray((distances > distances[0] + self.slack).mean(axis=0))
        halved = self.halves & (distances[0] > self.slack)
        return np.where(halved, (self.p_values + beyond) / 2.0, self.p_values)

    def interval(self, row: int, tail: float) -> tuple[float | None, float | None]:
        """The smallest and the largest mean difference that the test that decides does not reject
        at a level; ``None`` for both where there are too few clusters to reject any."""
        sums, sizes = self.sums[:, row], self.sizes[:, row]
        observed, n = sums[0], sizes[0]
        if n == 0:
            return None, None
        # Where no pair or each pair is flipped, theta cancels: the pattern counts for all of them.
        for_all = np.abs(sizes) > n - 0.5
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(observed - sums) / (n - sizes), (observed + sums) / (n + sizes)])
        low, high = ends.min(axis=0), ends.max(axis=0)
        # A pattern counts at zero where the p-value counts it, whatever the rounding.
        counts = np.abs(sums) >= abs(observed) - self.slack[row]
        low = np.where(for_all, -np.inf, np.where(counts, np.minimum(low, 0.0), low))
        high = np.where(for_all, np.inf, np.where(counts, np.maximum(high, 0.0), high))
        first, last = (self._end(array, row, tail) for array in (low, -high))
        return (first, -last) if np.isfinite((first, last)).all() else (None, None)

    def _end(self, ends: FloatArray, row: int, tail: float) -> float:
        """The first of the patterns' lower ends that the share ``tail`` of them does not reach."""
        values, counts = np.unique(ends, return_counts=True)
        reached = np.cumsum(counts).astype(np.float64)
        if self.halves[row]:
            reached -= counts / 2.0
            if np.isinf(values[0]):  # these tie with the observation for every difference
                reached[1:] -= counts[0] / 2.0
        at = int(np.searchsorted(reached, tail * self.n_patterns + 1e-9, side="right"))
        return float(values[at]) if at < len(values) else np.inf


def sign_flips(
    differences: ArrayLike,
    sizes: ArrayLike | None = None,
    *,
    tolerance: ArrayLike | None = None,
    halves: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> SignFlips:
    """Flips the signs of differences in all ways, or in random ones.

    Args:
        differences: finite sums of the differences in each cluster, shape ``(n_rows, n_clusters)``;
            0 where a row has no pair.
        sizes: how many pairs each cluster has in each row, same shape; 1 when left out.
        tolerance: sums closer than this count as equal, a number a row.
        halves: the rows in which ties count half (see `SignFlips`).
        n_resamples, seed: of the random patterns, where there are more than 16 clusters. They
            depend on the number of clusters only, so a row's result does not depend on the other
            rows.
    """
    if n_resamples < 1:
        raise UsageError(f"The number of resamples must be at least 1, not {n_resamples}.")
    rows = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(rows).all():
        raise ValueError("differences must be finite numbers")
    counts = np.ones(rows.shape) if sizes is None else np.atleast_2d(np.asarray(sizes, np.float64))
    if counts.shape != rows.shape:
        raise ValueError(f"sizes have the shape {counts.shape}, differences {rows.shape}")
    n_rows, n_clusters = rows.shape
    table = np.vstack([rows, counts]).T
    exact = n_clusters <= EXACT_UP_TO
    drawn = _all_patterns(table) if exact else _random_patterns(table, n_resamples, seed)
    slack = np.maximum(ROUNDING, 4 * np.finfo(float).eps * n_clusters) * np.abs(rows).sum(axis=1)
    if tolerance is not None:
        slack = np.maximum(slack, tolerance)
    return SignFlips(
        sums=drawn[:, :n_rows],
        sizes=drawn[:, n_rows:],
        spread=np.sqrt((rows**2).sum(axis=1)),
        slack=slack,
        halves=np.zeros(n_rows, bool) if halves is None else np.asarray(halves, dtype=np.bool_),
        exact=exact,
    )


def _all_patterns(table: FloatArray) -> FloatArray:
    """Sums of the columns of ``table``, shape ``(n_clusters, n)``, under all patterns that keep the
    first sign; the others are their mirror images."""
    sums = table[:1].copy() if len(table) else np.zeros((1, table.shape[1]))
    for row in table[1:]:
        sums = np.concatenate([sums + row, sums - row])
    return sums


def _random_patterns(table: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """The observed sums of the columns of ``table``, then those under random patterns. Each takes
    as many bits from the generator as there are clusters, however the work is cut into chunks."""
    rng = np.random.default_rng(seed)
    n_clusters = len(table)
    words = -(-n_clusters // 64)
    step = max(1, _CHUNK_BYTES // (8 * n_clusters))
    total = table.sum(axis=0)
    doubled = 2.0 * table
    sums = np.empty((n_resamples + 1, table.shape[1]))
    sums[0] = total
    for start in range(0, n_resamples, step):
        shape = (min(step, n_resamples - start), words)
        bits = rng.integers(0, 2**64, size=shape, dtype=np.uint64).astype("<u8", copy=False)
        flips = np.unpackbits(bits.view(np.uint8), axis=1, count=n_clusters)
        sums[start + 1 : start + 1 + shape[0]] = total - flips.astype(np.float64) @ doubled
    return sums
