"""What a result shows when it is printed, and in a notebook."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.plan.data_preview import Preview
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import Summary
from ragassay.reports.charts.boxes import boxplots
from ragassay.reports.charts.compared import overview
from ragassay.reports.charts.svg import Chart
from ragassay.reports.drawn.html import cell_html
from ragassay.reports.drawn.terminal import Printed
from ragassay.reports.model import Report
from ragassay.reports.views.comparison_view import comparison_report
from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report
from ragassay.reports.views.plan_view import preview_report
from ragassay.reports.views.summary_view import result_report, summary_report

WIDTH = 100
"""Columns of printed text at most."""

_REPORTS: Mapping[type, Callable[[Any], Report]] = {
    Comparison: comparison_report,
    Diagnosis: diagnosis_report,
    Moved: moved_report,
    Preview: preview_report,
    Result: result_report,
    Summary: summary_report,
}


def report_of(shown: object) -> Report:
    """The report of a result, its summary, a comparison, a diagnosis, a plan; of a report, it."""
    return shown if isinstance(shown, Report) else _REPORTS[type(shown)](shown)


def html_of(shown: object) -> str:
    """The HTML of a notebook's cell.

    Args:
        shown: see `report_of`.
    """
    return cell_html(report_of(shown))


def text_of(shown: object, *, margin: int = 0) -> str:
    """What the command line prints, as wide as the terminal, up to 100 columns.

    Args:
        shown: see `report_of`.
        margin: columns of the terminal that stay free.
    """
    from rich.console import Console

    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns - margin)
    out = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    out.print(Printed(report_of(shown)))
    lines = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def plot_of(shown: Result | Comparison) -> Chart:
    """A picture of a result or of a comparison.

    Args:
        shown: what is drawn.

    Raises:
        UsageError: there is nothing to draw, or the comparison does not hold its runs.
    """
    if isinstance(shown, Result):
        return boxplots(shown)
    if shown.runs is None:
        raise UsageError(
            "This comparison does not hold its runs, so it cannot be drawn. Compare them again: "
            "ragassay.compare(new, old).plot()."
        )
    return overview(shown, shown.runs[0])
