"""A mean and its confidence interval, and the levels of tests that belong to intervals.

Values are drawn, flipped or left out in units: without clusters each query is one, with clusters
(the turns of a conversation, the repeats of a query) each cluster.

Scores in a range have these bounds, at any number of samples: 0/1 scores have Clopper and Pearson's
bounds; other scores count as ``n / (v d)`` of these. With m for the mean, and the range taken as 0
to 1: v is a score's variance over m(1 - m), at most 1; d, the design effect of clusters, is
``1 + icc (K - 1)``, K being the sum of squared sizes over n, at most K. Both are estimated, so v is
enlarged by (t / z)^2 and d by t / z, where t has k + 1 degrees of freedom (at most clusters - 1).
k says how many clusters the spread rests on:
``sum(D)^2 / sum(D^2)`` of the clusters' distances D from the end of the range with the smaller k.
The 1 is a cluster believed beforehand, with an icc of 0.2. The variance is no smaller than if one
more score lay half a percent of the range away. Where all scores are equal, v is 1 and d is K.

Sources: Clopper and Pearson, Biometrika 26 (1934); Korn and Graubard, Survey Methodology 24 (1998),
for the effective n and (t / z)^2; Kish, "Survey Sampling" (1965), for d and K.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.stats.distributions import beta_ppf, normal_ppf, t_ppf

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDING = 1e-12  # a difference this small beside the numbers it was computed from is rounding

METHODS = ("auto", "t")
"""Ways to bound a mean: by the range of the scores, and Student's t."""

EFFECTIVE_N, SKEW_T = "effective-n", "skew-t"
"""The methods that ``auto`` means: with scores that have a range, and without."""

Span = tuple[float | None, float | None]
"""The range of a metric: its lowest and highest possible value; ``None`` where there is none."""

Bounds = tuple[float | None, float | None]
"""Lower and upper confidence bound of a mean; ``None`` where there is none."""

_BELIEVED_ICC = 0.2  # correlation inside the one cluster that is believed beforehand
_LEAST_SPREAD = 0.005  # how far from all others one more score may lie, as a share of the range
_FEW, _CROWDED = 3.0, 0.1  # values are crowded where k is below the first, and v below the second
# Effective successes and failures from which beta and normal bounds agree to 1 % of the width.
_NORMAL_FROM = 1e4


