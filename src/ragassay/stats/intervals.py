"""Confidence intervals of a mean, and the levels of tests that belong to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.stats.bounded import is_crowded, range_bounds, skewed_bounds
from ragassay.stats.distributions import t_ppf
from ragassay.stats.units import ROUNDING, FloatArray, IntArray, Units, cluster_codes, finite_row

METHODS = ("auto", "t")
"""Ways to bound a mean: by the range of the scores, and Student's t."""

EFFECTIVE_N, SKEW_T = "effective-n", "skew-t"
"""The methods that ``auto`` stands for: with scores that have a range, and without."""

Span = tuple[float | None, float | None]
"""The range of a metric: its lowest and highest possible value; ``None`` where there is none."""

Bounds = tuple[float | None, float | None]
"""Lower and upper confidence bound of a mean; ``None`` where there is none."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with a confidence interval.

    Attributes:
        mean: arithmetic mean of all values; ``None`` without values.
        low, high: bounds; ``None`` with fewer than two independent units, and for scores that are
            all equal unless the method is ``effective-n``. Those of ``t`` are not cut at the range.
        level: confidence level in (0, 1).
        method: ``effective-n`` or ``skew-t`` (what ``auto`` chose), ``t``.
        n: number of values.
        n_clusters: number of clusters, where clusters were given.
        crowded: whether nearly all scores lie so close to one end of the range that the interval
            may be too narrow; with ``effective-n`` only.
    """

    mean: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    n_clusters: int | None = None
    crowded: bool = False


def mean_interval(
    values: ArrayLike,
    *,
    span: Span = (None, None),
    method: str = "auto",
    level: float = 0.95,
    clusters: Iterable[Hashable] | NDArray[Any] | None = None,
) -> Interval:
    """The mean of ``values`` and a confidence interval for it.

    Args:
        values: finite numbers; unscored samples are left out by the caller.
        span: lowest and highest possible value. ``auto`` needs both; without them, or where a value
            lies outside, it is Student's t widened for skewness.
        method: ``auto`` (see `ragassay.stats.bounded`) or ``t``.
        clusters: a label for each value. The standard error is then robust to clusters, with G - 1
            degrees of freedom for G of them.

    There are no bounds with fewer than two units. Except with ``effective-n``, there are none
    either where all units are equal, because such values show no spread.
    """
    check_options(method, level)
    row = finite_row(values)
    codes = None if clusters is None else cluster_codes(clusters, row.size)
    ends = _range_of(row, span) if method == "auto" else None
    if method == "auto":
        method = SKEW_T if ends is None else EFFECTIVE_N
    if not row.size:
        return Interval(None, None, None, level, method, 0, None if codes is None else 0)
    units = Units.of(row, codes)
    low: float | None = None
    high: float | None = None
    if units.n_units > 1:
        if ends is not None:
            low, high = range_bounds(units, *ends, level)
        elif method == SKEW_T:
            low, high = skewed_bounds(units, level) or (None, None)
        elif error := units.standard_error:
            reach = t_ppf((1.0 + level) / 2.0, units.n_units - 1) * error
            low, high = units.mean - reach, units.mean + reach
    crowded = ends is not None and low is not None and is_crowded(units, *ends)
    n_clusters = None if codes is None else units.n_units
    return Interval(units.mean, low, high, level, method, row.size, n_clusters, crowded)


def _range_of(values: FloatArray, span: Span) -> tuple[float, float] | None:
    """The range that all values lie in, where it is known."""
    low, high = span
    if low is None or high is None or not low < high:
        return None
    slack = ROUNDING * max(abs(low), abs(high))
    inside = not values.size or (values.min() >= low - slack and values.max() <= high + slack)
    return (low, high) if inside else None


def draws(n: int, n_resamples: int, seed: int, step: int) -> Iterator[IntArray]:
    """Draws ``n`` units with replacement, as many as there are. Yields how often each was drawn,
    shape ``(step, n)``; the last may have fewer rows."""
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


def alpha_of(level: float) -> float:
    """The level of the test that belongs to a confidence level (0.05 for 0.95), without the
    rounding error of 1 - level."""
    return round(1.0 - level, 12)


def one_sided(level: float) -> float:
    """The level of the two-sided interval whose ends are one-sided bounds at ``level``."""
    check_one_sided(level)
    return 2.0 * level - 1.0


def check_one_sided(level: float) -> None:
    """Raises a `UsageError` at a level at which a one-sided bound has no meaning."""
    if not 0.5 < level < 1.0:
        raise UsageError(
            "A gate on a bound needs a confidence level above 0.5 and below 1 (--level 0.95), "
            f"not {level}."
        )


def check_options(method: str, level: float, n_resamples: int = 1) -> None:
    """A `UsageError` where an option of an interval is unknown or out of range."""
    if method not in METHODS:
        raise UsageError(f"An interval is one of {', '.join(METHODS)}, not {method!r}.")
    if not 0.0 < level < 1.0:
        raise UsageError(f"A confidence level lies between 0 and 1 (such as 0.95), not at {level}.")
    if n_resamples < 1:
        raise UsageError(f"The number of resamples must be at least 1, not {n_resamples}.")
