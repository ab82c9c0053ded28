"""A comparison with what its gates found: those on drops, and ``--fail-if-worse``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.base.counts import either
from ragassay.engine.comparison import drops
from ragassay.engine.comparison.compared_arrays import compare_arrays
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.pairs import MatchedRuns
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.gate_result import GateResult

NOT_WORSE = "--fail-if-worse"
"""The gate on all tested metrics."""


@dataclass(frozen=True)
class GatedComparison:
    """A comparison of two runs, and what its gates found.

    Attributes:
        comparison: of the two runs, which it holds.
        gates: on drops, and `NOT_WORSE` where it is asked for.
    """

    comparison: Comparison
    gates: tuple[GateResult, ...]

    @classmethod
    def of(cls, comparison: Comparison, *, fail_if_worse: bool) -> GatedComparison:
        """A comparison with its gates."""
        worse = (_not_worse(comparison)[0],) if fail_if_worse else ()
        return cls(comparison, (*comparison.gates, *worse))

    @property
    def decidable(self) -> bool:
        """Whether any metric is scored in both runs for a common query."""
        return any(d.n for d in self.comparison.differences)

    def on(self, gate: GateResult) -> list[Difference]:
        """The metrics that a gate speaks of: its own, or those that are or may be worse."""
        metric = drops.metric_of(gate)
        if metric is None:
            return _not_worse(self.comparison)[1]
        return [d for d in self.comparison.differences if d.name == metric]

    def worst(self, gate: GateResult, most: int) -> list[str]:
        """The queries that fare worst against the old run in the metrics of a gate, a line each."""
        differences = self.on(gate)
        if self.comparison.runs is None:
            return []
        new, old = self.comparison.runs
        matched = MatchedRuns.of(new, aligned(old, new))
        (a, mask_a), (b, mask_b) = matched.scores([d.name for d in differences])
        lines = []
        for at, d in enumerate(differences):
            gain = (a[at] - b[at]) * (-1 if d.higher_is_better is False else 1)
            worst = [k for k in gain.argsort(kind="stable") if mask_a[at, k] and mask_b[at, k]]
            lines += [
                f"{matched.queries[k]}: {d.name} {a[at, k]:.4f}, before {b[at, k]:.4f}"
                for k in worst[:most]
                if gain[k] < 0
            ]
        return lines


def _not_worse(comparison: Comparison) -> tuple[GateResult, list[Difference]]:
    """The gate on all tested metrics, and the metrics that it speaks of.

    Passed where no tested metric is shown to be worse, undecided where that could not have been
    shown, or may be hidden by scores or queries that are missing.
    """
    differences = comparison.differences
    passed, why, unscored = None, "no metric has more than a hint of a verdict", 0
    if metrics := [d for d in differences if d.verdict == "worse"]:
        passed, why = False, f"worse: {_names(metrics)}"
    elif metrics := [d for d in differences if d.doubtful and d.suspected]:
        why = f"the new run seems worse, but that is only a hint: {_names(metrics)}"
    elif metrics := [
        d for d in differences if d.p_adjusted is not None and d.too_few and d.seems_worse
    ]:
        why = f"n is too small to tell whether the new run is worse: {_names(metrics)}"
    elif hidden := _hidden(comparison):
        metrics, why, unscored = hidden
    elif metrics := [d for d in differences if d.suspected]:
        why = (
            f"the new run may be worse, by offline judgments: {_names(metrics)}; --trust-offline "
            "tests them with the others"
        )
    elif any(d.p_adjusted is not None and not d.doubtful for d in differences):
        passed, why = True, ""
    return GateResult(NOT_WORSE, None, passed, unscored, why), metrics


def _names(metrics: Sequence[Difference]) -> str:
    return ", ".join(d.name for d in metrics)


def _hidden(comparison: Comparison) -> tuple[list[Difference], str, int] | None:
    """The tested metrics that could be worse by the scores that one run owes where the other has
    one or left nothing to measure for another reason, and by the queries of B that A lacks;
    ``None`` where none could be. With a sentence about
    what is missing, and how many scores are.

    Could be worse: what A lacks is taken for the worst value of its metric and what B owes for the
    best, and the test says so, or too few queries could tell. A metric without such a value could
    be, in any case.
    """
    tested = [
        d for d in comparison.differences
        if d.standing == "tested" and d.higher_is_better is not None
    ]  # fmt: skip
    if comparison.runs is None or not tested:
        return None
    a, b = comparison.runs
    if comparison.unpaired:
        owed = {d: sum(int(run.columns.owed(d.name).sum()) for run in (a, b)) for d in tested}
        if not any(owed.values()):
            return None
        metrics, n_owed = [d for d in tested if owed[d]], sum(owed.values())
        what, _ = drops.missing(n_owed, 0)
        return metrics, f"{what}, and may hide that the new run is worse: {_names(metrics)}", n_owed
    if not comparison.n_common:
        return None
    matched = MatchedRuns.of(a, aligned(b, a))
    names = [d.name for d in tested]
    matched = matched.with_queries(matched.lacking(names))
    (values_a, mask_a), (values_b, mask_b) = matched.scores(names)
    by_both = np.array([matched.left_by_both(name) for name in names])
    counted = mask_a | mask_b | by_both
    owed_a = np.array([matched.owed(a, name) for name in names]) * (mask_b | by_both)
    owed_b = np.array([matched.owed(b, name) for name in names]) * (mask_a | by_both)
    lacking = mask_b & np.array([query not in matched.rows_a for query in matched.queries])
    missing = (owed_a > 0) | (owed_b > 0) | lacking
    if not missing.any():
        return None
    unbounded = set()
    for at in np.flatnonzero(missing.any(axis=1)):
        low, high = a.summary.metrics[names[at]].bounds
        worst, best = (low, high) if tested[at].higher_is_better else (high, low)
        if (worst is None and (owed_a[at] > 0).any() | lacking[at].any()) or (
            best is None and (owed_b[at] > 0).any()
        ):
            unbounded.add(at)
        else:
            first, second = matched.scores([names[at]], (worst, best))
            (values_a[at], mask_a[at]), (values_b[at], mask_b[at]) = first, second
    at_worst = compare_arrays(
        names,
        values_a,
        values_b,
        mask=mask_a & mask_b & counted,
        clusters=matched.clusters[0],
        higher_is_better=[d.higher_is_better for d in tested],
        n_resamples=comparison.n_resamples,
        seed=comparison.seed,
        level=comparison.level,
        correction=comparison.correction,
    ).differences
    could_be = [
        at
        for at, d in enumerate(at_worst)
        if missing[at].any() and (at in unbounded or d.found_worse or (d.too_few and d.seems_worse))
    ]
    if not could_be:
        return None
    n_owed = int(owed_a[could_be].sum() + owed_b[could_be].sum())
    n_lacking = int(lacking[could_be].any(axis=0).sum())
    what, advice = drops.missing(n_owed, n_lacking)
    them = either(n_owed + n_lacking, "it", "them")
    metrics = [tested[at] for at in could_be]
    why = f"{what}, and the new run may be worse by {them}: {_names(metrics)}{advice}"
    return metrics, why, n_owed + int(lacking[could_be].sum())
