"""Means of two independent samples: Welch's test, robust to dependence inside clusters.

Source: B. L. Welch, "The generalization of 'Student's' problem when several different population
variances are involved", Biometrika 34 (1947), with each sample's cluster-robust standard error and
its number of clusters in place of the number of values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ragassay.stats.distributions import t_ppf, t_sf
from ragassay.stats.intervals import Bounds
from ragassay.stats.units import Units, cluster_codes, finite_row


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The difference of two means.

    Attributes:
        a, b: the means.
        error: standard error of ``a - b``; 0 where all values of each sample are equal.
        df: degrees of freedom; 0 where a sample has fewer than two units.
    """

    a: float
    b: float
    error: float
    df: float

    @property
    def diff(self) -> float:
        """``a - b``."""
        return self.a - self.b

    @property
    def p_value(self) -> float | None:
        """Of the two-sided test that the true means are equal; ``None`` where there is no error to
        compare with."""
        if not self.error:
            return None
        return min(1.0, 2.0 * t_sf(abs(self.diff) / self.error, self.df))

    def interval(self, tail: float) -> Bounds:
        """Both bounds of the true difference."""
        if not self.error or not 0.0 < tail < 1.0:
            return None, None
        reach = t_ppf(1.0 - tail / 2.0, self.df) * self.error
        return self.diff - reach, self.diff + reach

    def detectable(self, alpha: float, power: float = 0.8) -> float | None:
        """The smallest true difference, in the direction of ``diff``, that the test finds with this
        power in such samples."""
        if not self.error:
            return None
        reach = (t_ppf(1.0 - alpha / 2.0, self.df) + t_ppf(power, self.df)) * self.error
        return math.copysign(reach, self.diff)


def mean_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters_a: Iterable[Hashable] | None = None,
    clusters_b: Iterable[Hashable] | None = None,
) -> MeanDifference | None:
    """The difference of the means of two independent samples; ``None`` where one is empty."""
    rows = finite_row(a), finite_row(b)
    if not all(row.size for row in rows):
        return None
    labels = (clusters_a, clusters_b)
    first, second = (
        Units.of(row, None if label is None else cluster_codes(label, row.size))
        for row, label in zip(rows, labels, strict=True)
    )
    if min(first.n_units, second.n_units) < 2:
        return MeanDifference(first.mean, second.mean, 0.0, 0.0)
    errors = [units.standard_error for units in (first, second)]
    error = math.hypot(*errors)
    if not error:
        return MeanDifference(first.mean, second.mean, 0.0, 0.0)
    shares = [(one / error) ** 2 for one in errors]
    df = 1.0 / sum(
        share**2 / (units.n_units - 1) for share, units in zip(shares, (first, second), strict=True)
    )
    return MeanDifference(first.mean, second.mean, error, df)
