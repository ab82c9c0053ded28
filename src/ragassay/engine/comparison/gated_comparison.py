"""A comparison with what its gates found: those on drops, and ``--fail-if-worse``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ragassay.counts import either
from ragassay.engine.comparison import drops
from ragassay.engine.comparison.compare_runs import compare_arrays
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.gates import OWED
from ragassay.engine.comparison.pairs import MatchedRuns, query_matrix
from ragassay.engine.results import Comparison, Difference, GateResult

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
        """A comparison with its gates.

        Args:
            comparison: of two runs.
            fail_if_worse: whether no tested metric may be worse.
        """
        worse = (_not_worse(comparison),) if fail_if_worse else ()
        return cls(comparison, (*comparison.gates, *worse))

    @property
    def decidable(self) -> bool:
        """Whether any metric is scored in both runs for a common query."""
        return any(d.n for d in self.comparison.differences)

    def on(self, gate: GateResult) -> list[Difference]:
        """The metrics that a gate speaks of: its own, or those that are or may be worse."""
        metric = drops.metric_of(gate)
        if metric is not None:
            return [d for d in self.comparison.differences if d.name == metric]
        worse, few, suspected = _doubtful(self.comparison.differences)
        return worse or few or _hidden(self.comparison).metrics or suspected

    def worst(self, gate: GateResult, most: int) -> list[str]:
        """The queries that fare worst against the old run in the metrics of a gate, a line each.

        Args:
            gate: one of the gates.
            most: queries of each metric.
        """
        differences = self.on(gate)
        if not differences or self.comparison.runs is None:
            return []
        new, old = self.comparison.runs
        matched = MatchedRuns.of(new, aligned(old, new))
        if not matched.queries:
            return []
        (a, known_a), (b, known_b) = matched.scores([d.name for d in differences])
        lines = []
        for at, d in enumerate(differences):
            gain = (a[at] - b[at]) * (-1 if d.higher_is_better is False else 1)
            fallen = [k for k in gain.argsort(kind="stable") if known_a[at, k] and known_b[at, k]]
            lines += [
                f"{matched.queries[k]}: {d.name} {a[at, k]:.4f}, before {b[at, k]:.4f}"
                for k in fallen[:most]
                if gain[k] < 0
            ]
        return lines


def _doubtful(
    differences: Iterable[Difference],
) -> tuple[list[Difference], list[Difference], list[Difference]]:
    """The metrics that are worse, those of which too few queries could tell, and those of which
    offline judgments only suggest it."""
    listed = list(differences)
    return (
        [d for d in listed if d.verdict == "worse"],
        [d for d in listed if d.p_adjusted is not None and d.too_few and d.seems_worse],
        [d for d in listed if d.standing == "indicative" and d.suspected],
    )


@dataclass(frozen=True)
class _Hidden:
    """What may hide that A is worse.

    Attributes:
        metrics: tested metrics that could be worse.
        n_owed: how many of their scores A owes, of queries that both runs have.
        n_lacking: how many queries A lacks of which B has such a score.
        n_unscored: how many scores are missing, the owed ones and those of these queries.
    """

    metrics: list[Difference]
    n_owed: int = 0
    n_lacking: int = 0
    n_unscored: int = 0

    @property
    def why(self) -> str:
        """What is missing, and what to do about queries that are."""
        found, advice = drops.missing(self.n_owed, "A should have", self.n_lacking)
        named = ", ".join(d.name for d in self.metrics)
        them = either(self.n_owed + self.n_lacking, "it", "them")
        return f"{found}, and A may be worse by {them}: {named}{advice}"


def _hidden(comparison: Comparison) -> _Hidden:
    """The tested metrics that could be worse by the scores that A owes where B has one, and by the
    queries of B that A lacks.

    Could be worse: each of them is taken for the worst value of its metric, and the test says so,
    or too few queries could tell. A metric without a worst value could be, in any case.
    """
    listed = [
        d for d in comparison.differences
        if d.standing == "tested" and d.higher_is_better is not None
    ]  # fmt: skip
    if comparison.runs is None or not listed or not comparison.n_common:
        return _Hidden([])
    a, b = comparison.runs
    matched = MatchedRuns.of(a, aligned(b, a))
    names = [d.name for d in listed]
    matched = matched.with_queries(matched.lacking(names))
    (values_a, mask_a), (values_b, mask_b) = matched.scores(names)
    in_a = np.array([query in matched.rows_a for query in matched.queries])
    rows_a = [np.array(matched.rows_a.get(q, ()), dtype=np.int64) for q in matched.queries]
    owed, lacking, without_worst = [0] * len(names), ~in_a & mask_b, set()
    for at, d in enumerate(listed):
        missing = a.columns.unscored(d.name, OWED)
        pairs = zip(rows_a, mask_b[at], strict=True)
        owed[at] = sum(int(missing[rows].sum()) for rows, scored in pairs if scored)
        if not owed[at] and not lacking[at].any():
            continue
        low, high = a.summary.metrics[d.name].bounds
        worst = low if d.higher_is_better else high
        if worst is None:
            without_worst.add(at)
        else:
            filled = query_matrix(a, [d.name], matched.rows_a, matched.queries, worst)
            values_a[at], mask_a[at] = filled[0][0], filled[1][0]
    if not any(owed) and not lacking.any():
        return _Hidden([])
    at_worst = compare_arrays(
        names,
        values_a,
        values_b,
        mask=mask_a & mask_b,
        clusters=matched.clusters[0],
        higher_is_better=[d.higher_is_better for d in listed],
        n_resamples=comparison.n_resamples,
        seed=comparison.seed,
        level=comparison.level,
        correction=comparison.correction,
    ).differences
    could_be = [
        at
        for at, d in enumerate(at_worst)
        if (owed[at] or lacking[at].any())
        and (at in without_worst or d.verdict == "worse" or (d.too_few and d.seems_worse))
    ]
    n_owed = sum(owed[at] for at in could_be)
    of_these = lacking[could_be]
    return _Hidden(
        [listed[at] for at in could_be],
        n_owed,
        n_lacking=int(of_these.any(axis=0).sum()),
        n_unscored=n_owed + int(of_these.sum()),
    )


def _not_worse(comparison: Comparison) -> GateResult:
    """Passed where no tested metric is shown to be worse, undecided where that could not have been
    shown, or may be hidden by scores or queries that are missing."""
    differences = comparison.differences

    def result(passed: bool | None, why: str = "", unscored: int = 0) -> GateResult:
        return GateResult(NOT_WORSE, None, passed, unscored, why)

    def names(chosen: Iterable[Difference]) -> str:
        return ", ".join(d.name for d in chosen)

    worse, few, suspected = _doubtful(differences)
    if worse:
        return result(False, f"worse: {names(worse)}")
    if few:
        return result(None, f"n is too small to tell whether A is worse: {names(few)}")
    hidden = _hidden(comparison)
    if hidden.metrics:
        return result(None, hidden.why, hidden.n_unscored)
    if suspected:
        return result(
            None,
            f"A may be worse, by offline judgments that are only indicative and an uncorrected "
            f"test: {names(suspected)}; --trust-offline tests them with the others",
        )
    tested = any(d.p_adjusted is not None for d in differences)
    return result(True) if tested else result(None, "none of these metrics is tested")