def is_close(number: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding: of the larger one, or of 1."""
    return math.isclose(number, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


@dataclass(frozen=True, slots=True)
class Units:
    """The values of one metric, added up within the same units.

    Attributes:
        sums: sum of the values of each unit, shape ``(n_units,)``.
        counts: how many values each unit holds, same shape, at least 1 each.
        scale: the largest number that the values were computed from.
        within: sum of the squared distances of the values from the mean of their unit.
        n_units, n_values: how many there are.
        mean: of all values; not a number where there are none.
    """

    sums: FloatArray
    counts: FloatArray
    scale: float
    within: float
    n_units: int
    n_values: float
    mean: float

    @classmethod
    def of(cls, values: FloatArray, clusters: IntArray | None, scale: float | None = None) -> Units:
        """Sums values by cluster code; ``scale`` is by default the largest absolute value."""
        if scale is None:
            scale = float(np.abs(values).max())
        sums, counts, within = values, np.ones(values.size), 0.0
        if clusters is not None:
            _, codes, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
            sums = np.asarray(np.bincount(codes, weights=values), dtype=np.float64)
            distances = values - (sums / sizes)[codes]
            distances[np.abs(distances) <= ROUNDING * scale] = 0.0
            counts, within = sizes.astype(np.float64), float((distances**2).sum())
        n = float(counts.sum())
        mean = float(sums.sum()) / n if n else math.nan
        return cls(sums, counts, scale, within, counts.size, n, mean)

    @property
    def residuals(self) -> FloatArray:
        """Each unit's sum minus its count times the mean, shape ``(n_units,)``; 0 where it is
        rounding."""
        residuals = self.sums - self.mean * self.counts
        residuals[np.abs(residuals) <= ROUNDING * self.scale * self.counts] = 0.0
        return residuals

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, robust to dependence inside units; for two units or more. The
        variance is G/(G-1) * sum of squared residuals / n^2 for G units."""
        residuals = self.residuals
        largest = float(np.abs(residuals).max())
        if largest == 0.0:
            return 0.0
        factor = math.sqrt(self.n_units / (self.n_units - 1))
        root = math.sqrt(float(((residuals / largest) ** 2).sum()))
        return factor * largest * root / self.n_values


def finite_row(values: ArrayLike) -> FloatArray:
    """Finite numbers as an array, shape ``(n,)``; else a `ValueError`."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ValueError("values must be a one-dimensional array of finite numbers")
    return row


def cluster_codes(clusters: Iterable[Hashable], n: int) -> IntArray:
    """A code from 0 for each cluster label, shape ``(n,)``; equal labels have equal codes."""
    if isinstance(clusters, np.ndarray):
        clusters = clusters.tolist()
    code_of: dict[Hashable, int] = {}
    numbers = [code_of.setdefault(label, len(code_of)) for label in clusters]
    codes = np.array(numbers, dtype=np.int64)
    if codes.shape != (n,):
        raise ValueError(f"there are {n} values but {codes.size} cluster labels")
    return codes


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
        method: ``auto`` (see `ragassay.stats.intervals`) or ``t``.
        clusters: a label for each value. The standard error is then robust to clusters, with G - 1
            degrees of freedom for G of them.

    There are no bounds with fewer than two units. Except with ``effective-n``, there are none
    either where all units are equal, because such values show no spread.
    """
    check_options(method, level)
    row = finite_row(values)
    codes = None if clusters is None else cluster_codes(clusters, row.size)
    ends = None
    if method == "auto":
        least, most = span
        if least is not None and most is not None and least < most:
            slack = ROUNDING * max(abs(least), abs(most))
            if not row.size or (row.min() >= least - slack and row.max() <= most + slack):
                ends = least, most
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


def range_bounds(units: Units, low: float, high: float, level: float) -> tuple[float, float]:
    """Lower and upper bound of the mean of two units or more, inside the range of the values (low <
    high), at a level for both bounds together."""
    mean = min(max((units.mean - low) / (high - low), 0.0), 1.0)
    z = normal_ppf((1.0 + level) / 2.0)
    trials = units.n_values / _average_size(units)
    if units.within or _between(units):
        k = _distant(units, low, high)
        t = t_ppf((1.0 + level) / 2.0, min(k + 1.0, units.n_units - 1.0))
        effect = min(_design_effect(units, k) * t / z, _average_size(units))
        variance = min(_variance(units, low, high, k) * (t / z) ** 2, 1.0)
        trials = units.n_values / (variance * effect)
    if trials * min(mean, 1.0 - mean) > _NORMAL_FROM:
        reach = z * math.sqrt(mean * (1.0 - mean) / trials)
        bounds = max(mean - reach, 0.0), min(mean + reach, 1.0)
    else:
        bounds = beta_bounds(trials * mean, trials * (1.0 - mean), level)
    width = high - low
    return low + width * min(bounds[0], mean), low + width * max(bounds[1], mean)


def is_crowded(units: Units, low: float, high: float) -> bool:
    """Whether nearly all values lie so close to one end that the bounds may be too close."""
    k = _distant(units, low, high)
    return 0.0 < k < min(_FEW, units.n_units / 2.0) and _variance(units, low, high, k) < _CROWDED


def _distant(units: Units, low: float, high: float) -> float:
    """The k of the formula above."""
    from_ends = (units.sums - low * units.counts, high * units.counts - units.sums)
    return min(_equal_parts(np.maximum(distances, 0.0)) for distances in from_ends)


def _variance(units: Units, low: float, high: float, k: float) -> float:
    """The v of the formula above, for values that differ."""
    mean, width, n = (units.mean - low) / (high - low), high - low, units.n_values
    squares = (units.within + _between(units)) / width**2 + _LEAST_SPREAD**2
    # Squared distances are from the mean of these values, which is nearer to them than the truth.
    variance = squares / (n - _design_effect(units, k))
    most = mean * (1.0 - mean)
    return min(variance / most, 1.0) if most > 0.0 else 1.0


def _design_effect(units: Units, k: float) -> float:
    """The d of the formula above: the correlation is found in k clusters and believed of one."""
    more = units.n_values - units.n_units
    if not more:
        return 1.0
    inside = units.within / more
    extra = _between(units) - (units.n_units - 1.0) * inside
    found = max(extra / (units.n_values - _average_size(units)), 0.0)
    between = (k * found + _BELIEVED_ICC / (1.0 - _BELIEVED_ICC) * inside) / (k + 1.0)
    icc = between / (between + inside) if between > 0.0 else _BELIEVED_ICC
    return 1.0 + icc * (_average_size(units) - 1.0)


def _between(units: Units) -> float:
    """Sum of the squared distances of the clusters' means from the mean, once for each value."""
    return float((units.residuals**2 / units.counts).sum())


def _average_size(units: Units) -> float:
    """The K of the formula above."""
    return float((units.counts**2).sum()) / units.n_values


def _equal_parts(amounts: FloatArray) -> float:
    """How many equal amounts would share their sum as evenly as these; 0 where all are 0."""
    largest = float(amounts.max())
    if largest <= 0.0:
        return 0.0
    shares = amounts / largest
    return float(shares.sum() ** 2 / (shares**2).sum())


def beta_bounds(won: float, lost: float, level: float) -> tuple[float, float]:
    """Bounds of a share, by Clopper and Pearson, of what happened and what did not so often."""
    tail = (1.0 - level) / 2.0
    low = beta_ppf(tail, won, lost + 1.0) if won > 0.0 else 0.0
    high = beta_ppf(1.0 - tail, won + 1.0, lost) if lost > 0.0 else 1.0
    return low, high


def skewed_bounds(units: Units, level: float) -> tuple[float, float] | None:
    """Student's t bounds of a mean without a range, the one on the side of the longer tail moved
    outwards by ``(1 + 2 t^2) sum(u^3) / (6 sum(u^2))`` for the residuals u of the units as shares
    of n; ``None`` where all units are equal. Clusters of unequal size count as fewer (Kish).

    Source: Johnson, "Modified t tests ...", Journal of the American Statistical Association 73
    (1978)."""
    mean, error = units.mean, units.standard_error
    if error == 0.0:
        return None
    t = t_ppf((1.0 + level) / 2.0, max(_equal_parts(units.counts) - 1.0, 1.0))
    shares = units.residuals / units.n_values
    largest = float(abs(shares).max())
    shares = shares / largest
    move = largest * (1.0 + 2.0 * t * t) * float((shares**3).sum() / (shares**2).sum()) / 6.0
    low, high = mean - t * error + min(move, 0.0), mean + t * error + max(move, 0.0)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


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
