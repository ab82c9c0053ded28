"""The paired sign-flip permutation test.

If two systems are equally good, each query's difference could as well have had the other sign. The
p-value is the share of all sign patterns whose mean difference is at least as far from zero as the
one observed (two-sided).

Sources: R. A. Fisher, "The Design of Experiments" (1935), section 21; M. Smucker, J. Allan and
B. Carterette, "A comparison of statistical significance tests for information retrieval
evaluation", CIKM 2007; B. Phipson and G. Smyth, "Permutation p-values should never be zero",
Statistical Applications in Genetics and Molecular Biology 9 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.errors import UsageError
from ragassay.stats.units import ROUNDING, FloatArray

EXACT_UP_TO = 20
"""So many non-zero differences are enumerated: 2^20 patterns, half of them by symmetry."""
_CHUNK_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """Results of the test, one for each row of differences.

    Attributes:
        p_values: in (0, 1], shape ``(n_rows,)``.
        exact: whether all sign patterns were enumerated, shape ``(n_rows,)``. Otherwise the
            p-value is (hits + 1) / (n_resamples + 1), which is never 0.
    """

    p_values: FloatArray
    exact: NDArray[np.bool_]


def sign_flip_test(
    differences: ArrayLike,
    *,
    tolerance: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> SignFlipTest:
    """Tests for each row whether its differences are symmetric around zero.

    All rows share one matrix of random signs. Only the sizes of a row's differences and the size of
    their sum matter, so its p-value depends neither on the order of the queries, nor on which
    system comes first, nor on the other rows.

    Args:
        differences: finite numbers, shape ``(n_rows, n)``; zeros (ties, missing pairs) change
            nothing. For clusters, give the sum of each.
        tolerance: sums closer than this count as equal, shape ``(n_rows,)``; by default 1e-12 of
            the sum of the absolute differences.
        n_resamples: random sign patterns for a row with more than 20 non-zero differences.
        seed: seed of the random signs.

    Raises:
        UsageError: fewer than one resample.
        ValueError: differences that are not finite.
    """
    if n_resamples < 1:
        raise UsageError(f"The number of resamples must be at least 1, not {n_resamples}.")
    given = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(given).all():
        raise ValueError("differences must be finite numbers")
    # A flip makes the sign of a difference irrelevant; largest first puts the zeros last.
    sizes = -np.sort(-np.abs(given), axis=1)
    total = sizes.sum(axis=1)
    slack = np.maximum(ROUNDING, 4 * np.finfo(float).eps * given.shape[1]) * total
    if tolerance is not None:
        slack = np.maximum(slack, np.asarray(tolerance, dtype=np.float64))
    threshold = np.abs(given.sum(axis=1)) - slack
    nonzero = np.count_nonzero(sizes, axis=1)
    exact = nonzero <= EXACT_UP_TO
    p_values = np.empty(len(given))
    for at in np.flatnonzero(exact):
        p_values[at] = _enumerated(sizes[at, : nonzero[at]], float(threshold[at]))
    drawn = np.flatnonzero(~exact)
    if drawn.size:
        hits = _random_hits(
            sizes[drawn, : nonzero.max()], threshold[drawn], given.shape[1], n_resamples, seed
        )
        p_values[drawn] = (hits + 1) / (n_resamples + 1)
    return SignFlipTest(p_values, exact)


def _enumerated(sizes: FloatArray, threshold: float) -> float:
    """The share of all sign patterns at or beyond the threshold.

    The first sign stays: the patterns with the other one are mirror images.
    """
    if not sizes.size:
        return 1.0
    sums = sizes[:1]
    for size in sizes[1:]:
        sums = np.concatenate([sums + size, sums - size])
    return float(np.mean(np.abs(sums) >= threshold))


def _random_hits(
    sizes: FloatArray, threshold: FloatArray, n: int, n_resamples: int, seed: int
) -> NDArray[np.int64]:
    """How many of the random sign patterns reach each row's threshold, shape ``(n_rows,)``.

    Each pattern takes the bits of ``n`` differences from the generator, however many are used, so
    that a row's result does not hang on its company.
    """
    rng = np.random.default_rng(seed)
    width = sizes.shape[1]
    words = -(-n // 64)
    step = max(1, _CHUNK_BYTES // (8 * width))
    total = sizes.sum(axis=1)
    columns = np.ascontiguousarray(2.0 * sizes.T)
    hits = np.zeros(len(sizes), dtype=np.int64)
    for start in range(0, n_resamples, step):
        shape = (min(step, n_resamples - start), words)
        bits = rng.integers(0, 2**64, size=shape, dtype=np.uint64).astype("<u8", copy=False)
        flips = np.unpackbits(bits.view(np.uint8), axis=1, count=width)
        sums = total - flips.astype(np.float64) @ columns
        hits += np.count_nonzero(np.abs(sums) >= threshold, axis=0)
    return hits
