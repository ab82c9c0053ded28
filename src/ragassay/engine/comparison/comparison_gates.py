"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, whether such a drop is excluded
(non-inferiority), and ``--fail-if-worse``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.printable import either, plural
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.gates import NUMBER, Gate, conclude
from ragassay.engine.comparison.pairs import MatchedRuns
from ragassay.engine.results.comparison_result import Comparison, Difference, GateResult
from ragassay.engine.results.summary import MetricSummary
from ragassay.stats.intervals import Interval, alpha_of
from ragassay.stats.paired import PairedResult

_FORM = re.compile(rf"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<size>{NUMBER})$")


def resolve(
    texts: str | Sequence[str],
    named: Callable[[str], Sequence[str]],
    metrics: Mapping[str, MetricSummary],
) -> list[Gate]:
    """The gates that texts (``METRIC>SIZE``) describe, each metric under the name that it is
    compared by: ``named`` gives the compared metrics that a name means, ``metrics`` are all of
    them. A `UsageError` where a metric has no better direction, or a margin is wider than its
    range."""
    gates = []
    for text in [texts] if isinstance(texts, str) else texts:
        match = _FORM.match(text.strip())
        if match is None or not float(match["size"]) > 0.0:
            raise UsageError(
                f"--fail-if-drop {text!r} is no margin. Write METRIC>SIZE with a size above 0, as "
                "in 'nDCG@10>0.03': a drop by more than that fails."
            )
        size = float(match["size"])
        for name in named(match["metric"]):
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
            gates.append(
                Gate(name, "high", "<=", size) if falls else Gate(name, "low", ">=", -size)
            )
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
    return " and ".join(facts), ". Make both runs of the same queries" if n_lacking else ""


def decide(
    gate: Gate, difference: Difference, matched: MatchedRuns, options: dict[str, Any]
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    The gate rests on the one-sided bounds of the difference, whose level no other metric changes.
    Where scores are owed, it is decided only if the worst and the best possible values give the
    same decision; where A lacks queries of B, only if they do with the worst values for these."""
    falls = gate.which == "high"

    def bounds(test: PairedResult) -> Interval:
        # On the side of the drop those that hold although queries that differ were not drawn.
        ends = (test.least, test.safe_most) if falls else (test.safe_least, test.most)
        return Interval(test.diff, *ends, options["level"], "", test.n)

    n_owed = sum(int(matched.owed(run, gate.metric).sum()) for run in (matched.a, matched.b))
    lacking = matched.lacking([gate.metric])
    why, advice = missing(n_owed, len(lacking))
    observed, owed, refused = bounds(difference), f"{why}{advice}", ""
    possible = [observed]
    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        refused, owed = f"{str(difference.why).rstrip('.')}{hint}", ""
    elif difference.n < 2:
        refused, owed = "fewer than two common queries have a score", ""
    elif why:
        # Queries that A lacks do not save it from a drop that is shown without them.
        ends = (False, True) if n_owed else ()
        tests = [matched.at_worst(gate.metric, options, best=best) for best in ends]
        tests += [matched.at_worst(gate.metric, options, lacking)] if lacking else []
        possible = [bounds(test) for test in tests if test is not None]
        possible += [] if n_owed else [observed]
        if None in tests:
            refused, owed = f"{why}, and may have any value{advice}", ""
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


def with_not_worse(comparison: Comparison) -> Comparison:
    """The comparison with the gate that no tested metric is worse: undecided where worse could not
    have been shown, or may be hidden by what is missing."""
    differences = comparison.differences
    passed, why, unscored = None, "no metric has a verdict", 0
    if metrics := [d for d in differences if d.verdict == "worse"]:
        passed, why = False, f"worse: {_names(metrics)}"
    elif metrics := [d for d in differences if d.doubtful and d.hint == "worse"]:
        why = f"the new run seems worse, but that is only a hint: {_names(metrics)}"
    elif metrics := [
        d for d in differences if d.p_adjusted is not None and d.too_few and d.seems_worse
    ]:
        why = f"too few queries to tell whether the new run is worse: {_names(metrics)}"
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
    gate = GateResult(NOT_WORSE, None, passed, unscored, why, metrics=names)
    return replace(comparison, gates=(*comparison.gates, gate))


def _names(metrics: Sequence[Difference]) -> str:
    return ", ".join(d.name for d in metrics)


def _hidden(comparison: Comparison) -> tuple[list[Difference], str, int] | None:
    """The tested metrics that could be worse by what is missing (`MatchedRuns.at_worst`), or where
    too few queries could tell; with a sentence on what is missing, and how many scores and queries
    are. ``None`` where none could be."""
    tested = [
        d for d in comparison.differences
        if d.standing == "tested" and d.higher_is_better is not None
    ]  # fmt: skip
    if comparison.runs is None or not tested:
        return None
    a, b = comparison.runs
    matched = MatchedRuns.of(a, aligned(b, a))
    names = ("n_resamples", "seed", "level")
    draws = {name: getattr(comparison, name) for name in names}
    metrics, n_owed, absent = [], 0, list[str]()
    for d in tested:
        lacking, test = list[str](), None
        if comparison.unpaired:
            owed = sum(int(run.columns.owed(d.name).sum()) for run in (a, b))
        else:
            owed = sum(int(matched.owed(run, d.name).sum()) for run in (a, b))
            lacking = matched.lacking([d.name])
            test = matched.at_worst(d.name, draws, lacking)
        diff = 0.0 if test is None else test.diff or 0.0
        falls = diff != 0.0 and (diff > 0.0) != d.higher_is_better
        # The worst values show that the new run is worse, or too few queries could.
        may_fall = test is None or (
            falls and (test.too_few or (test.p_adjusted or 1.0) <= alpha_of(comparison.level))
        )
        if (owed or lacking) and may_fall:
            metrics.append(d)
            n_owed += owed
            absent += lacking
    if not metrics:
        return None
    what, advice = missing(n_owed, len({*absent}))
    why = f"{what}, and may hide that the new run is worse: {_names(metrics)}{advice}"
    return metrics, why, n_owed + len(absent)
