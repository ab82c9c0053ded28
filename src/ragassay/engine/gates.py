"""Gates: ``--fail-under 'f1>=0.6'`` and what they decide."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragassay.engine.names import shown
from ragassay.engine.results import ScoreColumns
from ragassay.engine.standing import offline_reason
from ragassay.engine.summarise import IntervalOptions, cluster_codes, interval_of
from ragassay.engine.summary import GateResult, MetricSummary, Summary
from ragassay.errors import UsageError
from ragassay.scores import Reason
from ragassay.stats.intervals import one_sided

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_FORM = re.compile(r"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<bound>[-+]?[\d.]+(?:[eE][-+]?\d+)?)$")
_BOUND = re.compile(r"^(?P<which>mean|low|high)\((?P<name>.+)\)$")
OWED = (Reason.MISSING_INPUT, Reason.FAILED)
"""Reasons that do not lie in the nature of the query: a score was owed."""


@dataclass(frozen=True)
class Gate:
    """A condition on a metric's mean, or on a one-sided bound of its true mean.

    Attributes:
        metric: name of the metric.
        which: ``mean`` (of the sample), ``low`` (the true mean is at least ...) or ``high`` (at
            most ...).
        op: ``>=``, ``>``, ``<=`` or ``<``.
        bound: the value that is asked for.
    """

    metric: str
    which: Literal["mean", "low", "high"]
    op: str
    bound: float

    @property
    def at_least(self) -> bool:
        """Whether large values pass."""
        return self.op.startswith(">")

    def holds(self, value: float) -> bool:
        """Whether a value fulfils the condition."""
        return bool(_OPERATORS[self.op](value, self.bound))

    def __str__(self) -> str:
        left = self.metric if self.which == "mean" else f"{self.which}({self.metric})"
        return f"{left}{self.op}{_number(self.bound)}"


def parse(text: str) -> Gate:
    """The gate that ``text`` describes.

    Raises:
        UsageError: it is not of the form METRIC>=VALUE, low(METRIC)>=VALUE or high(METRIC)<=VALUE.
    """
    found = _FORM.match(text.strip())
    if found is None:
        raise UsageError(
            f"--fail-under {text!r} is no condition. Write METRIC>=VALUE, low(METRIC)>=VALUE for "
            "the lower bound of the true mean, or high(METRIC)<=VALUE for the upper one, as in "
            "'f1>=0.6'."
        )
    bounded = _BOUND.match(found["left"])
    which, name = (bounded["which"], bounded["name"]) if bounded else ("mean", found["left"])
    try:
        gate = Gate(name, which, found["op"], float(found["bound"]))  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(f"--fail-under {text!r}: {found['bound']} is not a number.") from error
    if gate.which != "mean" and gate.at_least != (gate.which == "low"):
        asked = _number(gate.bound)
        right = f"low({name})>={asked}" if gate.at_least else f"high({name})<={asked}"
        raise UsageError(
            f"--fail-under {text!r}: a gate on a bound asks for low(METRIC)>=VALUE or "
            f"high(METRIC)<=VALUE. Write {right!r}."
        )
    return gate


def resolve(
    texts: Sequence[str],
    metrics: Mapping[str, str],
    used: Sequence[str],
    ranges: Mapping[str, tuple[float | None, float | None]] | None = None,
) -> list[Gate]:
    """The gates that texts describe, each metric under the name that the run shows it by.

    Args:
        texts: conditions, see `parse`.
        metrics: shown name -> canonical name of what the run computes.
        used: names of the suites whose aliases hold.
        ranges: shown name -> lowest and highest value of each metric.

    Raises:
        UsageError: no condition, a metric that the run does not compute, or a value outside the
            metric's range.
    """
    gates = []
    for text in texts:
        gate = parse(text)
        where = "what this run computes", "--dry-run lists them"
        for name in shown([gate.metric], metrics, used, *where):
            low, high = (ranges or {}).get(name, (None, None))
            if (low is not None and gate.bound < low) or (high is not None and gate.bound > high):
                raise UsageError(
                    f"--fail-under {text!r}: {gate.bound:g} is no value of {name}, which runs from "
                    f"{_end(low)} to {_end(high)}."
                )
            gates.append(replace(gate, metric=name))
    return gates


def _number(value: float) -> str:
    """A number in all its digits, without a needless ".0"."""
    return f"{value:.0f}" if value.is_integer() else repr(value)


def _end(value: float | None) -> str:
    return "any value" if value is None else f"{value:g}"


def judge(
    gates: Sequence[Gate],
    summary: Summary,
    columns: ScoreColumns,
    options: IntervalOptions,
    *,
    trust_offline: bool = False,
) -> list[GateResult]:
    """What each gate finds in a summary, for those that speak of its metrics.

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
        if gate.metric in summary.metrics  # else it speaks of the other one of the two
    ]


def _decide(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    options: IntervalOptions,
    trust_offline: bool,
) -> GateResult:
    scored = columns.scored(metric.name)
    owed = columns.unscored(metric.name, OWED)
    clusters = cluster_codes(columns)
    n_owed = int(owed.sum())

    def bounds(fill: float | None) -> tuple[float | None, float | None, float | None]:
        """Mean and one-sided bounds with each owed score at one value; as they are without one."""
        chosen = scored if fill is None else scored | owed
        values = np.where(scored, columns.values(metric.name), 0.0 if fill is None else fill)
        level = options.level if gate.which == "mean" else one_sided(options.level)
        found = interval_of(
            metric,
            values[chosen],
            None if clusters is None else clusters[chosen],
            replace(options, level=level),
        )
        return found.mean, found.low, found.high

    mean, low, high = bounds(None)
    if mean is None:
        return GateResult(str(gate), None, None, n_owed, "nothing was scored")
    value = mean if gate.which == "mean" else low if gate.at_least else high
    if value is None:
        why = "one sample has no interval" if scored.sum() == 1 else "there is no interval"
        return GateResult(str(gate), None, None, n_owed, why)
    ways: list[tuple[float | None, float | None, float | None]] = [(mean, low, high)]
    if n_owed:
        ways = [bounds(end) for end in metric.bounds if end is not None]
        if metric.aggregate != "mean" or len(ways) < 2:
            ways = []  # a value may be anything, so nothing is certain
    said = {_verdict(gate, *way) for way in ways}
    passed = said.pop() if len(said) == 1 else None
    why = ""
    if passed is None and n_owed and _verdict(gate, mean, low, high) is not None:
        why = f"{n_owed:,} samples that should have been scored were not"
    elif passed is None:
        why = "n is too small to tell"
    distrust = "" if trust_offline else offline_reason(metric)
    if distrust:
        passed, why = None, f"{distrust}; --trust-offline lets it decide"
    lows = [way[0 if gate.which == "mean" else 1] for way in ways]
    highs = [way[0 if gate.which == "mean" else 2] for way in ways]
    ends: tuple[float | None, float | None] = (None, None)
    if gate.which != "mean" or n_owed:
        ends = (
            min((end for end in lows if end is not None), default=None),
            max((end for end in highs if end is not None), default=None),
        )
    return GateResult(str(gate), value, passed, n_owed, why, gate.which, options.level, *ends)


def _verdict(gate: Gate, mean: float | None, low: float | None, high: float | None) -> bool | None:
    """Passed, failed, or undecided."""
    if gate.which == "mean":
        return None if mean is None else gate.holds(mean)
    if low is None or high is None:
        return None
    near, far = (low, high) if gate.at_least else (high, low)
    if gate.holds(near):
        return True
    return None if gate.holds(far) else False
