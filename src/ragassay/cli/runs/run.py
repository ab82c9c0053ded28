"""``ragassay run``, ``validate`` and ``demo``: evaluate a file, check it, or evaluate our data."""

from __future__ import annotations

import gc
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.cli import show
from ragassay.cli.command import YAML, Given, command, configured
from ragassay.cli.published_tools.pipeline_command import run_pipeline
from ragassay.cli.show import progress_bar

if TYPE_CHECKING:
    from ragassay.engine.config.run_config import RunConfig
    from ragassay.engine.run.prepared_run import PreparedRun
    from ragassay.formats import Placement


SMALL = 10_000_000
"""Bytes of files whose scores stay in memory without ``--output``, to say why samples fail."""


@command("run", "Parameters", "Judging", "Neural models")
def run(given: Given) -> int:
    """Evaluate DATA with one or more suites and print every metric with its interval.

    DATA is a file of samples (JSONL, CSV, XLSX, Parquet, exports of other tools, TREC ...; the
    format is detected), several of them, standard input (-), a YAML file that holds these options
    as keys, or a pipeline ('ragassay build --help').

    ```sh
    ragassay run answers.jsonl
    ragassay run answers.csv --columns answer=model_output -o runs/new
    ragassay run run.trec --qrels qrels.txt --metrics nDCG@10,Recall@100
    ragassay run config.yaml --fail-under 'low(token_f1.f)>=0.4'
    ragassay run answers.jsonl --suite trecrag --judge openai:gpt-4o --dry-run
    ```

    Some metrics need a judge: an LLM (--judge) or, by default, simple offline rules. A ledger keeps
    the answers of an LLM: run the same command again to resume.
    """
    from ragassay.engine.run.prepared_run import prepare
    from ragassay.formats.sources import opening

    if given.data is not None and given.data.suffix.casefold() in YAML:
        from ragassay.compat.ultrarag.pipeline_file import is_pipeline

        if is_pipeline(given.data):
            return run_pipeline(given)
    if given.param is not None:
        raise UsageError("--param is for a pipeline: a YAML file with 'pipeline:'.")
    if given.data is None and given.config is None:
        raise UsageError("No data is named: ragassay run DATA. 'ragassay run --help' has examples.")
    every = given.run_options.get("metrics") == ["all"]
    if every:
        del given.run_options["metrics"]
    chosen = configured(given.data, given.config, given.run_options, given.more)
    job = prepare(chosen, judge=judges_of(chosen, given), dry=given.dry_run)
    if given.dry_run:
        _preview(job, as_json=given.json)
        return show.OK
    if (folder := chosen.output) is not None:
        show.warn(_replaced(Path(folder)))
    doing = job.doing
    if doing is not None:
        # What is loaded by now need not be searched for garbage while the first requests are built:
        # it takes as long as building them. The process is ours, so this is ours to say.
        gc.freeze()
    files = list(map(opening.on_disk, job.source.paths))
    small = all(file.is_file() and file.stat().st_size < SMALL for file in files)
    with progress_bar("scoring", job.source.count, doing) as progress:
        result = job.run(progress, keep=small)
    reports = {}
    if result.folder is not None:
        from ragassay.reports.run_reports import write_reports

        with show.status("writing reports"):
            reports = write_reports(result, title=given.title)
    return show.finished(result, reports, given, every=every)


def judges_of(chosen: RunConfig, given: Given) -> list[Any]:
    """The judges of a configuration, with the objects that words in it name."""
    from ragassay.judges.judge_factory import named_judges

    return named_judges(chosen.judge, typed="judge" in given.run_options)


def _replaced(folder: Path) -> list[str]:
    """A sentence about the older run that a folder holds."""
    from ragassay.engine.results.folders.run_folder import CONTRACT, RUN, report_files

    names = [name for name in (*CONTRACT, *report_files().values()) if (folder / name).exists()]
    if RUN not in names:
        return []
    return [f"{folder} holds an older run. This run replaces {', '.join(names)}."]


NOT_OF_DATA = ("data", "output", "fail_under", "trust_offline", "interval", "level", "seed")
"""Options that say neither which data there are nor what is to be measured of them."""


