"""``ragassay run``: evaluate a file."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.cli.flags import ConfigFile, Switch, configured, takes_options
from ragassay.cli.output import github_output, show
from ragassay.cli.output.command_progress import ProgressBar
from ragassay.cli.peers.pipeline_command import run_pipeline


@takes_options("Parameters", "Judging", "Neural models")
def run(
    data: Path | None = None,
    /,
    *more: Path,
    config: ConfigFile | None = None,
    param: Path | None = None,
    dry_run: Switch = False,
    github: Switch = False,
    json: Switch = False,
    **run_options: Any,
) -> int:
    """Evaluate DATA with one or more suites and print every metric with its interval.

    DATA is a file of samples (JSONL, CSV, XLSX, Parquet, exports of other tools, TREC ...; the
    format is detected), several of them, standard input (-), a YAML file that holds these options
    as keys, or a pipeline ('ragassay build --help').

    ```sh
    ragassay run answers.jsonl --suite qa
    ragassay run answers.csv --columns answer=model_output -o runs/new
    ragassay run run.trec --qrels qrels.txt --metrics nDCG@10,Recall@100
    ragassay run config.yaml --fail-under 'low(em)>=0.4'
    ragassay run answers.jsonl --suite trecrag --judge openai:gpt-4o --dry-run
    ```

    Without --judge, rules about words answer offline what a judge is asked. Answers of an LLM are
    kept in a ledger before they are used: the same command again resumes.

    Args:
        data: File or folder with samples (- for standard input), or YAML.
        more: Further files; also as a pattern: 'runs/*.jsonl'.
        config: YAML with these options, or Open RAG Eval's.
        param: Parameter file of a pipeline (default: parameters/NAME_parameter.yaml beside it).
        dry_run: Say what would be computed, asked and paid, no more.
        github: Print GitHub's annotations; write its step summary.
        json: Print the summary as JSON.
    """
    from ragassay import formats
    from ragassay.compat.ultrarag.pipeline_file import is_pipeline
    from ragassay.engine.run.prepared_run import prepare
    from ragassay.judges.python_judge import named_judges
    from ragassay.reports.run_reports import report_formats, write_reports

    if data is not None and is_pipeline(data):
        if more:
            raise UsageError(f"{data} is a pipeline, and {more[0]} cannot be given beside it.")
        pipeline_options = run_options if config is None else {**run_options, "config": config}
        return run_pipeline(data, pipeline_options, param=param, dry_run=dry_run, json=json)
    if param is not None:
        raise UsageError("--param is for a pipeline: a YAML file with 'pipeline:'.")
    kind = run_options.get("format")
    if kind in report_formats() and kind not in formats.all_formats():
        raise UsageError(
            f"{kind} is a format of reports, and --format names that of the data. After the run: "
            f"ragassay report DIR --format {kind}."
        )
    if data is None and config is None:
        raise UsageError("No data is named: ragassay run DATA. 'ragassay run --help' has examples.")
    every = run_options.get("metrics") == ["all"]
    if every:
        del run_options["metrics"]
    chosen = configured(data, config, run_options, more)
    job = prepare(
        chosen, judge=named_judges(chosen.judge, typed="judge" in run_options), dry=dry_run
    )
    out = show.console()
    if dry_run:
        show.preview(job, as_json=json)
        return show.OK
    doing = job.doing
    if doing is not None:
        # What is loaded by now need not be searched for garbage while the first requests are built:
        # it takes as long as building them. The process is ours, so this is ours to say.
        gc.freeze()
    with ProgressBar("scoring", job.source.count, doing) as progress:
        result = job.run(progress, progress.compared, keep=False)
    with show.status("writing reports"):
        reports = write_reports(result) if result.folder is not None else {}
    if json:
        show.json({**show.result_json(result), "gates": [g.to_json() for g in result.gates]})
        show.warn(result.summary.warnings)
    else:
        show.result(result, every=every, slices=job.config.slice_by is not None)
        show.lines(*(f"{what}: {path}" for what, path in reports.items()))
        if not reports:
            out.print("Add -o DIR to keep the scores and an HTML report.", style="dim")
        show.gates(result.gates)
    if github:
        github_output.tell_of_run(result, as_json=json)
    return show.exit_code_of(result)
