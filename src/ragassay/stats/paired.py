"""Two systems on the same queries: is the difference real, how large, and what could be missed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.stats.distributions import t_sf
from ragassay.stats.intervals import bounds, check_options
from ragassay.stats.permutation import sign_flip_test
from ragassay.stats.power import check_power, noncentrality
from ragassay.stats.units import ROUNDING, FloatArray, IntArray, Units, cluster_codes

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PairedResult:
    """One metric of two systems, over the queries that both have a score for.

    What could not be computed is ``None``: everything without pairs; whatever needs a spread with
    fewer than two independent units; ``t_p_value``, ``cohens_d`` and ``detectable`` where all
    differences are equal.

    Attributes:
        n: pairs.
        n_clusters: clusters among them, where clusters were given.
        a_mean, b_mean: means of the two systems over these pairs.
        diff: mean of a - b.
        low, high: confidence interval of ``diff``.
        level: its confidence level.
        interval: how it was made: ``t``, ``percentile`` or ``bca``.
        p_value: two-sided paired permutation test, in (0, 1], before any correction.
        p_exact: whether that test enumerated all sign patterns.
        t_p_value: two-sided paired t-test (cluster-robust where clusters were given).
        cohens_d: mean of the differences over their standard deviation (the paired d, d_z).
        detectable: the smallest true difference that this many pairs with this spread would have
            shown with the given power.
        wins, losses, ties: pairs where a is higher, lower, or equal up to rounding.
    """

    n: int
    n_clusters: int | None
    a_mean: float | None
    b_mean: float | None
    diff: float | None
    low: float | None
    high: float | None
    level: float
    interval: str
    p_value: float | None
    p_exact: bool | None
    t_p_value: float | None
    cohens_d: float | None
    detectable: float | None
    wins: int
    losses: int
    ties: int


def compare_pairs(
    a: ArrayLike,
    b: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    clusters: Iterable[Hashable] | NDArray[Any] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    interval: str = "t",
    alpha: float = 0.05,
    power: float = 0.8,
) -> list[PairedResult]:
    """Compares two systems metric by metric; p-values are raw, one result for each metric.

    Args:
        a: scores of the first (new) system, shape ``(n_metrics, n_queries)`` or ``(n_queries,)``.
        b: scores of the second (old) system on the same queries in the same order.
        mask: true where both systems have a score, same shape; everywhere when left out. Where it
            is false, the values are not read.
        clusters: a label for each query. Signs are flipped and bootstrap samples are drawn by whole
            clusters, standard errors are cluster-robust.
        n_resamples: sign patterns of the permutation test where more than 20 units differ (exact
            otherwise), and draws of a bootstrap interval.
        seed: seed of both.
        level: confidence level of the interval of the difference.
        interval: ``t``, ``percentile`` or ``bca``.
        alpha: level of the test that ``detectable`` speaks of.
        power: its chance to find a difference of that size.

    Raises:
        UsageError: an option out of range.
        ValueError: shapes that do not match, or a score that is not finite.
    """
    check_options(interval, level, n_resamples)
    check_power(alpha, power)
    first, second, scored = _matrices(a, b, mask)
    codes = None if clusters is None else cluster_codes(clusters, first.shape[1])
    scale = _largest(first, second)
    differences = apart(first, second)
    p_values, exact = _permutation_test(first, second, differences, codes, n_resamples, seed)
    results: dict[int, PairedResult] = {}
    for rows, columns in _rows_with_the_same_pairs(scored):
        chosen = differences[np.ix_(rows, columns)]
        units = Units.of(chosen, None if codes is None else codes[columns], scale[rows])
        limits = bounds(units, interval, level, n_resamples, seed)
        errors = units.standard_errors if units.n_units > 1 else np.zeros(rows.size)
        spreads = _standard_deviations(chosen, scale[rows])
        for at, row in enumerate(rows.tolist()):
            d, (low, high) = chosen[at], limits[at]
            n, diff = d.size, float(d.sum()) / max(d.size, 1)
            df, se, sd = units.n_units - 1, float(errors[at]), float(spreads[at])
            results[row] = PairedResult(
                n=n,
                n_clusters=None if codes is None else units.n_units,
                a_mean=float(first[row, columns].mean()) if n else None,
                b_mean=float(second[row, columns].mean()) if n else None,
                diff=diff if n else None,
                low=low,
                high=high,
                level=level,
                interval=interval,
                p_value=float(p_values[row]) if n else None,
                p_exact=bool(exact[row]) if n else None,
                t_p_value=min(1.0, 2.0 * t_sf(abs(diff) / se, df)) if se else None,
                cohens_d=diff / sd if sd else None,
                detectable=noncentrality(df, alpha, power) * se if se else None,
                wins=int((d > 0).sum()),
                losses=int((d < 0).sum()),
                ties=int((d == 0).sum()),
            )
    return [results[row] for row in range(len(first))]


def apart(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first - second``, both of shape ``(n_rows, n)``; 0 where they are equal up to rounding."""
    differences = first - second
    differences[np.abs(differences) <= ROUNDING * _largest(first, second)[:, None]] = 0.0
    return differences


def _largest(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(first), np.abs(second)).max(axis=1, initial=0.0))


def _matrices(
    a: ArrayLike, b: ArrayLike, mask: ArrayLike | None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Both score matrices with zeros where there is no pair, and where there is one."""
    first = np.atleast_2d(np.asarray(a, dtype=np.float64))
    second = np.atleast_2d(np.asarray(b, dtype=np.float64))
    if mask is None:
        scored = np.ones(first.shape, dtype=np.bool_)
    else:
        scored = np.atleast_2d(np.asarray(mask, dtype=np.bool_))
    if first.ndim != 2 or not first.shape == second.shape == scored.shape:
        raise ValueError(
            f"scores and mask must have one shape (n_metrics, n_queries), "
            f"not {first.shape}, {second.shape} and {scored.shape}"
        )
    first, second = np.where(scored, first, 0.0), np.where(scored, second, 0.0)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("scores must be finite numbers wherever the mask is true")
    return first, second, scored


def _permutation_test(
    first: FloatArray,
    second: FloatArray,
    differences: FloatArray,
    codes: IntArray | None,
    n_resamples: int,
    seed: int,
) -> tuple[FloatArray, BoolArray]:
    """p-values of all rows, and which are exact; missing pairs are zeros and change nothing."""
    magnitude = np.abs(first) + np.abs(second)
    sums = Units.of(differences, codes, np.zeros(len(first))).sums.copy()
    sums[np.abs(sums) <= ROUNDING * Units.of(magnitude, codes, np.zeros(len(first))).sums] = 0.0
    # Scores such as n/3 are rounded, and so is their sum: equal means equal up to that error.
    slack = np.maximum(ROUNDING, 4 * np.finfo(float).eps * first.shape[1]) * magnitude.sum(axis=1)
    found = sign_flip_test(sums, tolerance=slack, n_resamples=n_resamples, seed=seed)
    return found.p_values, found.exact


def _standard_deviations(differences: FloatArray, scale: FloatArray) -> FloatArray:
    """Sample standard deviation of each row, 0 where there is nothing but rounding."""
    n = differences.shape[1]
    if n < 2:
        return np.zeros(len(differences))
    return np.asarray(Units.of(differences, None, scale).standard_errors * np.sqrt(n))


def _rows_with_the_same_pairs(scored: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows grouped by their mask, each group with the columns that the mask lets through."""
    patterns, group = np.unique(scored, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        yield np.flatnonzero(group.ravel() == at), np.flatnonzero(pattern)
