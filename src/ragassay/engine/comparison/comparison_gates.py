"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, whether such a drop is excluded
(non-inferiority), and ``--fail-if-worse``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragassay.base.counts import either, plural
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.engine.comparison.gates import NUMBER, Gate, conclude
from ragassay.engine.comparison.pairs import MatchedRuns
from ragassay.engine.results.comparison_result import Comparison, Difference, GateResult
from ragassay.engine.results.summary import MetricSummary
from ragassay.stats.intervals import Interval
from ragassay.stats.paired import PairedResult, compare_pairs

_FORM = re.compile(rf"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<size>{NUMBER})$")

_ON_THE_SAME_QUERIES = "Make both runs of the same queries"
"""What to do about queries that only the old run has."""


def parse(text: str) -> Gate:
    """The gate on the difference that ``METRIC>SIZE`` describes, for a metric of which higher is
    better: a drop is a change for the worse."""
    match = _FORM.match(text.strip())
    if match is None or not float(match["size"]) > 0.0:
        raise UsageError(
            f"--fail-if-drop {text!r} is no margin. Write METRIC>SIZE with a size above 0, as in "
            "'nDCG@10>0.03': a drop by more than that fails."
        )
    return Gate(match["metric"], "low", ">=", -float(match["size"]))


def resolve(
    texts: str | Sequence[str],
    named: Callable[[str], Sequence[str]],
    metrics: Mapping[str, MetricSummary],
) -> list[Gate]:
    """The gates that texts describe, each metric under the name that it is compared by.

    Args:
        texts: see `parse`.
        named: the compared metrics that a name means.
        metrics: all compared metrics, by name.

    Raises:
        UsageError: no margin, a metric that is not compared or has no better direction, or a margin
            wider than the metric's range.
    """
    gates = []
    for text in [texts] if isinstance(texts, str) else texts:
        gate = parse(text)
        size = -gate.threshold
        for name in named(gate.metric):
            low, high = metrics[name].bounds
            if metrics[name].higher_is_better is None:
                raise UsageError(
                    f"--fail-if-drop {text!r}: neither direction of {name} is better, so it cannot "
                    "drop."
                )
            if low is not None and high is not None and size > high - low:
                raise UsageError(
                    f"--fail-if-drop {text!r}: no two values of {name} are {size:g} apart; "
                    f"it runs from {low:g} to {high:g}."
                )
            falls = metrics[name].higher_is_better is False
            gates.append(Gate(name, "high", "<=", size) if falls else replace(gate, metric=name))
    return gates


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


