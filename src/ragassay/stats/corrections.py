"""Corrections of the p-values of several tests that belong together.

Each function takes the raw p-values of one family of tests and returns the adjusted ones in the
same order: reject where the adjusted value is at most the chosen level. Entries without a p-value
(``None``) stay ``None`` and do not count as tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

Correction = Callable[[Sequence[float | None]], list[float | None]]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment: controls the chance of one or more false discoveries.

    Valid under any dependence between the tests. Source: S. Holm, "A simple sequentially rejective
    multiple test procedure", Scandinavian Journal of Statistics 6 (1979).

    Raises:
        ValueError: a p-value outside [0, 1].
    """
    order, ranked = _ranked(p_values)
    m = len(ranked)
    scaled = (min(1.0, (m - at) * p) for at, p in enumerate(ranked))
    return _in_place(p_values, order, list(accumulate(scaled, max)))


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's step-up adjustment: controls the false discovery rate.

    That is the expected share of false findings among the findings. Valid for independent or
    positively dependent tests. Source: Y. Benjamini and Y. Hochberg,
    "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995).

    Raises:
        ValueError: a p-value outside [0, 1].
    """
    order, ranked = _ranked(p_values)
    m = len(ranked)
    scaled = [min(1.0, m * p / rank) for rank, p in enumerate(ranked, start=1)]
    return _in_place(p_values, order, list(accumulate(reversed(scaled), min))[::-1])


def adjusted_p(p_values: Sequence[float | None], name: str) -> list[float | None]:
    """The adjusted p-values of a family.

    Args:
        p_values: raw p-values.
        name: ``holm``, ``bh`` or ``none``.
    """
    ways: dict[str, Correction] = {"holm": holm, "bh": benjamini_hochberg, "none": list}
    return ways[name](p_values)


def decision_levels(
    p_values: Sequence[float | None], adjusted: Sequence[float | None], alpha: float, name: str
) -> list[float]:
    """The level at which each test by itself decides as the corrected family does.

    An interval at that level excludes "no difference" exactly where the corrected test finds one.

    Args:
        p_values: raw p-values of the family.
        adjusted: the corrected p-values.
        alpha: level of the family.
        name: ``holm``, ``bh`` or ``none``.

    Returns:
        Levels in [0, 1), ``alpha`` where there is no p-value. With Holm a finding of rank j among m
        tests is decided at ``alpha / (m - j + 1)``, and the tests that are no finding at the level
        where the procedure stops. With Benjamini and Hochberg all are decided at ``alpha`` times
        the share of findings (at least one), as in Benjamini and Yekutieli, JASA 100 (2005).
    """
    order, ranked = _ranked(p_values)
    m = len(ranked)
    n_findings = sum(p is not None and p <= alpha for p in adjusted)  # those of the lowest ranks
    levels = [alpha] * len(p_values)
    for rank, (at, p) in enumerate(zip(order, ranked, strict=True), start=1):
        level = {
            "holm": alpha / (m - min(rank, n_findings + 1) + 1),
            "bh": alpha * max(n_findings, 1) / m,
            "none": alpha,
        }[name]
        # The interval must agree with the test, whatever the rounding of the level.
        is_finding = rank <= n_findings
        levels[at] = max(level, p) if is_finding else min(level, math.nextafter(p, 0.0))
    return levels


def _ranked(p_values: Sequence[float | None]) -> tuple[list[int], list[float]]:
    """Positions of the p-values that exist, smallest first, and those values."""
    ranked = [(p, at) for at, p in enumerate(p_values) if p is not None]
    for p, _ in ranked:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"a p-value lies in [0, 1], not at {p}")
    ranked.sort()
    return [at for _, at in ranked], [float(p) for p, _ in ranked]


def _in_place(
    p_values: Sequence[float | None], order: Sequence[int], adjusted: Sequence[float]
) -> list[float | None]:
    result: list[float | None] = [None] * len(p_values)
    for at, p in zip(order, adjusted, strict=True):
        result[at] = p
    return result
