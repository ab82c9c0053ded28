"""How much a few values of one thing vary: the statistics of repeated runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of two or more values of one thing.

    Attributes:
        n: how many values.
        mean: arithmetic mean.
        variance: sample variance: squared deviations over n - 1.
        cv: coefficient of variation: the sample standard deviation (the root of ``variance``) over
            the size of the mean; ``None`` at mean 0.
        median: the middle value.
        std: population standard deviation (over n), as Open RAG Eval has it.
        range: highest minus lowest (Open RAG Eval's ``max_min``).
        iqr: 75th minus 25th percentile, interpolated linearly (numpy's percentile).
        cai: Open RAG Eval's consistency-adjusted index, ``mean / (1 + std)``.
    """

    n: int
    mean: float
    variance: float
    cv: float | None
    median: float
    std: float
    range: float
    iqr: float
    cai: float


def spread(values: ArrayLike) -> Spread:
    """The statistics of some values.

    Equal values have no spread, even where rounding would move their mean."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or row.size < 2 or not np.isfinite(row).all():
        raise ValueError("a spread needs two or more finite values in one dimension")
    row = np.sort(row)  # sums round by their order, and that of the runs means nothing
    low, high = float(row[0]), float(row[-1])
    if low == high:
        return Spread(row.size, low, 0.0, 0.0 if low else None, low, 0.0, 0.0, 0.0, low)
    with np.errstate(over="ignore", invalid="ignore"):
        # A mean lies between the extremes; its rounding need not.
        mean = min(max(float(row.mean()), low), high)
        off = row - mean
        largest = float(np.abs(off).max())
        # Squares of shares neither vanish nor overflow.
        squares = float(((off / largest) ** 2).sum())
        first, third = (float(q) for q in np.percentile(row, [25, 75]))
    sample, std = (largest * math.sqrt(squares / n) for n in (row.size - 1, row.size))
    if not all(map(math.isfinite, (mean, sample * sample, high - low, third - first))):
        raise ValueError("the values are too large for their squares to be summed")
    cv = sample / abs(mean) if mean else math.inf
    return Spread(
        n=row.size,
        mean=mean,
        variance=largest * largest * (squares / (row.size - 1)),
        cv=cv if math.isfinite(cv) else None,
        median=float(np.median(row)),
        std=std,
        range=high - low,
        iqr=max(0.0, third - first),
        cai=mean / (1.0 + std),
    )
