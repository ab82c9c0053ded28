"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, whether such a drop is excluded
(non-inferiority), and ``--fail-if-worse``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragassay.base.counts import either, plural
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.engine.comparison.gates import NUMBER, Estimate, Gate, outermost, settled
from ragassay.engine.comparison.pairs import MatchedRuns
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.gate_result import GateResult
from ragassay.engine.results.summary import MetricSummary
from ragassay.stats.intervals import Bounds
from ragassay.stats.paired import PairedResult

_GATE = "no drop "
_FORM = re.compile(rf"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<size>{NUMBER})$")

_ON_THE_SAME_QUERIES = "Make both runs of the same queries"
"""What to do about queries that only the old run has."""


@dataclass(frozen=True)
class Margin:
    """The largest drop of a metric that is allowed.

    Attributes:
        metric: name of the metric.
        size: above 0, in the metric's own unit. A drop is a change for the worse: downwards where
            higher is better, upwards where lower is.
    """

    metric: str
    size: float

    def __str__(self) -> str:
        return f"{self.metric}>{self.size:g}"


def parse(text: str) -> Margin:
    """The margin that ``METRIC>SIZE`` describes.

    Raises:
        UsageError: another form, or a size that is not above 0.
    """
    match = _FORM.match(text.strip())
    if match is None or not float(match["size"]) > 0.0:
        raise UsageError(
            f"--fail-if-drop {text!r} is no margin. Write METRIC>SIZE with a size above 0, as in "
            "'nDCG@10>0.03': a drop by more than that fails."
        )
    return Margin(match["metric"], float(match["size"]))


def figures(gate: GateResult) -> dict[str, float | None]:
    """What a gate that `decide` decided rests on, as a drop: above 0 for the worse. By name: the
    observed ``value``, the ``limit``, and the one-sided bounds ``low`` and ``high``."""
    low, high = gate.drop_bounds
    return {"value": gate.drop, "limit": gate.limit, "low": low, "high": high}


def resolve(
    texts: str | Sequence[str],
    named: Callable[[str], Sequence[str]],
    metrics: Sequence[MetricSummary],
) -> list[Margin]:
    """The margins that texts describe, each metric under the name that it is compared by.

    Args:
        texts: see `parse`.
        named: the compared metrics that a name means.
        metrics: all compared metrics.

    Raises:
        UsageError: no margin, a metric that is not compared or has no better direction, or a margin
            wider than the metric's range.
    """
    summaries = {metric.name: metric for metric in metrics}
    margins = []
    for text in [texts] if isinstance(texts, str) else texts:
        margin = parse(text)
        for name in named(margin.metric):
            low, high = summaries[name].bounds
            if summaries[name].higher_is_better is None:
                raise UsageError(
                    f"--fail-if-drop {text!r}: neither direction of {name} is better, so it cannot "
                    "drop."
                )
            if low is not None and high is not None and margin.size > high - low:
                raise UsageError(
                    f"--fail-if-drop {text!r}: no two values of {name} are {margin.size:g} apart; "
                    f"it runs from {low:g} to {high:g}."
                )
            margins.append(Margin(name, margin.size))
    return margins


def missing(n_owed: int, n_lacking: int) -> tuple[str, str]:
    """What is missing, empty where nothing is; and what to do about queries that are. ``n_owed``
    counts scores that should be there, ``n_lacking`` queries of B that A lacks."""
    facts = []
    if n_owed:
        facts.append(
            f"{plural(n_owed, 'score')} that should be there {either(n_owed, 'is', 'are')} missing"
        )
    if n_lacking:
        facts.append(f"the new run lacks {plural(n_lacking, 'query')} of the old one")
    return " and ".join(facts), f". {_ON_THE_SAME_QUERIES}" if n_lacking else ""


def ends(test: Difference | PairedResult, falls: bool) -> Bounds:
    """The one-sided bounds that decide a gate on a drop: on its side those that hold although
    queries that differ were not among the common ones."""
    return (test.least, test.safe_most) if falls else (test.safe_least, test.most)


