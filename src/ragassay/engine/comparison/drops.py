"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, and whether such a drop is excluded
(non-inferiority)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragassay.counts import either, plural
from ragassay.engine.comparison.gates import NUMBER, Estimate, Gate, outermost, settled
from ragassay.engine.results import Difference, GateResult, MetricSummary
from ragassay.errors import UsageError
from ragassay.stats import Bounds

_GATE = "no drop "
_FORM = re.compile(rf"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<size>{NUMBER})$")


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
    known = {metric.name: metric for metric in metrics}
    margins = []
    for text in [texts] if isinstance(texts, str) else texts:
        margin = parse(text)
        for name in named(margin.metric):
            low, high = known[name].bounds
            if known[name].higher_is_better is None:
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


def decide(
    margin: Margin,
    metric: MetricSummary,
    difference: Difference,
    bounds_with: Callable[[float, float], Bounds],
    n_owed: int,
    level: float,
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    The gate rests on the one-sided bounds of the difference, whose level no other metric changes.
    Where scores are owed, it is decided only if the worst and the best possible values give the
    same decision.

    Args:
        margin: of the metric.
        metric: the metric of the new run.
        difference: of the two runs.
        bounds_with: the one-sided bounds of the difference with all owed scores of A, and of B, at
            two values.
        n_owed: how many scores both runs owe.
        level: confidence level of the bounds.
    """
    falls = metric.higher_is_better is False
    least, most = difference.least, difference.most
    gate = (
        Gate(margin.metric, "high", "<=", margin.size)
        if falls
        else Gate(margin.metric, "low", ">=", -margin.size)
    )
    seen = Estimate(difference.diff, least, most)
    possible = [seen]

    def result(passed: bool | None, why: str = "") -> GateResult:
        ends = outermost(gate, possible)
        value = most if falls else least
        return GateResult(f"{_GATE}{margin}", value, passed, n_owed, why, gate.which, level, *ends)

    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        return result(None, f"{difference.why.rstrip('.')}{hint}")
    if difference.n < 2:
        return result(None, "fewer than two common queries have a score")
    owed, are = plural(n_owed, "score"), either(n_owed, "is", "are")
    if n_owed:
        low, high = metric.bounds
        # Bounds with owed scores are those of means: they say nothing about a percentile.
        if low is None or high is None or metric.percentile is not None:
            return result(None, f"{owed} {are} missing, and may be anything")
        both = (bounds_with(low, high), bounds_with(high, low))
        possible = [Estimate(None, *bounds) for bounds in both]
    sentence = f"{owed} that should be there {are} missing" if n_owed else ""
    return result(*settled(gate, seen, possible, sentence))
