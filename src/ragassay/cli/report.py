"""``ragassay report``: a run folder's reports again, or in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Repeated, Switch, listed
from ragassay.cli.output import github_output, show


def report(
    folder: Path,
    /,
    *,
    format: Repeated | None = None,  # noqa: A002
    output: Output | None = None,
    metric: str | None = None,
    metrics: Literal["headline", "all"] = "headline",
    fail_under: Repeated | None = None,
    trust_offline: Switch = False,
    github: Switch = False,
    json: Switch = False,
) -> int:
    """Show a run folder's summary and write its reports.

    ```sh
    ragassay report runs/new
    ragassay report runs/new --format html,markdown,csv,long-csv,jsonl,parquet,png,svg -o out/
    ragassay report runs/new --format junit,badge --metric em --fail-under 'em>=0.4'
    ```

    Args:
        folder: A folder that 'ragassay run -o' wrote.
        format: Reports to write, joined with commas: html, markdown (or md), csv (one row a
            sample), long-csv (one row a score), jsonl, parquet, png and svg (box plots with the
            points), distributions (an SVG), ragreport, trecrag and consistency (their published
            tables as CSV), ore (the files that Open RAG Eval writes), xlsx (an Excel workbook),
            junit (JUnit XML, a test case for each gate), badge (an SVG with a metric and its
            interval). Default: html, markdown, csv; ragreport, trecrag or consistency where that
            suite was run; junit where the run has gates.
        output: Folder to write to (default: the run folder itself).
        metric: Metric that the badge shows (default: that of the first gate).
        metrics: Which rows are printed: those of the headline of each suite, or all.
        fail_under: Gate in place of the run's own: METRIC>=VALUE, low(METRIC)>=VALUE or
            high(METRIC)<=VALUE. The exit code is then that of 'ragassay run'. Repeatable.
        trust_offline: Let offline judgments decide gates, whatever their agreement with people.
        github: Print GitHub's annotations, and add the summary to $GITHUB_STEP_SUMMARY.
        json: Print the summary as JSON.
    """
    from dataclasses import replace

    from ragassay.engine.comparison import gates
    from ragassay.engine.results import open_run
    from ragassay.reports.run_reports import write_reports

    result = open_run(folder)
    result = replace(
        result, gates=gates.results_of(result, fail_under, trust_offline=trust_offline)
    )
    formats = listed("--format", format)
    if metric is not None and "badge" not in (formats or ()):
        raise UsageError("--metric is for a badge: add --format badge.")
    with show.status("writing reports"):
        written = write_reports(result, output or folder, formats, metric=metric)
    if json:
        show.json({**show.result_json(result), "gates": [one.to_json() for one in result.gates]})
    else:
        show.result(result, every=metrics == "all")
        show.lines(*(f"{what}: {path}" for what, path in written.items()))
        show.gates(result.gates)
    if github:
        github_output.tell_of_run(result, as_json=json)
    return show.exit_code_of(result) if fail_under else show.OK
