"""The units of a sample: values that are drawn, flipped or left out together.

Without clusters each query is a unit. With clusters (the turns of a conversation, the questions
about a document, the repeats of a query) each cluster is a unit, and every formula below is the
ratio of a sum over units to a count over units. With one query a unit they are the textbook
formulas.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDING = 1e-12
"""A difference this small beside the numbers it was computed from is rounding, not a finding."""


def is_close(one: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding: of the larger one, or of 1."""
    return math.isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


@dataclass(frozen=True, slots=True)
class Units:
    """Several rows of values (one a metric), added up within the same units.

    Attributes:
        sums: shape ``(n_rows, n_units)``.
        counts: how many values each unit holds, shape ``(n_units,)``, at least 1 each.
        scale: for each row the largest number that its values were computed from, ``(n_rows,)``.
    """

    sums: FloatArray
    counts: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, values: FloatArray, clusters: IntArray | None, scale: FloatArray) -> Units:
        """Sums values by cluster.

        Args:
            values: shape ``(n_rows, n)``.
            clusters: cluster codes, shape ``(n,)``; ``None`` makes each value a unit.
            scale: for each row the largest number that its values were computed from,
                ``(n_rows,)``.
        """
        if clusters is None:
            return cls(values, np.ones(values.shape[1]), scale)
        _, codes, counts = np.unique(clusters, return_inverse=True, return_counts=True)
        sums = np.array([np.bincount(codes, weights=row, minlength=counts.size) for row in values])
        return cls(sums.reshape(len(values), counts.size), counts.astype(np.float64), scale)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return self.counts.size

    @property
    def n_values(self) -> float:
        """How many values a row has."""
        return float(self.counts.sum())

    @property
    def means(self) -> FloatArray:
        """The mean of all values of each row, shape ``(n_rows,)``."""
        return np.asarray(self.sums.sum(axis=1) / self.n_values)

    @property
    def residuals(self) -> FloatArray:
        """Each unit's sum minus its count times the mean, shape ``(n_rows, n_units)``; 0 where it
        is rounding."""
        residuals = self.sums - self.means[:, None] * self.counts
        residuals[np.abs(residuals) <= ROUNDING * self.scale[:, None] * self.counts] = 0.0
        return residuals

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each mean, robust to dependence inside units, shape ``(n_rows,)``.

        The variance is G/(G-1) * sum of squared residuals / n^2 for G units: the sample standard
        deviation over the square root of n when each unit is one value. Needs two units or more.
        """
        residuals = self.residuals
        largest = np.abs(residuals).max(axis=1)
        scaled = residuals / np.where(largest > 0, largest, 1.0)[:, None]
        factor = math.sqrt(self.n_units / (self.n_units - 1))
        return np.asarray(factor * largest * np.sqrt((scaled**2).sum(axis=1)) / self.n_values)

    @property
    def leave_one_out(self) -> FloatArray:
        """The means with one unit left out, for each unit, shape ``(n_rows, n_units)``."""
        rest = self.sums.sum(axis=1, keepdims=True) - self.sums
        return np.asarray(rest / (self.n_values - self.counts))


def cluster_codes(clusters: Iterable[Hashable], n: int) -> IntArray:
    """A code from 0 for each cluster label, shape ``(n,)``; equal labels have equal codes.

    Args:
        clusters: labels of any hashable kind.
        n: how many there must be.

    Raises:
        ValueError: not exactly ``n`` labels.
    """
    if isinstance(clusters, np.ndarray):
        clusters = clusters.tolist()
    code_of: dict[Hashable, int] = {}
    codes = np.array(
        [code_of.setdefault(label, len(code_of)) for label in clusters], dtype=np.int64
    )
    if codes.shape != (n,):
        raise ValueError(f"there are {n} values but {codes.size} cluster labels")
    return codes
