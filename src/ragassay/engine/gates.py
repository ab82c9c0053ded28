"""Gates: ``--fail-under 'f1>=0.6'`` and what they decide."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragassay.engine.names import shown
from ragassay.engine.summary import MetricSummary, Summary
from ragassay.errors import UsageError
from ragassay.scores import Reason

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
class GateResult:
    """What a gate found.

    ``passed`` is ``None`` when it cannot be decided: nothing was scored, or ``unscored`` samples
    lack something (an answer) without which the gate could not have been passed for certain.
    """

    gate: str
    value: float | None
    passed: bool | None
    unscored: int = 0

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        if self.passed is None and self.value is None:
            return f"gate {self.gate}: undecided, nothing was scored"
        if self.passed is None:
            return (
                f"gate {self.gate}: undecided at {self.value:.4f}, because {self.unscored} samples "
                "that should have been scored were not"
            )
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


def resolve(texts: Sequence[str], metrics: Mapping[str, str], used: Sequence[str]) -> list[Gate]:
    """The gates that texts describe, each metric under the name that the run shows it by.

    Args:
        texts: conditions, see `parse`.
        metrics: shown name -> canonical name of what the run computes.
        used: names of the suites whose aliases hold.

    Raises:
        UsageError: no condition, or a metric that the run does not compute.
    """
    gates = []
    for gate in map(parse, texts):
        where = "what this run computes", "--dry-run lists them"
        for name in shown([gate.metric], metrics, used, *where):
            gates.append(Gate(name, gate.which, gate.op, gate.bound))
    return gates


def judge(gates: Sequence[Gate], summary: Summary) -> list[GateResult]:
    """What each gate finds in a summary, for those that speak of its metrics.

    A gate is not passed by leaving samples unscored: where answers are missing, it passes only if
    it would also pass with the worst possible value for each of them.
    """
    results = []
    for gate in gates:
        if gate.metric not in summary.metrics:
            continue  # it speaks of the run's consistency, or this is that and it of the run
        metric = summary.metrics[gate.metric]
        value: float | None = getattr(metric, gate.which)
        unscored = sum(n for reason, n in metric.unscored.items() if reason in _OWED)
        passed = None if value is None else _holds(gate, value)
        if passed and unscored and not _survives(gate, metric, value or 0.0, unscored):
            passed = None
        results.append(GateResult(str(gate), value, passed, unscored))
    return results


_OWED = {str(Reason.MISSING_INPUT), str(Reason.FAILED)}
"""Reasons that do not lie in the nature of the query: a score was owed."""


def _holds(gate: Gate, value: float) -> bool:
    return bool(_OPERATORS[gate.op](value, gate.bound))


def _survives(gate: Gate, metric: MetricSummary, value: float, unscored: int) -> bool:
    """Whether the gate still holds when every owed score is the worst possible one."""
    worst = metric.bounds[0] if gate.op in (">", ">=") else metric.bounds[1]
    if worst is None or metric.aggregate != "mean":
        return False
    n = metric.n_scored
    return _holds(gate, (value * n + worst * unscored) / (n + unscored))
