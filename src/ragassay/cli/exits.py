"""Exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragassay.engine.gates import GateResult
    from ragassay.engine.summary import Summary

OK = 0
GATE_FAILED = 1
USAGE = 2
INCOMPLETE = 3
INTERRUPTED = 130


def exit_code(gates: Sequence[GateResult], summary: Summary) -> int:
    """1 when a gate failed, 3 when something went unscored that should not have, else 0."""
    if any(gate.passed is False for gate in gates):
        return GATE_FAILED
    nothing = not any(metric.n_scored for metric in summary.metrics.values())
    if summary.incomplete or nothing or any(gate.passed is None for gate in gates):
        return INCOMPLETE
    return OK