def decide(
    margin: Margin,
    metric: MetricSummary,
    difference: Difference,
    bounds_with: Callable[[float, float, bool], Bounds],
    n_owed: int,
    n_lacking: int,
    level: float,
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    The gate rests on the one-sided bounds of the difference, whose level no other metric changes.
    Where scores are owed, it is decided only if the worst and the best possible values give the
    same decision; where A lacks queries of B, only if they do with the worst values for these.

    Args:
        margin: of the metric.
        metric: the metric of the new run.
        difference: of the two runs.
        bounds_with: the one-sided bounds of the difference with all owed scores of A, and of B, at
            two values, and whether the queries that A lacks count as owed by it.
        n_owed: how many scores both runs owe.
        n_lacking: how many queries A lacks of which B has a score.
        level: confidence level of the bounds.
    """
    falls = metric.higher_is_better is False
    least, most = ends(difference, falls)
    gate = (
        Gate(margin.metric, "high", "<=", margin.size)
        if falls
        else Gate(margin.metric, "low", ">=", -margin.size)
    )
    observed = Estimate(difference.diff, least, most)
    possible = [observed]

    def result(passed: bool | None, why: str = "") -> GateResult:
        ends = outermost(gate, possible)
        value = most if falls else least
        missing = n_owed + n_lacking
        drop = difference.diff if falls or difference.diff is None else 0.0 - difference.diff
        gate_result = GateResult(
            f"{_GATE}{margin}", value, passed, missing, why, gate.which, level, *ends
        )
        return replace(gate_result, drop=drop, limit=margin.size)

    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        return result(None, f"{str(difference.why).rstrip('.')}{hint}")
    if difference.n < 2:
        return result(None, "fewer than two common queries have a score")
    why, advice = missing(n_owed, n_lacking)
    if why:
        low, high = metric.bounds
        # Bounds with owed scores are those of means: they say nothing about a percentile.
        if low is None or high is None or metric.percentile is not None:
            return result(None, f"{why}, and may have any value{advice}")
        worst, best = ((high, low), (low, high)) if falls else ((low, high), (high, low))
        both = [bounds_with(*worst, False), bounds_with(*best, False)] if n_owed else []
        # Queries that A lacks do not save it from a drop that is shown without them.
        every = [*both, *([bounds_with(*worst, True)] if n_lacking else [])]
        possible = [*([] if n_owed else [observed]), *(Estimate(None, *bounds) for bounds in every)]
    passed, unsettled = settled(gate, observed, possible, f"{why}{advice}" if why else "")
    seen = difference.most if falls else difference.least
    if passed is None and not why and seen is not None and gate.holds(seen):
        n = plural(difference.n, "query")
        unsettled = f"{n} of which {difference.n_differ} differ are too few to exclude such a drop"
    return result(passed, unsettled or why)


NOT_WORSE = "--fail-if-worse"
"""The gate on all tested metrics."""


def with_not_worse(comparison: Comparison) -> Comparison:
    """The comparison with the gate that no tested metric is worse."""
    return replace(comparison, gates=(*comparison.gates, _not_worse(comparison)[0]))


def metrics_of(comparison: Comparison, gate: GateResult) -> list[Difference]:
    """The metrics that a gate speaks of: its own, or those that are or may be worse."""
    if not gate.gate.startswith(_GATE):
        return _not_worse(comparison)[1]
    metric = parse(gate.gate.removeprefix(_GATE)).metric
    return [d for d in comparison.differences if d.name == metric]


def worst_queries(comparison: Comparison, gate: GateResult, most: int) -> list[str]:
    """The queries that fare worst against the old run in the metrics of a gate, a line each; at
    most so many of each metric."""
    if comparison.runs is None:
        return []
    new, old = comparison.runs
    differences = metrics_of(comparison, gate)
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
        what, _ = missing(n_owed, 0)
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
    absent = (owed_a > 0) | (owed_b > 0) | lacking
    if not absent.any():
        return None
    unbounded = set()
    for at in np.flatnonzero(absent.any(axis=1)):
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
        if absent[at].any() and (at in unbounded or d.found_worse or (d.too_few and d.seems_worse))
    ]
    if not could_be:
        return None
    n_owed = int(owed_a[could_be].sum() + owed_b[could_be].sum())
    n_lacking = int(lacking[could_be].any(axis=0).sum())
    what, advice = missing(n_owed, n_lacking)
    them = either(n_owed + n_lacking, "it", "them")
    metrics = [tested[at] for at in could_be]
    why = f"{what}, and the new run may be worse by {them}: {_names(metrics)}{advice}"
    return metrics, why, n_owed + int(lacking[could_be].sum())
