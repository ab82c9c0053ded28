"""``--github``: what GitHub Actions shows: annotations, and the summary of a step."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.results.comparison_result import Comparison
    from ragassay.engine.results.gate_result import GateResult
    from ragassay.engine.results.summary import Summary
    from ragassay.reports.model import Report


def tell_of_run(shown: Result, *, as_json: bool) -> None:
    """Tells GitHub's workflow what a run found: annotations, and the summary of the step.

    Args:
        shown: the run.
        as_json: annotations go to standard error, since standard output is JSON.
    """
    from ragassay.reports.views.summary_view import result_report

    summaries = show.summaries(shown)
    reports = [result_report(shown, gates=False, slices=True)]
    _tell(shown.gates, summaries, reports, as_json=as_json)


def tell_of_comparisons(
    comparisons: Sequence[Comparison], results: Sequence[GateResult], *, as_json: bool
) -> None:
    """Tells GitHub's workflow what comparisons found, as `tell_of_run` does.

    Args:
        comparisons: of the runs.
        results: what their gates found.
        as_json: annotations go to standard error.
    """
    from ragassay.reports.views.comparison_view import comparison_report

    reports = [comparison_report(one, full=True) for one in comparisons]
    _tell(results, (), reports, as_json=as_json)


def _tell(
    gates: Sequence[GateResult],
    summaries: Sequence[Summary],
    reports: list[Report],
    *,
    as_json: bool,
) -> None:
    from ragassay.reports.ci import github_workflow
    from ragassay.reports.drawn.markdown import markdown

    sys.stdout.flush()
    stream = sys.stderr if as_json else sys.stdout
    stream.writelines(f"{one}\n" for one in github_workflow.commands(gates, summaries))
    text = "\n".join([github_workflow.gate_list(gates), *map(markdown, reports)])
    github_workflow.add_to_step_summary(text, os.environ)
