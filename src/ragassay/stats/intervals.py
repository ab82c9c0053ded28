"""How sure anyone can be of a mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.errors import UsageError
from ragassay.stats.distributions import t_ppf
from ragassay.stats.resampling import bca_bounds, percentile_bounds, resampled_means
from ragassay.stats.units import FloatArray, Units, cluster_codes

METHODS = ("t", "percentile", "bca")
"""Ways to bound a mean: Student's t, and two bootstraps."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with a confidence interval.

    Attributes:
        mean: arithmetic mean of all values; ``None`` without values.
        low, high: bounds; ``None`` with fewer than two independent units. Not clipped to the range
            of a metric: a bound outside it says that the sample is small or skewed.
        level: confidence level in (0, 1).
        method: ``t``, ``percentile`` or ``bca``.
        n: number of values.
        n_clusters: number of clusters, where clusters were given.
    """

    mean: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    n_clusters: int | None = None


def mean_interval(
    values: ArrayLike,
    *,
    method: str = "t",
    level: float = 0.95,
    clusters: Iterable[Hashable] | NDArray[Any] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The mean of ``values`` and a confidence interval for it.

    Values that are all equal give an interval of width zero: the sample shows no spread, which is
    not the same as certainty.

    Args:
        values: finite numbers, shape ``(n,)``; unscored samples are left out by the caller.
        method: ``t`` (Student's t on the mean), ``percentile`` or ``bca`` (bootstrap).
        level: confidence level in (0, 1).
        clusters: a label for each value. Values of one cluster are not independent: the t interval
            uses the cluster-robust standard error with G - 1 degrees of freedom for G clusters, the
            bootstraps draw whole clusters. The mean is over all values in either case.
        n_resamples: draws of a bootstrap.
        seed: seed of a bootstrap; the same seed and values give the same interval.

    Raises:
        UsageError: an unknown method, or a level or number of resamples out of range.
        ValueError: values that are not finite or not one-dimensional, or a wrong number of labels.
    """
    check_options(method, level, n_resamples)
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ValueError("values must be a one-dimensional array of finite numbers")
    codes = None if clusters is None else cluster_codes(clusters, row.size)
    if not row.size:
        return Interval(None, None, None, level, method, 0, None if codes is None else 0)
    units = Units.of(row[None, :], codes, np.array([np.abs(row).max()]))
    n_clusters = None if codes is None else units.n_units
    mean = float(units.means[0])
    low, high = bounds(units, method, level, n_resamples, seed)[0]
    return Interval(mean, low, high, level, method, row.size, n_clusters)


def bounds(
    units: Units, method: str, level: float, n_resamples: int, seed: int
) -> list[tuple[float | None, float | None]]:
    """Lower and upper bound of the mean of each row; ``None`` with fewer than two units."""
    if units.n_units < 2:
        return [(None, None)] * len(units.sums)
    means, errors = units.means, units.standard_errors
    if method == "t":
        reach = t_ppf((1.0 + level) / 2.0, units.n_units - 1) * errors
        return [(float(m - r), float(m + r)) for m, r in zip(means, reach, strict=True)]
    resampled = resampled_means(units, n_resamples, seed)
    left_out = units.leave_one_out
    found: list[tuple[float | None, float | None]] = []
    for at, mean in enumerate(means):
        drawn: FloatArray = resampled[:, at]
        if errors[at] == 0.0:
            found.append((float(mean), float(mean)))
        elif method == "percentile":
            found.append(percentile_bounds(drawn, level))
        else:
            found.append(bca_bounds(drawn, float(mean), left_out[at], level))
    return found


def check_options(method: str, level: float, n_resamples: int) -> None:
    """Refuses options out of range.

    Raises:
        UsageError: an unknown method, or a level or number of resamples out of range.
    """
    if method not in METHODS:
        raise UsageError(f"An interval is one of {', '.join(METHODS)}, not {method!r}.")
    if not 0.0 < level < 1.0:
        raise UsageError(f"A confidence level lies between 0 and 1 (such as 0.95), not at {level}.")
    if n_resamples < 1:
        raise UsageError(f"The number of resamples must be at least 1, not {n_resamples}.")
