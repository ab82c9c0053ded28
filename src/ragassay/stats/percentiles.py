"""Percentiles: an interval between two of the ordered values, and the difference of two systems by
the percentile bootstrap over units.

Sources: David and Nagaraja, "Order Statistics" (2003), section 7.1; with clusters the binomial is
that of the effective number of values (Korn and Graubard, Survey Methodology 24 (1998)).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.stats.distributions import t_ppf
from ragassay.stats.intervals import (
    Bounds,
    FloatArray,
    IntArray,
    Interval,
    Units,
    check_options,
    cluster_codes,
    draws,
    finite_row,
)
from ragassay.stats.paired import PairedResult

ORDERED = "order-statistics"  # the method of the interval
_DRAWN = 4e6  # values that are drawn at most: with many values fewer resamples will do
_FEWEST = 1_000


def percentile_interval(
    values: ArrayLike,
    percent: float,
    *,
    level: float = 0.95,
    clusters: Iterable[Hashable] | NDArray[Any] | None = None,
) -> Interval:
    """A percentile (in (0, 100), as ``mean``) of values and a confidence interval for it.

    The interval has at least the level, because it ends at values. Without bounds where there are
    too few values: 95 % intervals need 6 for the median, 72 for p95, 368 for p99.
    """
    check_options("auto", level)
    row = np.sort(_checked(values, percent))
    codes = None if clusters is None else cluster_codes(clusters, row.size)
    n_clusters = None if codes is None else len(np.unique(codes))
    if not row.size:
        return Interval(None, None, None, level, ORDERED, 0, n_clusters)
    value = float(np.percentile(row, percent))
    n = float(row.size)
    if codes is not None:
        below = (np.asarray(values, dtype=np.float64) <= value).astype(np.float64)
        n = _effective(below, codes, level)
    low, high = _between(row, percent / 100.0, level, n)
    return Interval(value, low, high, level, ORDERED, row.size, n_clusters)


def _checked(values: ArrayLike, percent: float) -> FloatArray:
    """The values as an array; a `ValueError` where they or the percentile cannot be."""
    row = finite_row(values)
    if not 0.0 < percent < 100.0:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
    return row


def _effective(below: FloatArray, codes: IntArray, level: float) -> float:
    """How many independent values say as much about a share as these do; at most as many."""
    n, share = below.size, float(below.mean())
    units = Units.of(below, codes)
    if units.n_units < 2:
        return 0.0
    if units.n_units == n or not 0.0 < share < 1.0:
        return float(units.n_units)
    tail = (1.0 + level) / 2.0
    widening = t_ppf(tail, units.n_units - 1) / t_ppf(tail, n - 1)
    variance = (units.standard_error * widening) ** 2
    alone = share * (1.0 - share) / (n - 1)
    return n if variance <= alone else n * alone / variance


def _between(row: FloatArray, share: float, level: float, n: float) -> Bounds:
    """The two ordered values that a percentile (``share``, in (0, 1)) lies between, with an
    effective number of values ``n``."""
    n_whole = int(n)
    if n_whole < 2:
        return None, None
    tail = (1.0 - level) / 2.0
    # P(fewer than k of n lie below the percentile), for each k from 0 to n + 1: binomial.
    k = np.arange(n_whole)
    steps = np.log((n_whole - k) / (k + 1.0)) + math.log(share) - math.log1p(-share)
    log_p = np.concatenate([[0.0], np.cumsum(steps)]) + n_whole * math.log1p(-share)
    fewer = np.concatenate([[0.0], np.minimum(np.cumsum(np.exp(log_p)), 1.0)])
    first = int(np.searchsorted(fewer, tail, side="right")) - 1
    last = int(np.searchsorted(fewer, 1.0 - tail, side="left"))
    if first < 1 or last > n_whole:
        return None, None
    # A place among the effective values is a share of all values, rounded outwards.
    scale = row.size / n_whole
    low, high = math.floor(first * scale), math.ceil(last * scale)
    return float(row[low - 1]), float(row[min(high, row.size) - 1])  # ceil may round up beyond it


def percentile_difference(
    a: ArrayLike,
    b: ArrayLike,
    percent: float,
    *,
    units_a: ArrayLike,
    units_b: ArrayLike,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> PairedResult:
    """The difference of a percentile between two systems that were asked the same, with bounds.

    Args:
        a, b: values of each, at least one.
        percent: which percentile, in (0, 100).
        units_a, units_b: the number of each value's unit (its query, or its conversation), from 0;
            units of both have the same numbers and are drawn together.
        n_resamples: draws of the bootstrap; fewer where there are more than 400 values.
    """
    check_options("auto", level, n_resamples)
    sides = []
    for values, units in ((a, units_a), (b, units_b)):
        row, codes = _checked(values, percent), np.asarray(units, dtype=np.int64)
        interval = percentile_interval(row, percent, level=level, clusters=codes)
        order = np.argsort(row, kind="stable")
        sides.append((row[order], codes[order], interval))
    (row_a, codes_a, of_a), (row_b, codes_b, of_b) = sides
    assert of_a.mean is not None and of_b.mean is not None
    found = PairedResult(
        a_mean=of_a.mean, b_mean=of_b.mean, diff=of_a.mean - of_b.mean, level=level
    )
    if of_a.low is None or of_b.low is None:
        return found
    n_units = int(max(codes_a.max(), codes_b.max())) + 1
    size = max(row_a.size, row_b.size)
    n_draws = min(n_resamples, max(_FEWEST, int(_DRAWN // size)))
    drawn = [
        _drawn(row_a, times[:, codes_a], percent) - _drawn(row_b, times[:, codes_b], percent)
        for times in draws(n_units, n_draws, seed, max(1, int(2**20 // size)))
    ]
    differences = np.concatenate(drawn)
    differences = differences[np.isfinite(differences)]
    tail = (1.0 - level) / 2.0
    low, high, least, most = np.quantile(
        differences, [tail, 1.0 - tail, 2 * tail, 1.0 - 2 * tail]
    ).tolist()
    return replace(
        found, low=low, high=high, least=least, most=most, safe_least=least, safe_most=most
    )


def _drawn(row: FloatArray, times: NDArray[Any], percent: float) -> FloatArray:
    """The percentile of each resample, interpolated like that of the values themselves, where
    ``times`` says how often each has each of the sorted values, shape ``(n_resamples, n)``. NaN
    where a resample has no value."""
    upto = np.cumsum(times, axis=1)
    total = upto[:, -1]
    place = (total - 1) * (percent / 100.0)
    before = np.floor(place)
    # The value at a place (from 0) is the first of which so many lie at or below it.
    first = (upto <= before[:, None]).sum(axis=1).clip(max=row.size - 1)
    second = (upto <= np.ceil(place)[:, None]).sum(axis=1).clip(max=row.size - 1)
    made = row[first] + (row[second] - row[first]) * (place - before)
    return np.where(total > 0, made, np.nan)
