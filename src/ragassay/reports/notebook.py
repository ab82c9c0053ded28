"""What a notebook shows of a result, a comparison and a plan: small HTML without scripts, in the
colours of the notebook."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ragassay.base import printable
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.engine.diagnosis.diagnosis_result import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.plan.data_preview import Preview
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import Summary
from ragassay.reports.charts.chart import Chart
from ragassay.reports.html import pages
from ragassay.reports.plots import run_charts
from ragassay.reports.plots.compared import overview
from ragassay.reports.text import diagnosis_text, preview_text
from ragassay.reports.text.diagnosis_text import diagnosis_table, moved_table
from ragassay.reports.text.preview_text import preview_table
from ragassay.reports.text.terminal import comparison_table

WIDTH = 100
"""Columns of printed text at most."""

PlotKind = Literal["boxes", "histograms"]
"""Pictures of a result."""

_KINDS = {"boxes": run_charts.boxplots, "histograms": run_charts.histograms}


_TABLES: Mapping[type, Callable[[Any], object]] = {
    Comparison: comparison_table,
    Diagnosis: diagnosis_table,
    Moved: moved_table,
    Preview: preview_table,
}


def html_of(shown: object) -> str:
    """The HTML of a notebook's cell.

    Args:
        shown: a result, its summary, a comparison, a diagnosis or a plan.
    """
    if isinstance(shown, Comparison):
        body = _page("comparison", comparison=shown, extents=pages.extents(shown))
    elif isinstance(shown, Summary):
        body = _page("summaries", summaries=[shown], gates=())
    elif isinstance(shown, Result):
        every = [step.summary for step in shown.steps]
        summaries = [one for one in every if one.metrics] or every[:1]
        body = _page("summaries", summaries=summaries, gates=shown.gates)
    elif isinstance(shown, Diagnosis):
        title = f"{shown.name}: {diagnosis_text.failing_line(shown)}"
        notes = diagnosis_text.panel_notes(shown)
        body = table_html(*diagnosis_text.class_cells(shown), notes, title=title)
    elif isinstance(shown, Moved):
        title = f"{shown.new.name} against {shown.old.name}: {diagnosis_text.moved_line(shown)}"
        notes = [*diagnosis_text.moved_notes(shown), *diagnosis_text.transition_lines(shown)]
        body = table_html(*diagnosis_text.moved_cells(shown), notes, title=title)
    else:
        assert isinstance(shown, Preview)
        title = preview_text.preview_head(shown)
        body = table_html(*preview_text.metric_cells(shown), shown.warnings, title=title)
        if shown.calls is not None:
            title = f"judge {shown.calls.judge}: what the run would ask; nothing was sent"
            notes = preview_text.call_lines(shown.calls)
            body += table_html(*preview_text.call_cells(shown.calls), notes, title=title)
    return body


def table_html(
    heads: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str], *, title: str = ""
) -> str:
    """A table as the HTML of a notebook's cell.

    Args:
        heads: of the columns; the first is that of the names.
        rows: cells, one for each head.
        notes: sentences below the table.
        title: a sentence above it.
    """
    return _page("rows", title=title, heads=heads, cells=rows, notes=notes)


def text_of(shown: object, *, margin: int = 0) -> str:
    """What the command line prints, as wide as the terminal, up to 100 columns.

    Args:
        shown: a comparison, a diagnosis, a plan, or what rich can print.
        margin: columns of the terminal that stay free.
    """
    from rich.console import Console

    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns - margin)
    out = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    out.print(_TABLES[type(shown)](shown) if type(shown) in _TABLES else shown)
    notes = shown.warnings if isinstance(shown, Preview) else ()
    lines = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join([*(line.rstrip() for line in lines), *(f"note: {note}" for note in notes)])


def plot_of(shown: Result | Comparison, kind: str = "boxes") -> Chart:
    """A picture of a result or of a comparison.

    Args:
        shown: what is drawn.
        kind: of a result's picture, see `PlotKind`.

    Raises:
        UsageError: there is nothing to draw, no such kind, or the comparison does not hold its
            runs.
    """
    if isinstance(shown, Comparison):
        if shown.runs is None:
            raise UsageError(
                "This comparison does not hold its runs, so its queries cannot be drawn. Compare "
                "them again: ragassay.compare(new, old).plot()."
            )
        return Chart(overview(shown, *shown.runs))
    if kind not in _KINDS:
        raise UsageError(
            f"No picture is called {kind!r}. {did_you_mean(kind, _KINDS)} "
            f"There are: {', '.join(_KINDS)}."
        )
    return Chart(_KINDS[kind](shown))


def _page(block: str, **context: Any) -> str:
    module = pages.environment().get_template("notebook.html.j2").module
    macro = getattr(module, block)
    # A notebook is a file, too, and its cells are printed to terminals (nbconvert, git diff).
    return printable.escaped(str(macro(**context)))
