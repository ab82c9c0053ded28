"""How results show themselves (printed, in a notebook, as a picture), and write their reports."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragassay.base import files
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.json_data import dumps
from ragassay.base.packages import added
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.folders.run_folder import SCORES, report_files
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.summary import Summary
from ragassay.engine.run.data_preview import Preview
from ragassay.reports.charts.boxes import boxplots, overview
from ragassay.reports.charts.svg import Chart
from ragassay.reports.ci_reports import write_junit
from ragassay.reports.drawn.html import cell_html
from ragassay.reports.drawn.markdown import markdown
from ragassay.reports.drawn.terminal import Printed
from ragassay.reports.html import pages
from ragassay.reports.model import Report
from ragassay.reports.tables import ore_files, published_csv, tables, workbook
from ragassay.reports.tables.ore_values import judged_rows
from ragassay.reports.views.comparison_view import comparison_report
from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report
from ragassay.reports.views.plan_view import preview_report
from ragassay.reports.views.summary_view import (
    gate_lines,
    result_report,
    summary_report,
    written_report,
)

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
    """The HTML of a notebook's cell; see `report_of` for what can be shown."""
    return cell_html(report_of(shown))


def text_of(shown: object, *, margin: int = 0) -> str:
    """What the command line prints, as wide as the terminal less a margin, up to `WIDTH`."""
    from rich.console import Console

    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns - margin)
    out = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_jupyter=False
    )
    out.print(Printed(report_of(shown)))
    lines = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def plot_of(shown: Result | Comparison) -> Chart:
    """A picture of a result, or of a comparison that holds its runs."""
    if isinstance(shown, Result):
        return boxplots(shown)
    return overview(shown, pages.runs_of(shown)[0])


DEFAULT = ("html", "markdown", "csv")


def _markdown(result: Result, path: Path, title: str | None = None) -> None:
    files.write_text(path, markdown(written_report(result).titled(title)))


WRITERS: dict[str, Callable[..., object]] = {
    "html": pages.write_report,
    "markdown": _markdown,
    "csv": tables.write_wide_csv,
    "long-csv": tables.write_csv,
    "jsonl": tables.write_jsonl,
    "parquet": tables.write_parquet,
    **dict.fromkeys(("png", "svg"), lambda result, path: boxplots(result).save(path)),
    "ragreport": published_csv.write_ragreport,
    "trecrag": published_csv.write_trecrag,
    "consistency": published_csv.write_consistency,
    "xlsx": workbook.write_workbook,
    "junit": write_junit,
}
"""The writer of each of our report formats that is one file; `file_name` names the file."""


def report_formats() -> tuple[str, ...]:
    """All report formats: ours (Open RAG Eval's is several files), and those of packages."""
    return (*WRITERS, "ore", *added("reports"))


def full_name(format: str) -> str:  # noqa: A002
    """The name of a report format: markdown for ``md``, which its files end in."""
    return "markdown" if format == "md" else format


def check_comparison(path: Path) -> None:
    """A `UsageError` for a file that no comparison can be written to."""
    if path.suffix.casefold() not in (".html", ".htm", ".md", ".json", ".svg", ".png"):
        raise UsageError(f"{path}: name a file that ends in .html, .md, .json, .svg or .png.")


def write_comparison(comparison: Comparison, path: Path, title: str | None = None) -> None:
    """Writes a comparison in the form that the file's suffix names; .svg and .png hold the
    differences with their intervals, .html and .md have a title."""
    check_comparison(path)
    suffix = path.suffix.casefold()
    if suffix in (".html", ".htm"):
        pages.write_comparison(comparison, path, title)
    elif suffix == ".md":
        report = comparison_report(comparison, broken=True).titled(title)
        blocks = (gate_lines(comparison.gates), *report.blocks)
        files.write_text(path, markdown(replace(report, blocks=blocks)))
    elif suffix == ".json":
        files.write_bytes(path, dumps(comparison.to_json(), indent=True) + b"\n")
    else:
        plot_of(comparison).save(path)


def file_name(format: str) -> str:  # noqa: A002
    """The name of a report's file in a folder."""
    return SCORES if format == "jsonl" else report_files()[format]


def write_reports(
    result: Result,
    folder: Path | None = None,
    formats: Sequence[str] | None = None,
    title: str | None = None,
) -> dict[str, Path]:
    """Writes the reports of a finished run into a folder, or the run's own; the HTML page and
    Markdown under a title of their own, or this one.

    ``formats`` are names from `report_formats`, or md. When left out: HTML, Markdown and CSV, the
    published tables of the suites that were run, JUnit XML where the run has gates, and the reports
    of the run's consistency in the folder of that name.
    """
    target = folder or result.folder
    if target is None:
        raise UsageError("The result has no folder yet. Give a folder, or save the result first.")
    ran = result.config.get("suite") or ()
    published = ["ragreport"] if "ragreport" in ran and published_csv.metrics_of(result) else []
    published += ["trecrag"] if "trecrag" in ran and judged_rows(result) else []
    published += ["consistency"] if result.consistency is not None else []
    published += ["junit"] if result.gates or result.config.get("fail_under") else []
    wanted = [full_name(name) for name in formats or (*DEFAULT, *published)]
    for name in wanted:
        if name not in report_formats():
            raise UsageError(
                f"Unknown report format {name!r}. {did_you_mean(name, report_formats())} "
                f"There are: {', '.join(report_formats())}."
            )
    # A run of the suite consistency alone has no metrics but those of its consistency.
    with_metrics = result if result.summary.metrics else result.consistency or result
    written: dict[str, Path] = {}
    for name in wanted:
        if name == "ore":
            written |= ore_files.write(with_metrics, target)
            continue
        written[name] = target / file_name(name)
        write = WRITERS[name] if name in WRITERS else added("reports")[name].write
        titled = {"title": title} if title and name in ("html", "markdown") else {}
        write(result if name == "junit" else with_metrics, written[name], **titled)
    if formats is None and result.consistency is not None:
        write_reports(result.consistency, target / CONSISTENCY)
    return written
