"""Gates: ``--fail-under 'f1>=0.6'`` and what they decide."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragassay.cli.exits import GATE_FAILED, INCOMPLETE, OK
from ragassay.engine.evaluation import Plan
from ragassay.engine.summary import Summary
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics import naming

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_FORM = re.compile(r"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<bound>[-+]?[\d.]+(?:[eE][-+]?\d+)?)$")
_BOUND = re.compile(r"^(?P<which>mean|low|high)\((?P<name>.+)\)$")


@dataclass(frozen=True)
class Gate:
    """A condition on a metric's mean, or on a bound of its interval."""

    metric: str
    which: str
    op: str
    bound: float

    def __str__(self) -> str:
        left = self.metric if self.which == "mean" else f"{self.which}({self.metric})"
        return f"{left}{self.op}{self.bound:g}"


@dataclass(frozen=True)
class Verdict:
    """What a gate found. ``passed`` is ``None`` when there was no value to judge."""

    gate: str
    value: float | None
    passed: bool | None

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        if self.passed is None:
            return f"gate {self.gate}: undecided, nothing was scored"
        state = "passed" if self.passed else "FAILED"
        return f"gate {self.gate}: {state} at {self.value:.4f}"

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self)


def parse(text: str) -> Gate:
    """The gate that ``text`` describes.

    Raises:
        UsageError: it is not of the form METRIC>=VALUE or low(METRIC)>=VALUE.
    """
    found = _FORM.match(text.strip())
    if found is None:
        raise UsageError(
            f"--fail-under {text!r} is no condition. Write METRIC>=VALUE, or low(METRIC)>=VALUE "
            "for the lower bound of the interval, as in 'f1>=0.6'."
        )
    bounded = _BOUND.match(found["left"])
    which, name = (bounded["which"], bounded["name"]) if bounded else ("mean", found["left"])
    try:
        return Gate(name, which, found["op"], float(found["bound"]))
    except ValueError as error:
        raise UsageError(f"--fail-under {text!r}: {found['bound']} is not a number.") from error


def resolve(gates: Sequence[Gate], plan: Plan) -> list[Gate]:
    """The gates with each metric under the name that the plan shows it by.

    Raises:
        UsageError: a metric is not part of the run.
    """
    return [Gate(_name(gate.metric, plan), gate.which, gate.op, gate.bound) for gate in gates]


def judge(gates: Sequence[Gate], summary: Summary) -> list[Verdict]:
    """Each gate's verdict on a summary."""
    verdicts = []
    for gate in gates:
        value: float | None = getattr(summary.metrics[gate.metric], gate.which)
        passed = None if value is None else bool(_OPERATORS[gate.op](value, gate.bound))
        verdicts.append(Verdict(str(gate), value, passed))
    return verdicts


def exit_code(verdicts: Sequence[Verdict], summary: Summary) -> int:
    """1 when a gate failed, 3 when something went unscored that should not have, else 0."""
    if any(verdict.passed is False for verdict in verdicts):
        return GATE_FAILED
    nothing = not any(metric.n_scored for metric in summary.metrics.values())
    if summary.incomplete or nothing or any(verdict.passed is None for verdict in verdicts):
        return INCOMPLETE
    return OK


def _name(wanted: str, plan: Plan) -> str:
    if wanted in plan.metrics:
        return wanted
    local = {alias: target for suite in plan.suites for alias, target in suite.aliases.items()}
    try:
        metric = naming.parse(wanted, local)
    except UsageError:
        metric = None
    for name, other in plan.metrics.items():
        if other == metric or name.casefold() == wanted.casefold():
            return name
    hint = did_you_mean(wanted, plan.metrics)
    raise UsageError(
        f"--fail-under names {wanted!r}, which this run does not compute. {hint} "
        f"It computes: {', '.join(plan.metrics)}."
    )
