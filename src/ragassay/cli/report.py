"""``ragassay report``: a run folder's reports again, or in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch, listed


def report(
    folder: Path,
    /,
    *,
    format: Annotated[list[str] | None, Parameter(negative=())] = None,  # noqa: A002
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Switch = False,
) -> None:
    """Show a run folder's summary and write its reports.

    ```sh
    ragassay report runs/new
    ragassay report runs/new --format html,markdown,csv,long-csv,jsonl,parquet,png,svg -o out/
    ```

    Args:
        folder: A folder that 'ragassay run -o' wrote.
        format: Reports to write, joined with commas: html, markdown (or md), csv (one row a
            sample), long-csv (one row a score), jsonl, parquet, png and svg (box plots with the
            points), distributions (an SVG), ragreport, trecrag and consistency (their published
            tables as CSV), ore (the files that Open RAG Eval writes), xlsx (an Excel workbook).
            Default: html, markdown, csv, and ragreport, trecrag or consistency where that suite was
            run.
        output: Folder to write to (default: the run folder itself).
        json: Print the summary as JSON.
    """
    from ragassay.engine.results import open_run
    from ragassay.reports import folder as reports

    result = open_run(folder)
    with show.status("writing reports"):
        written = reports.write_reports(result, output or folder, listed("--format", format))
    if json:
        show.json(show.result_json(result))
        return
    show.result(result)
    show.lines(*(f"{what}: {path}" for what, path in written.items()))
