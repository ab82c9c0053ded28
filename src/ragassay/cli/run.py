"""``ragassay run``: evaluate a file."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch, configured, takes_options
from ragassay.cli.pipeline import run_pipeline
from ragassay.errors import UsageError


@takes_options("Parameters", "Judging", "Neural models")
def run(
    data: Path | None = None,
    /,
    *,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"])] = None,
    param: Annotated[Path | None, Parameter(name="--param")] = None,
    dry_run: Switch = False,
    json: Switch = False,
    **given: Any,
) -> int:
    """Evaluate DATA with one or more suites and print every metric with its interval.

    DATA is a file of samples (JSONL, CSV, Parquet, MT-RAG, UltraRAG, Open RAG Eval, TREC ...; the
    format is detected) or a YAML file that holds these options as keys. --config names such a file,
    or one of Open RAG Eval's, beside DATA; what is given here wins over what it says.

    ```sh
    ragassay run answers.jsonl --suite qa
    ragassay run answers.csv --suite qa --columns answer=model_output,references=gold -o runs/new
    ragassay run run.trec --qrels qrels.txt --metrics nDCG@10,Recall@100
    ragassay run config.yaml --fail-under 'f1>=0.6' --fail-under 'low(em)>=0.4'
    ragassay run answers.csv --config eval_config.yaml
    ragassay run answers.jsonl --suite trecrag --judge openai:gpt-4o --dry-run
    ragassay run answers.jsonl --suite trecrag --judge openai:gpt-4o --budget 5.00 -o runs/new
    ragassay run answers.jsonl --suite ragreport --judge http://localhost:8000/v1#my-model -j 16
    ```

    DATA may also be a pipeline (a YAML file with the key 'pipeline'; 'ragassay build' writes its
    parameter file): its steps are run. Then --from names the step to begin with, by number or name:
    what the steps before gave is taken from the last run. -o names the folder for what steps give.

    ```sh
    ragassay run examples/rag_full.yaml
    ragassay run examples/rag_full.yaml --from evaluation.evaluate
    ```

    Metrics that need a judge are answered offline, by rules about words, unless --judge names one.
    Every answer of an LLM is kept in a ledger before it is used: the same command again resumes.

    Args:
        data: File or folder with samples, or a YAML configuration.
        config: YAML configuration: these options as keys, or Open RAG Eval's.
        param: Parameter file of a pipeline (default: parameters/NAME_parameter.yaml beside it).
        dry_run: Read the data and say what would be computed, asked and paid, but compute nothing.
        json: Print the summary as JSON.
    """
    from ragassay import formats, pipelines
    from ragassay.engine.run import prepare
    from ragassay.reports import folder
    from ragassay.reports.text import terminal

    if data is not None and pipelines.is_pipeline(data):
        named = given if config is None else {**given, "config": config}
        return run_pipeline(data, named, param=param, dry_run=dry_run, json=json)
    if param is not None:
        raise UsageError("--param is for a pipeline: a YAML file with 'pipeline:'.")
    kind = given.get("format")
    if kind in folder.known() and kind not in formats.known():
        raise UsageError(
            f"{kind} is a format of reports, and --format names that of the data. After the run: "
            f"ragassay report DIR --format {kind}."
        )
    if data is None and config is None:
        raise UsageError("No data is named: ragassay run DATA. 'ragassay run --help' has examples.")
    job = prepare(configured(data, config, given), dry=dry_run)
    out = show.console()
    if dry_run:
        show.preview(job, as_json=json)
        return show.OK
    doing = None
    if job.session is not None and job.session.costs:
        doing = job.session.doing
        # What is loaded by now need not be searched for garbage while the first requests are built:
        # it takes as long as building them. The process is ours, so this is ours to say.
        gc.freeze()
    with show.progress("scoring", job.source.count, doing) as progress:
        result = job.run(progress, progress.compared, keep=False)
    with show.status("writing reports"):
        reports = folder.write_reports(result) if result.folder is not None else {}
    if json:
        show.json({**show.result_json(result), "gates": [g.to_json() for g in result.gates]})
    else:
        show.result(result)
        if job.config.slice_by is not None:
            out.print(terminal.slices_table(result.summary))
        show.lines(*(f"{what}: {path}" for what, path in reports.items()))
        if not reports:
            out.print("Add -o DIR to keep the scores and an HTML report.", style="dim")
        show.gates(result.gates)
    if json:
        show.warn(result.summary.warnings)
    inner = () if result.consistency is None else (result.consistency.summary,)
    return show.exit_code(result.gates, result.summary, *inner)
