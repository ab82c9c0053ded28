"""Corrections of several tests that belong together: Holm's and Benjamini and Hochberg's by
p-values, and step-down max-T for tests on the same queries, which takes their dependence into
account.

Sources: Holm, Scandinavian Journal of Statistics 6 (1979); Benjamini and Hochberg, Journal of the
Royal Statistical Society B 57 (1995); Westfall and Young, "Resampling-Based Multiple Testing"
(1993), algorithm 2.8; Romano and Wolf, Journal of the American Statistical Association 100 (2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ragassay.stats.intervals import FloatArray, IntArray
from ragassay.stats.sign_flip import SignFlips


def adjusted_p(p_values: Sequence[float | None], name: str) -> list[float | None]:
    """The adjusted p-values of a family, by ``holm``, ``bh`` or ``none``, in the same order: reject
    where one is at most the chosen level. Tests without a p-value (``None``) stay so and do not
    count."""
    order, ranked = _ranked(p_values)
    m = len(ranked)
    if name == "holm":
        adjusted = [*accumulate((min(1.0, (m - at) * p) for at, p in enumerate(ranked)), max)]
    elif name == "bh":
        scaled = [min(1.0, m * p / rank) for rank, p in enumerate(ranked, start=1)]
        adjusted = [*accumulate(reversed(scaled), min)][::-1]
    else:
        adjusted = ranked
    result: list[float | None] = [None] * len(p_values)
    for at, p in zip(order, adjusted, strict=True):
        result[at] = p
    return result


def decision_levels(
    p_values: Sequence[float | None], adjusted: Sequence[float | None], alpha: float, name: str
) -> list[float]:
    """The level at which each test by itself decides as the corrected family does: an interval at
    that level excludes "no difference" exactly where the corrected test finds one.

    With Holm a finding of rank j among m tests is decided at ``alpha / (m - j + 1)``, and the tests
    that are no finding at the level where the procedure stops. With Benjamini and Hochberg all are
    decided at ``alpha`` times the share of findings (at least one), as in Benjamini and Yekutieli,
    JASA 100 (2005).
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
    ranked = sorted((float(p), at) for at, p in enumerate(p_values) if p is not None)
    for p, _ in ranked:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"a p-value lies in [0, 1], not at {p}")
    return [at for _, at in ranked], [p for p, _ in ranked]


def max_t(
    flips: SignFlips, rows: Sequence[int], alpha: float = 0.05
) -> tuple[list[float], list[float]]:
    """Step-down max-T over some rows, at the level of the family: adjusted p-values, one for each
    of ``rows`` (a finding where at most ``alpha``), and the levels at which the rows' own tests
    decide in the same way.

    Each sign pattern gives each row a statistic: the absolute sum of its differences over the root
    of their sum of squares. The rows are tested from the largest observed statistic on; each is
    compared with the largest statistic, pattern by pattern, of the rows not tested yet."""
    chosen = list(rows)
    spread = np.where(flips.spread > 0, flips.spread, 1.0)[chosen]
    statistic = np.abs(flips.sums[:, chosen]) / spread
    # Statistics this close to the observed one are equal to it, despite rounding.
    slack = flips.slack[chosen] / spread
    like = [
        _Like(float(seen - off), float(seen + off), bool(half and seen > off))
        for seen, off, half in zip(statistic[0], slack, flips.halves[chosen], strict=True)
    ]
    # Ties that count half come first among equal statistics: a whole tie would count for them.
    order = np.lexsort((~flips.halves[chosen], -np.round(statistic[0], 9)))
    p_values, thresholds = _steps(statistic, like, order, alpha)
    n = flips.n_patterns
    adjusted, levels = [1.0] * len(chosen), [alpha] * len(chosen)
    largest_p, threshold, n_left = 0.0, np.inf, len(chosen)
    for step, at in enumerate(order):
        if largest_p <= alpha:
            # The first row that is no finding ends the tests: the rest has its threshold.
            threshold, n_left = thresholds[step], len(chosen) - step
        largest_p = max(largest_p, p_values[step])
        adjusted[at] = largest_p
        # Where a statistic takes few values, its threshold says little: Bonferroni's level is safe.
        n_beyond = max(float((statistic[:, at] > threshold).sum()), alpha * n / n_left)
        n_like_observed = like[at].share(statistic[:, at]) * n
        if largest_p <= alpha:
            levels[at] = max(n_beyond, n_like_observed) / n
        else:
            levels[at] = min(n_beyond, n_like_observed - 0.5) / n
    for at, following in zip(order[-2::-1], order[:0:-1], strict=True):
        # Rows with the same statistic are decided in one step, whichever of them comes first.
        tied = statistic[0, at] - statistic[0, following] <= 1e-9 * statistic[0, at]
        if tied and adjusted[at] == adjusted[following] <= alpha:
            levels[at] = max(levels[at], levels[following])
    return adjusted, levels


class _Like(NamedTuple):
    """The statistics that count as the observed one: in ``[low, high]``, half where ties do."""

    low: float
    high: float
    half: bool

    def share(self, statistic: FloatArray) -> float:
        """The share of patterns at least as far from zero as the observation."""
        reached = float((statistic >= self.low).mean())
        return (reached + float((statistic > self.high).mean())) / 2.0 if self.half else reached


def _steps(
    statistic: FloatArray, like: Sequence[_Like], order: IntArray, alpha: float
) -> tuple[list[float], list[float]]:
    """The p-value and the threshold of each step, in ``order``, of statistics of shape
    ``(n_patterns, n_rows)``.

    Both use the largest statistic among the row of a step and the rows after it: the share of
    patterns in which it reaches the row's own observation, and the value that it exceeds in a share
    of at most ``alpha``."""
    n = len(statistic)
    n_allowed = int(np.floor(alpha * n + 1e-9))
    largest = np.zeros(n)
    p_values, thresholds = [], []
    for at in order[::-1]:
        largest = np.maximum(largest, statistic[:, at])
        p_values.append(like[at].share(largest))
        beyond = np.partition(-largest, n_allowed)[n_allowed] if n_allowed < n else 1.0
        thresholds.append(-float(beyond))
    return p_values[::-1], thresholds[::-1]
