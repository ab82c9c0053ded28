"""A comparison with what its gates found: those on drops, and ``--fail-if-worse``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragassay.engine.comparison import drops
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.pairs import MatchedRuns
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
        worse = (_not_worse(comparison.differences),) if fail_if_worse else ()
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
        return worse or few or suspected

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


def _not_worse(differences: Sequence[Difference]) -> GateResult:
    """Passed where no tested metric is shown to be worse, undecided where that could not have been
    shown."""

    def result(passed: bool | None, why: str = "") -> GateResult:
        return GateResult(NOT_WORSE, None, passed, why=why)

    def names(chosen: Iterable[Difference]) -> str:
        return ", ".join(d.name for d in chosen)

    worse, few, suspected = _doubtful(differences)
    if worse:
        return result(False, f"worse: {names(worse)}")
    if few:
        return result(None, f"n is too small to tell whether A is worse: {names(few)}")
    if suspected:
        return result(
            None,
            f"A may be worse, by offline judgments that are only indicative and an uncorrected "
            f"test: {names(suspected)}; --trust-offline tests them with the others",
        )
    tested = any(d.p_adjusted is not None for d in differences)
    return result(True) if tested else result(None, "none of these metrics is tested")
