"""Gates on one run: ``--fail-under 'f1>=0.6'``, and whether they pass."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragassay.base.counts import either, plural
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results.gate_result import GateResult
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.shown_names import shown
from ragassay.engine.results.summarising import IntervalOptions, interval_of, sample_clusters
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.stats.intervals import Bounds, Span, check_one_sided, one_sided
from ragassay.stats.units import is_close

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
"""A decimal number without a sign, as a regular expression."""

_FORM = re.compile(rf"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<threshold>[-+]?{NUMBER})$")
_BOUND = re.compile(r"^(?P<which>mean|low|high)\((?P<name>.+)\)$")


@dataclass(frozen=True)
class Gate:
    """A condition on a metric's mean, or on a one-sided bound of its true mean.

    Attributes:
        metric: name of the metric.
        which: ``mean`` (of the sample), ``low`` (the true mean is at least ...) or ``high`` (at
            most ...).
        op: ``>=``, ``>``, ``<=`` or ``<``.
        threshold: the value that is asked for.
    """

    metric: str
    which: Literal["mean", "low", "high"]
    op: str
    threshold: float

    @property
    def at_least(self) -> bool:
        """Whether large values pass."""
        return self.op.startswith(">")

    def holds(self, value: float) -> bool:
        """Whether a value fulfils the condition. One that equals the threshold up to rounding does
        as the threshold itself does: the mean of 0.7, 0.7 and 0.7 is 0.6999999999999998."""
        if is_close(value, self.threshold):
            return self.op.endswith("=")
        return bool(_OPERATORS[self.op](value, self.threshold))

    def __str__(self) -> str:
        left = self.metric if self.which == "mean" else f"{self.which}({self.metric})"
        return f"{left}{self.op}{_number(self.threshold)}"


def parse(text: str, what: str = "--fail-under") -> Gate:
    """The gate that ``text`` describes.

    Args:
        text: the condition.
        what: what it was given as, for messages.

    Raises:
        UsageError: it is not of the form METRIC>=VALUE, low(METRIC)>=VALUE or high(METRIC)<=VALUE.
    """
    match = _FORM.match(text.strip())
    left = "" if match is None else match["left"].rstrip("=<>!≥≤ ")
    if match is None or not left:
        raise UsageError(
            f"{what} {text!r} is no condition. Write METRIC>=VALUE, low(METRIC)>=VALUE for "
            "the lower bound of the true mean, or high(METRIC)<=VALUE for the upper one, as in "
            "'f1>=0.6'."
        )
    if left != match["left"].rstrip():
        op = f"{match['op'][0]}="
        raise UsageError(f"{what} {text!r}: write {op}, as in '{left}{op}{match['threshold']}'.")
    bounded = _BOUND.match(match["left"])
    which, name = (bounded["which"], bounded["name"]) if bounded else ("mean", match["left"])
    gate = Gate(name, which, match["op"], float(match["threshold"]))  # type: ignore[arg-type]
    if gate.which != "mean" and gate.at_least != (gate.which == "low"):
        asked = _number(gate.threshold)
        right = f"low({name})>={asked}" if gate.at_least else f"high({name})<={asked}"
        raise UsageError(
            f"{what} {text!r}: a gate on a bound asks for low(METRIC)>=VALUE or "
            f"high(METRIC)<=VALUE. Write {right!r}."
        )
    return gate


def resolve(
    texts: Sequence[str],
    metrics: Mapping[str, str],
    used: Sequence[str],
    spans: Mapping[str, Span] | None = None,
) -> list[Gate]:
    """The gates that texts describe, each metric under the name that the run shows it by.

    Args:
        texts: conditions, see `parse`.
        metrics: shown name -> canonical name of what the run computes.
        used: names of the suites whose aliases hold.
        spans: shown name -> range of each metric.

    Raises:
        UsageError: no condition, a metric that the run does not compute, a value outside the
            metric's range, or a bound that has to reach the end of the range.
    """
    gates = []
    for text in texts:
        gate = parse(text)
        where = "what this run computes", "--dry-run lists them"
        for name in shown([gate.metric], metrics, used, *where):
            low, high = (spans or {}).get(name, (None, None))
            if (low is not None and gate.threshold < low) or (
                high is not None and gate.threshold > high
            ):
                raise UsageError(
                    f"--fail-under {text!r}: {_number(gate.threshold)} is no value of {name}, "
                    f"which runs from {_end(low)} to {_end(high)}."
                )
            is_end = gate.threshold == (high if gate.at_least else low)
            if is_end and gate.which == "mean" and not gate.op.endswith("="):
                raise UsageError(
                    f"--fail-under {text!r}: no value of {name} can pass this gate. "
                    f"Write '{replace(gate, metric=name, op=f'{gate.op}=')}'."
                )
            if is_end and gate.which != "mean":
                raise UsageError(_unreachable(text, replace(gate, metric=name), low, high))
            gates.append(replace(gate, metric=name))
    return gates


def _unreachable(text: str, gate: Gate, low: float | None, high: float | None) -> str:
    """Says that no number of samples decides a gate on a bound, and what to write instead."""
    stays, op = ("below", ">=") if gate.at_least else ("above", "<=")
    width = 1.0 if low is None or high is None else high - low
    inside = round(gate.threshold + (-0.05 if gate.at_least else 0.05) * width, 9)
    mean = replace(gate, which="mean", op=op)
    return (
        f"--fail-under {text!r}: no number of samples can pass this gate, because the bound always "
        f"stays {stays} {_number(gate.threshold)}. Write '{mean}' for the mean of the samples, or "
        f"a value inside the range: '{replace(gate, threshold=inside)}'."
    )


def summaries_of(result: Result) -> dict[str, MetricSummary]:
    """The metrics of a run and of its consistency, by the name that they are shown by."""
    return {name: one for step in result.steps for name, one in step.summary.metrics.items()}


def results_of(
    result: Result, texts: Sequence[str] | None = None, *, trust_offline: bool = False
) -> tuple[GateResult, ...]:
    """The results of the gates on a finished run.

    Args:
        result: the run; one that was opened from its folder keeps its gates' conditions only.
        texts: conditions, see `parse`; those of the run when left out.
        trust_offline: let any offline judgment decide, as the run's own option does.

    Raises:
        UsageError: see `resolve`.
    """
    if texts is None and result.gates:
        return result.gates
    config = result.config
    asked = config.get("fail_under") or () if texts is None else texts
    if not asked:
        return ()
    metrics = summaries_of(result)
    names = {name: one.metric for name, one in metrics.items()}
    bounds = {name: one.bounds for name, one in metrics.items()}
    resolved = resolve(asked, names, config.get("suite") or (), bounds)
    options = IntervalOptions.of(config)
    if any(gate.which != "mean" for gate in resolved):
        check_one_sided(options.level)
    trusted = trust_offline or bool(config.get("trust_offline"))
    return tuple(
        one
        for step in result.steps
        for one in decide(resolved, step.summary, step.columns, options, trust_offline=trusted)
    )


def _number(value: float) -> str:
    """A number in all its digits, without a needless ".0"."""
    return f"{value:.0f}" if value.is_integer() else repr(value)


def _end(value: float | None) -> str:
    return "any value" if value is None else f"{value:g}"


def decide(
    gates: Sequence[Gate],
    summary: Summary,
    columns: ScoreColumns,
    options: IntervalOptions,
    *,
    trust_offline: bool = False,
) -> list[GateResult]:
    """Whether each gate on a metric of a summary passes.

    A gate on a bound passes when the one-sided bound of the true mean (at the run's confidence
    level) reaches the value, fails when the other one-sided bound excludes it, and is undecided
    otherwise. A gate is neither passed nor failed by leaving samples unscored: where scores are
    owed, it is decided only where the worst and the best possible values decide alike. A gate on a
    metric whose offline judgments are not known to agree with people is undecided.

    Args:
        gates: resolved gates.
        summary: of the run, or of its consistency.
        columns: the scores that it summarises.
        options: method and level of the intervals.
        trust_offline: let any offline judgment decide.
    """
    return [
        _decide(gate, summary.metrics[gate.metric], columns, options, trust_offline)
        for gate in gates
        if gate.metric in summary.metrics  # else it is a gate on the other summary
    ]


@dataclass(frozen=True)
class Estimate:
    """A mean, and the one-sided bounds of the true mean."""

    mean: float | None
    low: float | None
    high: float | None


def _decide(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    options: IntervalOptions,
    trust_offline: bool,
) -> GateResult:
    n_owed = int(columns.owed(metric.name).sum())

    def undecided(why: str) -> GateResult:
        return GateResult(str(gate), None, None, n_owed, why)

    observed = _estimate(gate, metric, columns, options)
    if observed.mean is None:
        return undecided("nothing was measured" if metric.n_scored else "nothing was scored")
    value = (
        observed.mean if gate.which == "mean" else observed.low if gate.at_least else observed.high
    )
    if value is None:
        return undecided(_no_interval(metric, columns, options))
    # With scores owed: what would have been found had they all been the lowest, and the highest.
    possible = [observed]
    if n_owed:
        ends = [end for end in metric.bounds if end is not None]
        # Where a score may be anything, nothing is certain.
        closed = metric.aggregate == "mean" and len(ends) == 2
        possible = [_estimate(gate, metric, columns, options, end) for end in ends if closed]
    owed = _owed(n_owed, columns.reasons(metric.name, columns.owed(metric.name)))
    passed, why = settled(gate, observed, possible, owed)
    judged = judge_agreement(metric)
    if judged is not None and judged.indicative and not trust_offline:
        passed, why = None, f"{str(judged.note).rstrip('.')}; --trust-offline lets it decide"
    low, high = outermost(gate, possible) if gate.which != "mean" or n_owed else (None, None)
    why = "; ".join(filter(None, dict.fromkeys((why, owed))))
    return GateResult(str(gate), value, passed, n_owed, why, gate.which, options.level, low, high)


def _owed(n: int, reasons: Mapping[str, int]) -> str:
    """The line that counts the samples whose score is owed; empty where none is."""
    why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in reasons.items())
    counts = either(n, "counts", "count")
    sentence = f"{plural(n, 'sample')} without a score {counts} at the worst and the best value"
    return f"{sentence} ({why})" if n else ""


def _no_interval(metric: MetricSummary, columns: ScoreColumns, options: IntervalOptions) -> str:
    """Why a metric with scores has no interval, and the way out where there is one."""
    if metric.aggregate == "sum":
        return "a sum has no interval"
    chosen = columns.scored(metric.name)
    if chosen.sum() == 1:
        return "one sample has no interval"
    clusters = sample_clusters(columns)
    if clusters is not None and len(set(clusters[chosen].tolist())) == 1:
        return "all samples belong to one cluster, which has no interval"
    if metric.percentile is not None:
        return f"{plural(int(chosen.sum()), 'sample')} are too few for an interval of a percentile"
    equal = "scores are equal" if clusters is None else "clusters have the same mean"
    why = f"all {equal}, which shows no spread to make an interval of"
    if options.method != "auto" and None not in metric.bounds:
        return f"{why}; --interval auto makes one of the metric's range"
    return why


def _estimate(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    options: IntervalOptions,
    owed: float | None = None,
) -> Estimate:
    """The values that a gate is decided by; ``owed`` takes the place of each score that is owed,
    where given.
    """
    chosen = columns.averaged(metric.name)
    values = columns.values(metric.name)
    if owed is not None:
        values = np.where(chosen, values, owed)
        chosen = chosen | columns.owed(metric.name)
    clusters = sample_clusters(columns)
    level = options.level if gate.which == "mean" else one_sided(options.level)
    interval = interval_of(
        metric,
        values[chosen],
        None if clusters is None else clusters[chosen],
        replace(options, level=level),
    )
    return Estimate(interval.mean, interval.low, interval.high)


def settled(
    gate: Gate, observed: Estimate, possible: Sequence[Estimate], owed: str
) -> tuple[bool | None, str]:
    """Whether a gate passes, fails or is undecided, and why it is: by what was observed, and
    by what may be true with the worst and the best values for owed scores (``owed`` says of them
    that they are owed)."""
    verdicts = {_verdict(gate, estimate) for estimate in possible}
    passed = verdicts.pop() if len(verdicts) == 1 else None
    if passed is not None:
        return passed, ""
    return None, owed if owed and _verdict(gate, observed) is not None else "n is too small to tell"


def outermost(gate: Gate, possible: Sequence[Estimate]) -> Bounds:
    """The lowest and the highest value that a gate was decided by: of means, or of bounds."""
    on_mean = gate.which == "mean"
    lows = [one.mean if on_mean else one.low for one in possible]
    highs = [one.mean if on_mean else one.high for one in possible]
    return (
        min((end for end in lows if end is not None), default=None),
        max((end for end in highs if end is not None), default=None),
    )


def _verdict(gate: Gate, estimate: Estimate) -> bool | None:
    """Passed, failed, or undecided."""
    if gate.which == "mean":
        return None if estimate.mean is None else gate.holds(estimate.mean)
    near, far = (estimate.low, estimate.high) if gate.at_least else (estimate.high, estimate.low)
    if near is not None and gate.holds(near):
        return True
    return None if far is None or gate.holds(far) else False
