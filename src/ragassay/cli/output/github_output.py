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


def tell_of_run(shown: Result, *, as_json: bool) -> None:
    """Tells GitHub's workflow what a run found: annotations, and the summary of the step.

    Args:
        shown: the run.
        as_json: annotations go to standard error, since standard output is JSON.
    """
    from ragassay.reports.text import markdown

    summaries = show.summaries(shown)
    tables = [markdown.summary(one) for one in summaries if one.metrics]
    _tell(shown.gates, summaries, tables, as_json=as_json)


def tell_of_comparisons(
    comparisons: Sequence[Comparison], results: Sequence[GateResult], *, as_json: bool
) -> None:
    """Tells GitHub's workflow what comparisons found, as `tell_of_run` does.

    Args:
        comparisons: of the runs.
        results: what their gates found.
        as_json: annotations go to standard error.
    """
    from ragassay.reports.text import markdown

    _tell(results, (), [markdown.comparison(one) for one in comparisons], as_json=as_json)


def _tell(
    gates: Sequence[GateResult], summaries: Sequence[Summary], tables: list[str], *, as_json: bool
) -> None:
    from ragassay.reports.ci import github_workflow

    sys.stdout.flush()
    stream = sys.stderr if as_json else sys.stdout
    stream.writelines(f"{one}\n" for one in github_workflow.commands(gates, summaries))
    text = "\n".join([github_workflow.gate_list(gates), *tables])
    github_workflow.add_to_step_summary(text, os.environ)
