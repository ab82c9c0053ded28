"""Exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragassay.engine.results import GateResult, Summary

OK = 0
GATE_FAILED = 1
USAGE = 2
INCOMPLETE = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
"""The program that reads the output (``head``) ended first: the code of a process that SIGPIPE
ended, so that it is never taken for a failed gate."""


def exit_code(gates: Sequence[GateResult], *summaries: Summary) -> int:
    """1 when a gate failed, 3 when something went unscored that should not have, else 0.

    ``summaries`` are that of the run and, where there is one, that of its consistency.
    """
    if any(gate.passed is False for gate in gates):
        return GATE_FAILED
    nothing = not any(m.n_scored for summary in summaries for m in summary.metrics.values())
    incomplete = any(summary.incomplete for summary in summaries)
    if incomplete or nothing or any(gate.passed is None for gate in gates):
        return INCOMPLETE
    return OK