def decide(
    gate: Gate, difference: Difference, matched: MatchedRuns, options: dict[str, Any]
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    The gate rests on the one-sided bounds of the difference, whose level no other metric changes.
    Where scores are owed, it is decided only if the worst and the best possible values give the
    same decision; where A lacks queries of B, only if they do with the worst values for these."""
    metric = matched.a.summary.metrics[gate.metric]
    falls = gate.which == "high"

    def bounds(test: PairedResult) -> Interval:
        # On the side of the drop those that hold although queries that differ were not drawn.
        ends = (test.least, test.safe_most) if falls else (test.safe_least, test.most)
        return Interval(test.diff, *ends, options["level"], "", test.n)

    def with_owed(of_a: float, of_b: float, lacking: Sequence[str]) -> Interval:
        runs = matched.with_queries(lacking)
        (a, in_a), (b, in_b) = runs.scores([metric.name], (of_a, of_b))
        (test,) = compare_pairs(
            a,
            b,
            mask=in_a & in_b,
            spans=[metric.bounds],
            **options | {"clusters": runs.clusters[0]},
        )
        return bounds(test)

    n_owed = sum(int(matched.owed(run, gate.metric).sum()) for run in (matched.a, matched.b))
    lacking = matched.lacking([gate.metric])
    why, advice = missing(n_owed, len(lacking))
    observed, owed, refused = bounds(difference), f"{why}{advice}", ""
    possible = [observed]
    low, high = metric.bounds
    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        refused, owed = f"{str(difference.why).rstrip('.')}{hint}", ""
    elif difference.n < 2:
        refused, owed = "fewer than two common queries have a score", ""
    # Bounds with owed scores are those of means: they say nothing about a percentile.
    elif why and (low is None or high is None or metric.percentile is not None):
        refused, owed = f"{why}, and may have any value{advice}", ""
    elif why:
        assert low is not None and high is not None
        worst, best = ((high, low), (low, high)) if falls else ((low, high), (high, low))
        # Queries that A lacks do not save it from a drop that is shown without them.
        possible = [with_owed(*worst, ()), with_owed(*best, ())] if n_owed else [observed]
        possible += [with_owed(*worst, lacking)] if lacking else []
    size = abs(gate.threshold)
    drop = difference.diff if falls or difference.diff is None else 0.0 - difference.diff
    facts = GateResult(
        f"no drop {gate.metric}>{size:g}", None, None, n_owed + len(lacking), which=gate.which,
        level=options["level"], drop=drop, limit=size, metrics=(gate.metric,),
        threshold=gate.threshold,
    )  # fmt: skip
    result = conclude(gate, facts, observed, possible, owed, refused)
    seen = difference.most if falls else difference.least
    if result.passed is None and not (owed or refused) and seen is not None and gate.holds(seen):
        n = plural(difference.n, "query")
        few = f"{n} of which {difference.n_differ} differ are too few to exclude such a drop"
        return replace(result, why=few)
    return result


NOT_WORSE = "--fail-if-worse"
"""The gate on all tested metrics."""


def with_not_worse(comparison: Comparison) -> Comparison:
    """The comparison with the gate that no tested metric is worse."""
    return replace(comparison, gates=(*comparison.gates, _not_worse(comparison)))


def metrics_of(comparison: Comparison, gate: GateResult) -> list[Difference]:
    """The metrics that a gate speaks of: its own, or those that are or may be worse."""
    return [d for d in comparison.differences if d.name in gate.metrics]


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


def _not_worse(comparison: Comparison) -> GateResult:
    """The gate on all tested metrics.

    Passed where no tested metric is shown to be worse, undecided where that could not have been
    shown, or may be hidden by scores or queries that are missing."""
    differences = comparison.differences
    passed, why, unscored = None, "no metric has more than a hint of a verdict", 0
    if metrics := [d for d in differences if d.verdict == "worse"]:
        passed, why = False, f"worse: {_names(metrics)}"
    elif metrics := [d for d in differences if d.doubtful and d.hint == "worse"]:
        why = f"the new run seems worse, but that is only a hint: {_names(metrics)}"
    elif metrics := [
        d for d in differences if d.p_adjusted is not None and d.too_few and d.seems_worse
    ]:
        why = f"n is too small to tell whether the new run is worse: {_names(metrics)}"
    elif hidden := _hidden(comparison):
        metrics, why, unscored = hidden
    elif metrics := [d for d in differences if d.hint == "worse"]:
        why = (
            f"the new run may be worse, by offline judgments: {_names(metrics)}; --trust-offline "
            "tests them with the others"
        )
    elif any(d.p_adjusted is not None and not d.doubtful for d in differences):
        passed, why = True, ""
    names = tuple(d.name for d in metrics)
    return GateResult(NOT_WORSE, None, passed, unscored, why, metrics=names)


def _names(metrics: Sequence[Difference]) -> str:
    return ", ".join(d.name for d in metrics)


def _hidden(comparison: Comparison) -> tuple[list[Difference], str, int] | None:
    """The tested metrics that could be worse by the scores that one run owes where the other has
    one or left nothing to measure for another reason, and by the queries of B that A lacks;
    ``None`` where none could be. With a sentence about
    what is missing, and how many scores are.

    Could be worse: what A lacks is taken for the worst value of its metric and what B owes for the
    best, and the test says so, or too few queries could tell. A metric without such a value could
    be, in any case."""
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
    by_both = np.array([matched.left_by_both(name, alike=False) for name in names])
    counted = mask_a | mask_b | by_both
    owed_a = np.array([matched.owed(a, name) for name in names]) * (mask_b | by_both)
    owed_b = np.array([matched.owed(b, name) for name in names]) * (mask_a | by_both)
    lacking = mask_b & np.array([query not in matched.rows_a for query in matched.queries])
    absent = (owed_a > 0) | (owed_b > 0) | lacking
    if not absent.any():
        return None
    unbounded = set()
    for at in np.flatnonzero(absent.any(axis=1)).tolist():
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
    worse = [d.seems_worse and (d.significant_adjusted or d.too_few) for d in at_worst]
    some = absent.any(axis=1)
    could_be = [at for at in np.flatnonzero(some).tolist() if at in unbounded or worse[at]]
    if not could_be:
        return None
    n_owed = int(owed_a[could_be].sum() + owed_b[could_be].sum())
    n_lacking = int(lacking[could_be].any(axis=0).sum())
    what, advice = missing(n_owed, n_lacking)
    them = either(n_owed + n_lacking, "it", "them")
    metrics = [tested[at] for at in could_be]
    why = f"{what}, and the new run may be worse by {them}: {_names(metrics)}{advice}"
    return metrics, why, n_owed + int(lacking[could_be].sum())
