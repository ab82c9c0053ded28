"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, and whether such a drop is excluded
(non-inferiority)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragassay.base.counts import either, plural
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.gates import NUMBER, Estimate, Gate, outermost, settled
from ragassay.engine.results.comparison_result import Difference
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


def metric_of(gate: GateResult) -> str | None:
    """The metric of a gate that `decide` decided; ``None`` for a gate of another kind."""
    return parse(gate.gate.removeprefix(_GATE)).metric if gate.gate.startswith(_GATE) else None


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
