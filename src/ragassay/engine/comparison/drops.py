"""Gates on two runs: ``--fail-if-drop 'nDCG@10>0.03'``, and whether such a drop is excluded
(non-inferiority)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragassay.counts import either, plural
from ragassay.engine.results import Difference, GateResult, MetricSummary
from ragassay.errors import UsageError
from ragassay.stats import Bounds

_FORM = re.compile(r"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<margin>[\d.]+(?:[eE][-+]?\d+)?)$")


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
    size = 0.0
    if match is not None:
        try:
            size = float(match["margin"])
        except ValueError:
            match = None
    if match is None or not size > 0.0:
        raise UsageError(
            f"--fail-if-drop {text!r} is no margin. Write METRIC>SIZE with a size above 0, as in "
            "'nDCG@10>0.03': a drop by more than that fails."
        )
    return Margin(match["metric"], size)


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
    higher_is_better = metric.higher_is_better is not False
    seen: Bounds = (difference.least, difference.most)
    possible = [seen]

    def result(passed: bool | None, why: str = "") -> GateResult:
        lows, highs = zip(*possible, strict=True)
        low = min((end for end in lows if end is not None), default=None)
        high = max((end for end in highs if end is not None), default=None)
        which, value = ("low", seen[0]) if higher_is_better else ("high", seen[1])
        return GateResult(f"no drop {margin}", value, passed, n_owed, why, which, level, low, high)

    def verdict(bounds: Bounds) -> bool | None:
        return _verdict(margin.size, bounds if higher_is_better else _mirrored(bounds))

    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        return result(None, f"{difference.why.rstrip('.')}{hint}")
    if difference.n < 2:
        return result(None, "fewer than two common queries have a score")
    if n_owed:
        low, high = metric.bounds
        if low is None or high is None:
            missing = f"{plural(n_owed, 'score')} {either(n_owed, 'is', 'are')} missing"
            return result(None, f"{missing}, and may be anything")
        possible = [bounds_with(low, high), bounds_with(high, low)]
    verdicts = {verdict(bounds) for bounds in possible}
    passed = verdicts.pop() if len(verdicts) == 1 else None
    if passed is None and n_owed and verdict(seen) is not None:
        return result(
            None,
            f"{plural(n_owed, 'score')} that should be there {either(n_owed, 'is', 'are')} missing",
        )
    return result(passed, "" if passed is not None else "n is too small to tell")


def _mirrored(bounds: Bounds) -> Bounds:
    """The bounds of the difference with the other sign."""
    low, high = bounds
    return (None if high is None else -high, None if low is None else -low)


def _verdict(size: float, bounds: Bounds) -> bool | None:
    """Whether a drop by more than ``size`` is excluded, where higher is better; ``False`` where it
    is shown."""
    low, high = bounds
    if low is not None and low >= -size:
        return True
    return False if high is not None and high < -size else None
