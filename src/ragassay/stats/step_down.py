"""Several tests on the same queries, corrected by their joint distribution.

Near-twins (Recall@5 and P@5) rise and fall together: a correction that knows it hardly lowers the
power for having both. Each sign pattern gives one statistic a row, the sum of its differences over
the root of their sum of squares (so that a metric from 0 to 100 counts as one from 0 to 1), and the
largest of them over the rows is what a row is measured by: step down, from the row with the largest
statistic on, over the rows that are left. The chance of even one false discovery is at most alpha.

Source: P. Westfall and S. Young, "Resampling-Based Multiple Testing" (1993), algorithm 2.8; J.
Romano and M. Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing",
Journal of the American Statistical Association 100 (2005).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.stats.sign_flip import SignFlips


def max_t(
    flips: SignFlips, rows: Sequence[int], alpha: float = 0.05
) -> tuple[list[float], list[float]]:
    """Step-down max-T over some rows.

    Args:
        flips: the sign patterns, shared by all rows.
        rows: the rows that are tested together.
        alpha: level of the family, in (0, 1).

    Returns:
        Adjusted p-values, one for each of ``rows`` (a finding where at most ``alpha``), and the
        levels of their own tests that decide alike: a row is a finding exactly where its raw
        p-value is at most its level.
    """
    spread = np.where(flips.spread > 0, flips.spread, 1.0)[list(rows)]
    statistic = np.abs(flips.sums[:, list(rows)]) / spread
    reached = statistic >= statistic[0] - flips.slack[list(rows)] / spread
    order = np.argsort(-statistic[0], kind="stable")
    n, allowed = flips.n_patterns, int(np.floor(alpha * flips.n_patterns + 1e-9))
    # The largest statistic among a row and those after it, from the last row backwards.
    largest = np.zeros(n)
    steps: list[tuple[float, float]] = []
    for at in order[::-1]:
        largest = np.maximum(largest, statistic[:, at])
        p = float((largest >= statistic[0, at] - flips.slack[rows[at]] / spread[at]).mean())
        critical = float(-np.partition(-largest, allowed)[allowed]) if allowed < n else -1.0
        steps.append((p, critical))
    adjusted, levels = [1.0] * len(rows), [alpha] * len(rows)
    running, threshold, together = 0.0, np.inf, len(rows)
    for done, (at, (p, critical)) in enumerate(zip(order, reversed(steps), strict=True)):
        if running <= alpha:
            # Once a row is no discovery, the others are held against its threshold.
            threshold, together = critical, len(rows) - done
        running = max(running, p)
        adjusted[at] = running
        # Where a statistic takes few values, its threshold says little: Bonferroni's level is safe.
        level = max(float((statistic[:, at] > threshold).sum()), alpha * n / together)
        own = int(reached[:, at].sum())
        levels[at] = (max(level, own) if running <= alpha else min(level, own - 1)) / n
    for at, twin in zip(order[-2::-1], order[:0:-1], strict=True):
        # Twins are decided in one step, whichever of them comes first.
        alike = statistic[0, at] - statistic[0, twin] <= 1e-9 * statistic[0, at]
        if alike and adjusted[at] == adjusted[twin] <= alpha:
            levels[at] = max(levels[at], levels[twin])
    return adjusted, levels
