"""The difference of a percentile between two systems: the percentile bootstrap over units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.stats.intervals import check_options
from ragassay.stats.percentiles.ordered_values import checked, percentile_interval
from ragassay.stats.resampling import draws
from ragassay.stats.units import FloatArray

_DRAWN = 4e6
"""Values that are drawn at most: with many values fewer resamples will do."""

_FEWEST = 1_000


@dataclass(frozen=True, slots=True)
class PercentileDifference:
    """A percentile of A minus that of B.

    Attributes:
        a, b: the percentiles.
        low, high: bounds of the difference; ``None`` where there are too few values for the
            interval of either.
        least, most: one-sided bounds at the same level.
    """

    a: float
    b: float
    low: float | None
    high: float | None
    least: float | None
    most: float | None


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
) -> PercentileDifference:
    """The difference of a percentile between two systems that were asked the same.

    Args:
        a, b: values of each, shapes ``(n_a,)`` and ``(n_b,)``, at least one.
        percent: which percentile, in (0, 100).
        units_a, units_b: the number of each value's unit (its query, or its conversation), from 0;
            units of both have the same numbers and are drawn together.
        level: confidence level in (0, 1).
        n_resamples: draws of the bootstrap; fewer where there are more than 400 values.
        seed: of the draws.

    Raises:
        UsageError: a level or number of resamples out of range.
        ValueError: values that are not finite, or no such percentile.
    """
    check_options("percentile", level, n_resamples)
    sides = []
    for values, units in ((a, units_a), (b, units_b)):
        row, codes = checked(values, percent), np.asarray(units, dtype=np.int64)
        one = percentile_interval(row, percent, level=level, clusters=codes)
        order = np.argsort(row, kind="stable")
        sides.append((row[order], codes[order], one))
    (row_a, codes_a, of_a), (row_b, codes_b, of_b) = sides
    assert of_a.mean is not None and of_b.mean is not None
    if of_a.low is None or of_b.low is None:
        return PercentileDifference(of_a.mean, of_b.mean, None, None, None, None)
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
    low, high, least, most = np.quantile(differences, [tail, 1.0 - tail, 2 * tail, 1.0 - 2 * tail])
    return PercentileDifference(
        of_a.mean, of_b.mean, float(low), float(high), float(least), float(most)
    )


def _drawn(row: FloatArray, times: NDArray[Any], percent: float) -> FloatArray:
    """The percentile of each resample, interpolated like that of the values themselves.

    Args:
        row: sorted values, shape ``(n,)``.
        times: how often each resample has each value, shape ``(n_resamples, n)``.
        percent: which percentile.

    Returns:
        NaN where a resample has no value.
    """
    upto = np.cumsum(times, axis=1)
    total = upto[:, -1]
    place = (total - 1) * (percent / 100.0)
    before = np.floor(place)
    # The value at a place (from 0) is the first of which so many lie at or below it.
    first = (upto <= before[:, None]).sum(axis=1).clip(max=row.size - 1)
    second = (upto <= np.ceil(place)[:, None]).sum(axis=1).clip(max=row.size - 1)
    made = row[first] + (row[second] - row[first]) * (place - before)
    return np.where(total > 0, made, np.nan)