@command("validate", "Parameters", names=("rubric", "nuggets"), without=NOT_OF_DATA)
def validate(given: Given) -> int:
    """Read all of DATA (or what a YAML configuration names) and say what is in it.

    Shows how many samples each metric applies to, which suites suit the data, and which columns
    no metric reads and what they may be (--columns). Exit code 2: the data has a fault, in the
    file, line and field that are named. Exit code 3: no metric of the run can be scored.

    ```sh
    ragassay validate answers.jsonl
    ragassay validate export.csv --save-mapping mapping.yaml
    ragassay validate config.yaml
    ragassay validate answers.csv --config eval_config.yaml
    ```
    """
    from ragassay import formats
    from ragassay.engine.config.config_paths import save_mapping as saved
    from ragassay.engine.run.prepared_run import prepare

    chosen = configured(given.data, given.config, given.run_options, given.more)
    if chosen.data is None:
        raise UsageError("No data is named. Give a file, or a configuration with 'data'.")
    as_read = ("format", "columns", "encoding", "sheet", "separator", "single_chunk")
    reading = {name: getattr(chosen, name) for name in (*as_read, "passages_from")}
    placement = formats.place(chosen.data, **reading)
    if (file := given.save_mapping) is not None:
        saved(file, chosen, placement)
        show.warn([f"{file} is written. Check it, then: ragassay run -c {file}"])
    scorable = _preview(
        prepare(chosen, judge=judges_of(chosen, given), dry=True),
        as_json=given.json,
        every_suite=not (chosen.suite or chosen.metrics),
        placement=placement,
    )
    return show.OK if scorable else show.INCOMPLETE


def _preview(
    job: PreparedRun,
    *,
    as_json: bool,
    every_suite: bool = False,
    placement: Placement | None = None,
) -> bool:
    """Reads the data of a job and prints what it would compute, ask and pay; whether any can be
    scored."""
    from ragassay.engine.run.data_preview import preview
    from ragassay.reports.views.plan_view import can_score, preview_report

    with progress_bar("reading", job.source.count) as progress:
        plan = preview(job, progress, every_suite=every_suite)
    if as_json:
        columns = {} if placement is None else {"columns": asdict(placement)}
        show.json({**plan.to_json(), **columns})
    else:
        show.report(preview_report(plan))
        if placement is not None and placement.unplaced:
            names = (name or "'' (without a name)" for name in placement.unplaced)
            unread = "columns that no metric reads (usable as slices, unless nested)"
            show.lines("", f"{unread}: {', '.join(names)}")
        if placement is not None and (perhaps := _suggestions(placement)):
            show.lines(f"perhaps: {perhaps}")
    show.warn(plan.warnings)
    return can_score(plan)


def _suggestions(placement: Placement) -> str:
    """The flags for the columns that may hold fields; empty where there are none."""
    flags = (f"{field}={column}" for field, column in placement.suggested.items())
    return " ".join(f"--columns {shlex.quote(flag)}" for flag in flags)


@command("demo")
def demo(given: Given) -> None:
    """Evaluate two small RAG systems on a bundled dataset, compare them, write HTML reports.

    No key, no network, no configuration. The dataset is invented but realistic: documents,
    questions with gold spans and references, unanswerable questions, and conversations.

    ```sh
    ragassay demo
    ragassay demo --data town
    ```
    """
    from ragassay.engine import evaluate
    from ragassay.engine.comparison.compare_runs import compare
    from ragassay.examples import SYSTEMS, copy_to, path_of
    from ragassay.reports.html import pages
    from ragassay.reports.run_reports import write_reports
    from ragassay.reports.views.comparison_view import comparison_report

    if given.data is not None:
        show.lines(*(f"  {path}" for path in copy_to(given.data)))
        return
    results = {}
    for name in SYSTEMS:
        with progress_bar(f"scoring {name}") as progress:
            results[name] = evaluate(path_of(name), save=given.output / name, progress=progress)
        write_reports(results[name])
    comparison = compare(*(results[name] for name in SYSTEMS))
    page = given.output / "comparison.html"
    with show.status("writing the comparison"):
        pages.write_comparison(comparison, page)
    if given.json:
        show.json(comparison.to_json())
        return
    show.report(comparison_report(comparison))
    show.lines("The pages have every metric, sample and query:")
    paths = (page, *(given.output / name / "report.html" for name in SYSTEMS))
    runs = shlex.join(str(given.output / name) for name in SYSTEMS)
    by_hand = f"The same by hand:  ragassay compare {runs}"
    show.lines(*(f"  {path.resolve()}" for path in paths), by_hand)
