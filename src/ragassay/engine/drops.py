"""``--fail-if-drop 'nDCG@10>0.03'``: is a drop of that size excluded (non-inferiority)?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragassay.engine.summary import Difference, GateResult, MetricSummary
from ragassay.errors import UsageError

_FORM = re.compile(r"^(?P<metric>.+?)\s*>\s*(?P<margin>[\d.]+(?:[eE][-+]?\d+)?)$")

Bounds = tuple[float | None, float | None]


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
    found = _FORM.match(text.strip())
    size = 0.0
    if found is not None:
        try:
            size = float(found["margin"])
        except ValueError:
            found = None
    if found is None or not size > 0.0:
        raise UsageError(
            f"--fail-if-drop {text!r} is no margin. Write METRIC>SIZE with a size above 0, as in "
            "'nDCG@10>0.03': a drop by more than that fails."
        )
    return Margin(found["metric"], size)


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
    found = []
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
            found.append(Margin(name, margin.size))
    return found


def judge(
    margin: Margin,
    metric: MetricSummary,
    difference: Difference,
    filled: Callable[[float, float], Bounds],
    n_owed: int,
    level: float,
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    It rests on the one-sided bounds of the difference, which no other metric weakens. Where scores
    are owed, it is decided only where the worst and the best possible values decide alike.

    Args:
        margin: of the metric.
        metric: the metric of the new run.
        difference: of the two runs.
        filled: the bounds with all owed scores of A, and of B, at two values.
        n_owed: how many scores both runs owe.
        level: confidence level of the bounds.
    """
    up = metric.higher_is_better is not False
    gate = f"no drop {margin}"
    which = "low" if up else "high"
    value = difference.least if up else difference.most

    ways = [(difference.least, difference.most)]

    def found(passed: bool | None, why: str = "") -> GateResult:
        lows, highs = ([end for end in side if end is not None] for side in zip(*ways, strict=True))
        ends = (min(lows, default=None), max(highs, default=None))
        return GateResult(gate, value, passed, n_owed, why, which, level, *ends)

    if difference.standing in ("indicative", "not comparable"):
        hint = "; --trust-offline lets it decide" if difference.standing == "indicative" else ""
        return found(None, f"{difference.why.rstrip('.')}{hint}")
    if difference.n < 2:
        return found(None, "fewer than two common queries have a score")
    if n_owed:
        low, high = metric.bounds
        if low is None or high is None:
            return found(None, f"{n_owed:,} scores are missing, and may be anything")
        ways = [filled(low, high), filled(high, low)]
    seen, *said = (
        _verdict(margin.size, *(way if up else _mirrored(way)))
        for way in ((difference.least, difference.most), *ways)
    )
    passed = said[0] if len({*said}) == 1 else None
    if passed is None and n_owed and seen is not None:
        return found(None, f"{n_owed:,} scores that should be there are missing")
    return found(passed, "" if passed is not None else "n is too small to tell")


def _mirrored(way: Bounds) -> Bounds:
    low, high = way
    return (None if high is None else -high, None if low is None else -low)


def _verdict(size: float, low: float | None, high: float | None) -> bool | None:
    """Of a metric for which higher is better."""
    if low is not None and low >= -size:
        return True
    return False if high is not None and high < -size else None
