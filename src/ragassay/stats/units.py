"""The units of a sample: values that are drawn, flipped or left out together. Without clusters each
query is a unit, with clusters (the turns of a conversation, the repeats of a query) each cluster.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDING = 1e-12  # a difference this small beside the numbers it was computed from is rounding


def is_close(one: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding: of the larger one, or of 1."""
    return math.isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


@dataclass(frozen=True, slots=True)
class Units:
    """The values of one metric, added up within the same units.

    Attributes:
        sums: sum of the values of each unit, shape ``(n_units,)``.
        counts: how many values each unit holds, same shape, at least 1 each.
        scale: the largest number that the values were computed from.
        within: sum of the squared distances of the values from the mean of their unit.
    """

    sums: FloatArray
    counts: FloatArray
    scale: float
    within: float = 0.0

    @classmethod
    def of(cls, values: FloatArray, clusters: IntArray | None, scale: float | None = None) -> Units:
        """Sums values by cluster code; ``scale`` is by default the largest absolute value."""
        if scale is None:
            scale = float(np.abs(values).max())
        if clusters is None:
            return cls(values, np.ones(values.size), scale)
        _, codes, counts = np.unique(clusters, return_inverse=True, return_counts=True)
        sums = np.asarray(np.bincount(codes, weights=values), dtype=np.float64)
        distances = values - (sums / counts)[codes]
        distances[np.abs(distances) <= ROUNDING * scale] = 0.0
        return cls(sums, counts.astype(np.float64), scale, float((distances**2).sum()))

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return self.counts.size

    @property
    def n_values(self) -> float:
        """How many values there are."""
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return float(self.sums.sum()) / self.n_values

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
