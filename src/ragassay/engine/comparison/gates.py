"""Gates on one run: ``--fail-under 'f1>=0.6'``, and whether they pass."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.printable import either, plural
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summarising import IntervalOptions, interval_of, sample_clusters
from ragassay.engine.results.summary import MetricSummary, shown
from ragassay.stats.intervals import Interval, Span, check_one_sided, one_sided
from ragassay.stats.units import is_close

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
"""A decimal number without a sign, as a regular expression."""

_FORM = re.compile(rf"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<threshold>[-+]?{NUMBER})$")
_BOUND = re.compile(r"^(?P<which>mean|low|high)\((?P<name>.+)\)$")


@dataclass(frozen=True)
class Gate:
    """A condition on a metric's ``mean``, or on a one-sided bound of its true mean: ``low`` (it is
    at least ...) or ``high`` (at most ...)."""

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

    def decision(self, found: Interval) -> bool | None:
        """Whether the gate passes (``None``: undecided) by a mean, or by the one-sided bounds of
        the true mean: it passes where the bound that it asks about holds, and fails where the other
        one excludes it."""
        near, far = getattr(found, self.which), found.high if self.which == "low" else found.low
        if self.which == "mean":
            return None if near is None else self.holds(near)
        if near is not None and self.holds(near):
            return True
        return None if far is None or self.holds(far) else False

    def __str__(self) -> str:
        left = self.metric if self.which == "mean" else f"{self.which}({self.metric})"
        return f"{left}{self.op}{_number(self.threshold)}"


def parse(text: str, what: str = "--fail-under") -> Gate:
    """The gate that ``text`` describes."""
    match = _FORM.match(text.strip())
    if match is None or match["left"][-1] in "=<>!≥≤":
        raise UsageError(
            f"{what} {text!r} is no condition. Write METRIC>=VALUE, low(METRIC)>=VALUE for "
            "the lower bound of the true mean, or high(METRIC)<=VALUE for the upper one, as in "
            "'f1>=0.6'."
        )
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
    """The gates that texts describe (see `parse`), each metric under the name that the run shows it
    by. ``metrics`` has the canonical name of each shown one, ``spans`` its range; the aliases of
    the suites ``used`` hold. A `UsageError` where a metric is not computed or a value lies outside
    of its range."""
    gates = []
    for text in texts:
        gate = parse(text)
        where = "what this run computes", "--dry-run lists them"
        for name in shown([gate.metric], metrics, used, *where):
            low, high = (spans or {}).get(name, (None, None))
            least, most = -np.inf if low is None else low, np.inf if high is None else high
            if not least <= gate.threshold <= most:
                ends = ("any value" if end is None else f"{end:g}" for end in (low, high))
                raise UsageError(
                    f"--fail-under {text!r}: {_number(gate.threshold)} is no value of {name}, "
                    f"which runs from {' to '.join(ends)}."
                )
            gates.append(replace(gate, metric=name))
    return gates


def summaries_of(result: Result) -> dict[str, MetricSummary]:
    """The metrics of a run and of its consistency, by the name that they are shown by."""
    return {name: one for step in result.steps for name, one in step.summary.metrics.items()}


def results_of(
    result: Result, texts: Sequence[str] | None = None, *, trust_offline: bool = False
) -> tuple[GateResult, ...]:
    """The results of the gates on a finished run: of ``texts`` (see `parse`), or of those that the
    run names. ``trust_offline`` lets any offline judgment decide, as the run's own option does."""
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
        decide(gate, step.summary.metrics[gate.metric], step.columns, options, trusted)
        for step in result.steps
        for gate in resolved
        if gate.metric in step.summary.metrics
    )


def _number(value: float) -> str:
    """A number in all its digits, without a needless ".0"."""
    return f"{value:.0f}" if value.is_integer() else repr(value)


def decide(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    options: IntervalOptions,
    trust_offline: bool = False,
) -> GateResult:
    """Whether a gate on a metric passes.

    A gate is neither passed nor failed by leaving samples unscored: where scores are owed, it is
    decided only where the worst and the best possible values decide alike. A gate on a metric whose
    offline judgments are not known to agree with people is undecided."""
    owed = columns.owed(metric.name)
    n_owed = int(owed.sum())
    observed = _interval(gate, metric, columns, options)
    facts = GateResult(
        str(gate), None, None, n_owed, which=gate.which, level=options.level,
        metrics=(metric.name,), threshold=gate.threshold,
    )  # fmt: skip
    if observed.mean is None:
        return replace(facts, why=f"nothing was {'measured' if metric.n_scored else 'scored'}")
    if getattr(observed, gate.which) is None:
        return replace(facts, why="there is no interval of its scores")
    # With scores owed: what would have been found had they all been the lowest, and the highest.
    possible = [observed]
    if n_owed:
        ends = [end for end in metric.bounds if end is not None]
        # Where a score may be anything, nothing is certain.
        closed = metric.aggregate == "mean" and len(ends) == 2
        possible = [_interval(gate, metric, columns, options, end) for end in ends if closed]
    counted = ""
    if n_owed:
        reasons = columns.tally(metric.name, owed).reasons.items()
        why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in reasons)
        counts = f"{either(n_owed, 'counts', 'count')} at the worst and the best value ({why})"
        counted = f"{plural(n_owed, 'sample')} without a score {counts}"
    judged = judge_agreement(metric)
    refused = ""
    if judged is not None and judged.indicative and not trust_offline:
        refused = f"{str(judged.note).rstrip('.')}; --trust-offline lets it decide"
    return conclude(gate, facts, observed, possible, counted, refused)


def conclude(
    gate: Gate,
    facts: GateResult,
    observed: Interval,
    possible: Sequence[Interval],
    owed: str,
    refused: str = "",
) -> GateResult:
    """The result of a gate: by what was observed, and by what may be true with the worst and the
    best values for owed scores."""
    decisions = {gate.decision(one) for one in possible}
    passed, why = (decisions.pop() if len(decisions) == 1 else None), refused
    if passed is None and not refused and (not owed or gate.decision(observed) is None):
        why = "too few samples to tell"
    low, high = None, None
    if gate.which != "mean" or owed:
        of_low, of_high = ("mean", "mean") if gate.which == "mean" else ("low", "high")
        lows, highs = ([getattr(one, of) for one in possible] for of in (of_low, of_high))
        low = min((end for end in lows if end is not None), default=None)
        high = max((end for end in highs if end is not None), default=None)
    return replace(
        facts,
        value=getattr(observed, gate.which),
        passed=None if refused else passed,
        why="; ".join(filter(None, (why, owed))),
        low=low,
        high=high,
    )


def _interval(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    options: IntervalOptions,
    owed: float | None = None,
) -> Interval:
    """The mean that a gate is decided by, and the one-sided bounds of the true mean; ``owed`` takes
    the place of each score that is owed, where given."""
    chosen = columns.averaged(metric.name)
    values = columns.values(metric.name)
    if owed is not None:
        values = np.where(chosen, values, owed)
        chosen = chosen | columns.owed(metric.name)
    clusters = sample_clusters(columns)
    level = options.level if gate.which == "mean" else one_sided(options.level)
    return interval_of(
        metric,
        values[chosen],
        None if clusters is None else clusters[chosen],
        replace(options, level=level),
    )
