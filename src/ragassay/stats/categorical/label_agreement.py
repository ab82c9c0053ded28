"""How far people agree on labels, beyond chance.

Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
Measurement 20 (1960); J. Fleiss, "Measuring nominal scale agreement among many raters",
Psychological Bulletin 76 (1971); K. Krippendorff, "Computing Krippendorff's alpha-reliability"
(2011), nominal data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ragassay.stats.resampling import percentile_bounds
from ragassay.stats.units import IntArray


def cohen_kappa(pairs: IntArray) -> float | None:
    """Cohen's kappa of two people.

    Args:
        pairs: codes from 0, shape ``(n_items, 2)``: a column a person.

    Returns:
        From -1 to 1; ``None`` where it is undefined: no item, or one and the same label throughout.
    """
    if not len(pairs):
        return None
    n_labels = int(pairs.max()) + 1
    first, second = (np.bincount(column, minlength=n_labels) for column in pairs.T)
    expected = float(first @ second) / len(pairs) ** 2
    observed = float(np.mean(pairs[:, 0] == pairs[:, 1]))
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def fleiss_kappa(counts: IntArray) -> float | None:
    """Fleiss' kappa of several people, who need not be the same ones for each item.

    Where items have different numbers of labels, each item counts alike in the agreement observed,
    and each label in the agreement expected; Fleiss' own data have the same number throughout.

    Args:
        counts: how many people gave an item a label, shape ``(n_items, n_labels)``. Items with
            fewer than two labels say nothing and are left out.

    Returns:
        At most 1; ``None`` where it is undefined.
    """
    counts, n = _with_two(counts)
    if not len(counts):
        return None
    observed = float(np.mean((counts * (counts - 1)).sum(axis=1) / (n * (n - 1))))
    expected = float(((counts.sum(axis=0) / n.sum()) ** 2).sum())
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def krippendorff_alpha(counts: IntArray) -> float | None:
    """Krippendorff's alpha for nominal labels, by any number of people an item.

    Args:
        counts: as for `fleiss_kappa`.

    Returns:
        At most 1; ``None`` where it is undefined.
    """
    counts, n = _with_two(counts)
    total, of_label = n.sum(), counts.sum(axis=0)
    expected = float(total**2 - (of_label**2).sum())
    if not expected:
        return None
    observed = float(((n**2 - (counts**2).sum(axis=1)) / (n - 1)).sum())
    return 1.0 - float(total - 1) * observed / expected


def agreement_interval(
    statistic: Callable[[IntArray], float | None],
    rows: IntArray,
    *,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """A percentile bootstrap interval over items.

    Resamples in which the statistic is undefined are left out.

    Args:
        statistic: of rows.
        rows: an item a row.
        level: confidence level.
        n_resamples: number of draws.
        seed: of the draws.

    Returns:
        Low and high; ``None`` where fewer than half of the resamples have a value.
    """
    rng = np.random.default_rng(seed)
    n = len(rows)
    drawn = (statistic(rows[rng.integers(0, n, n)]) for _ in range(n_resamples if n else 0))
    values = np.array([value for value in drawn if value is not None])
    return percentile_bounds(values, level) if 2 * len(values) >= n_resamples else None


def _with_two(counts: IntArray) -> tuple[IntArray, IntArray]:
    """The items that two people or more labelled, and how many did."""
    items = counts[counts.sum(axis=1) > 1]
    return items, items.sum(axis=1)
