"""The distribution of a metric's values, as box plots, histograms and point clouds show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.results.summary import MetricSummary

Values = NDArray[np.float64]

_GOLDEN = 0.618_033_988_749_895


@dataclass(frozen=True, slots=True)
class Box:
    """Tukey's box: quartiles (linear interpolation), whiskers within 1.5 boxes."""

    low: float
    q1: float
    median: float
    q3: float
    high: float


def box(values: Values) -> Box | None:
    """The box of all values, or ``None`` when there are none."""
    if not values.size:
        return None
    q1, median, q3 = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = float(inside.min()), float(inside.max())
    # Interpolated quartiles can lie outside the values that are left; whiskers never point inwards.
    return Box(min(low, q1), q1, median, q3, max(high, q3))


def histogram(values: Values, low: float, high: float, bins: int = 24) -> list[int]:
    """Counts the values in bins of equal width; the last bin includes ``high``."""
    if np.unique(np.linspace(low, high, bins + 1)).size <= bins:
        # The ends differ by rounding alone, so the values count as one.
        margin = max(0.5, 1e-9 * max(abs(low), abs(high)))
        low, high = low - margin, high + margin
    counts, _ = np.histogram(values, bins=bins, range=(low, high))
    return [int(count) for count in counts]


def thinned(values: Values, limit: int) -> Values:
    """At most ``limit`` of the values, evenly spaced by rank, with the smallest and the largest."""
    ordered = np.sort(values)
    if ordered.size <= limit:
        return ordered
    return ordered[np.linspace(0, ordered.size - 1, limit).round().astype(np.int64)]


def spread(n: int) -> Values:
    """``n`` numbers in ``[-0.5, 0.5)``, always the same, that keep neighbouring points apart."""
    return np.arange(1, n + 1, dtype=np.float64) * _GOLDEN % 1.0 - 0.5


def scale(metric: MetricSummary) -> tuple[float, float]:
    """The axis of a metric: its bounds where it has them, else the range of its values; from 0
    where only the upper bound is set."""
    low, high = metric.bounds
    if low is None:
        low = metric.minimum
        if low is not None and high is not None:
            low = min(low, 0.0)
    high = metric.maximum if high is None else high
    low = 0.0 if low is None else low
    high = low + 1.0 if high is None or high <= low else high
    return float(low), float(high)
