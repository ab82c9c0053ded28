"""``ragassay report``: a run folder's reports again, or in other formats."""

from __future__ import annotations

from ragassay.base.errors import UsageError
from ragassay.cli.command import Given, command
from ragassay.cli.flags import listed
from ragassay.cli.output import show


@command("report")
def report(given: Given) -> int:
    """Show a run folder's summary and write its reports.

    ```sh
    ragassay report runs/new
    ragassay report runs/new --format html,markdown,csv,long-csv,jsonl,parquet,png,svg -o out/
    ragassay report runs/new --format junit,badge --metric em --fail-under 'em>=0.4'
    ```
    """
    from dataclasses import replace

    from ragassay.engine.comparison import gates
    from ragassay.engine.results import open_run
    from ragassay.reports.run_reports import write_reports

    result = open_run(given.folder)
    result = replace(
        result, gates=gates.results_of(result, given.fail_under, trust_offline=given.trust_offline)
    )
    formats = listed("--format", given.format)
    if given.metric is not None and "badge" not in (formats or ()):
        raise UsageError("--metric is for a badge: add --format badge.")
    with show.status("writing reports"):
        written = write_reports(result, given.output or given.folder, formats, metric=given.metric)
    if given.json:
        show.json({**show.result_json(result), "gates": [one.to_json() for one in result.gates]})
    else:
        show.result(result, every=given.metrics == "all")
        show.lines(*(f"{what}: {path}" for what, path in written.items()))
        show.gates(result.gates)
    if given.github:
        show.github_of(result, as_json=given.json)
    return show.exit_code_of(result) if given.fail_under else show.OK
