"""``ragassay run``: evaluate a file."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ragassay.cli import show
from ragassay.cli.configured import configured
from ragassay.cli.exits import OK, exit_code
from ragassay.cli.words import assignments, folders, listed, mapping, numbers
from ragassay.errors import UsageError

Many = Parameter(consume_multiple=False, negative=())
JUDGING = Group("Judging", sort_key=10)


def Asking(**kwargs: Any) -> Parameter:  # noqa: N802 - used like cyclopts' Parameter
    """A parameter listed under 'Judging'."""
    return Parameter(group=JUDGING, negative=(), **kwargs)


MODELS = Group("Neural models", sort_key=11)


def Modelling(**kwargs: Any) -> Parameter:  # noqa: N802
    """A parameter listed under the models."""
    return Parameter(group=MODELS, negative=(), **kwargs)


def Hidden(*names: str) -> Parameter:  # noqa: N802
    """A published flag that is understood only to say what to write instead."""
    return Parameter(name=list(names), negative=(), show=False)


STEPS = Group("MT-RAG's steps over a file that grows", sort_key=12)


def Stepping(**kwargs: Any) -> Parameter:  # noqa: N802
    """A parameter listed under the steps."""
    return Parameter(group=STEPS, negative=(), **kwargs)


def run(
    data: Path | None = None,
    /,
    *,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"])] = None,
    suite: Annotated[list[str] | None, Parameter(name=["--suite", "-s"], negative=())] = None,
    metrics: Annotated[list[str] | None, Parameter(name=["--metrics", "-m"], negative=())] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    columns: Annotated[list[str] | None, Many] = None,
    format: str | None = None,  # noqa: A002
    references: Path | None = None,
    qrels: Path | None = None,
    ks: str | None = None,
    separator: str | None = None,
    single_chunk: Annotated[bool | None, Parameter(negative=())] = None,
    system: str | None = None,
    published: Annotated[bool | None, Parameter(negative=())] = None,
    from_timestamp: Annotated[str | None, Parameter(name=["--from", "--from-timestamp"])] = None,
    to_timestamp: Annotated[str | None, Parameter(name=["--to", "--to-timestamp"])] = None,
    limit: Annotated[int | None, Parameter(name=["--limit", "-n"])] = None,
    slice_by: Annotated[list[str] | None, Many] = None,
    cluster_by: str | None = None,
    interval: Literal["auto", "t", "percentile", "bca"] | None = None,
    level: float | None = None,
    n_resamples: int | None = None,
    seed: int | None = None,
    fail_under: Annotated[list[str] | None, Many] = None,
    trust_offline: Annotated[bool | None, Parameter(negative=())] = None,
    judge: Annotated[
        list[str] | None, Asking(name=["--judge", "-J"], consume_multiple=False)
    ] = None,
    panel_rule: Annotated[Literal["majority", "median"] | None, Asking()] = None,
    quorum: Annotated[int | None, Asking()] = None,
    concurrency: Annotated[int | None, Asking(name=["--concurrency", "-j"])] = None,
    rpm: Annotated[float | None, Asking()] = None,
    tpm: Annotated[float | None, Asking()] = None,
    timeout: Annotated[float | None, Asking()] = None,
    temperature: Annotated[float | None, Asking()] = None,
    top_p: Annotated[float | None, Asking()] = None,
    presence_penalty: Annotated[float | None, Asking()] = None,
    frequency_penalty: Annotated[float | None, Asking()] = None,
    max_tokens: Annotated[int | None, Asking()] = None,
    judge_seed: Annotated[int | None, Asking()] = None,
    price: Annotated[str | None, Asking()] = None,
    key_file: Annotated[Path | None, Asking()] = None,
    key_variable: Annotated[str | None, Asking()] = None,
    ledger: Annotated[Path | None, Asking()] = None,
    budget: Annotated[str | None, Asking()] = None,
    retry_failed: Annotated[bool | None, Asking()] = None,
    refresh: Annotated[bool | None, Asking()] = None,
    nuggets: Annotated[str | None, Asking()] = None,
    rubric: Annotated[list[Path] | None, Asking(consume_multiple=False)] = None,
    judge_prompt: Annotated[Path | None, Asking()] = None,
    option: Annotated[list[str] | None, Many] = None,
    consistency_of: Annotated[list[str] | None, Many] = None,
    consistency_metrics: Annotated[list[str] | None, Many] = None,
    model: Annotated[list[str] | None, Modelling(consume_multiple=False)] = None,
    device: Annotated[str | None, Modelling()] = None,
    dtype: Annotated[Literal["float32", "float16", "bfloat16"] | None, Modelling()] = None,
    batch_size: Annotated[int | None, Modelling()] = None,
    embedder: Annotated[str | None, Modelling()] = None,
    embedder_prefix: Annotated[str | None, Modelling()] = None,
    embedder_dimensions: Annotated[int | None, Modelling()] = None,
    embedder_key_file: Annotated[Path | None, Modelling()] = None,
    step: Annotated[str | None, Stepping()] = None,
    input: Annotated[Path | None, Stepping(name=["--input", "-i"])] = None,  # noqa: A002
    evaluators: Annotated[Path | None, Stepping(name=["--evaluators", "-e"])] = None,
    provider: Annotated[str | None, Stepping()] = None,
    judge_model: Annotated[str | None, Stepping(name=["--judge-model", "--judge_model"])] = None,
    openai_key: Annotated[str | None, Hidden("--openai-key", "--openai_key")] = None,
    azure_host: Annotated[str | None, Hidden("--azure-host", "--azure_host")] = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
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
    ragassay run --step idk -i in.jsonl -o out.jsonl --provider openai
    ```

    Metrics that need a judge are answered offline, by rules about words, unless --judge names one.
    Every answer of an LLM is kept in a ledger before it is used: the same command again resumes.

    Args:
        data: File or folder with samples, or a YAML configuration.
        config: YAML configuration: these options as keys, or Open RAG Eval's.
        suite: qa, retrieval, chunks, trecrag, mtrag, ragreport or consistency; repeat or join with
            commas. Left out: what suits the format.
        metrics: Metrics to compute instead of all of the suite's, joined with commas
            ('ragassay metrics' lists them).
        output: Folder for scores, summary and reports.
        columns: Your column for one of our fields: answer=model_output. Repeat or join with commas.
        format: Input format, when detection is wrong.
        references: Table (CSV) with query_id and expected_answer to take golden answers from.
        qrels: TREC or BEIR judgements to take gold passages from.
        ks: Cut-offs, joined with commas: of the suites retrieval and trecrag in place of theirs, or
            of metrics named without one (default 1,5,10,20,50,100).
        separator: What separates the chunks in a context that is one string: '|||', '\\n\\n' ...
        single_chunk: Each context that is one string is one chunk. Suite ragreport, whose indices
            count chunks, refuses one that looks joined unless --separator or this is given.
        system: System name for data that has none.
        published: Give the benchmark's own values where its description differs from them.
        from_timestamp: Evaluate only samples from this time on: seconds, or ISO 8601 (UTC where no
            zone is named).
        to_timestamp: Evaluate only samples up to this time, itself included; a date means all of
            that day.
        limit: Evaluate only the first N samples.
        slice_by: Metadata columns to slice by (default: those with few values).
        cluster_by: Metadata column whose samples are not independent (default: the conversation).
        interval: Kind of interval: by the scores' range (auto), Student's t, or a bootstrap.
        level: Confidence level.
        n_resamples: Bootstrap resamples.
        seed: Seed of the bootstrap.
        fail_under: Gate: METRIC>=VALUE on the mean, or low(METRIC)>=VALUE (high(METRIC)<=VALUE) on
            the one-sided bound of the true mean; exit code 1 when it fails, 3 when n is too small
            to tell. Repeatable.
        trust_offline: Let offline judgments decide gates, whatever their agreement with people.
        judge: Who is asked: offline (default), openai or openai:MODEL, anthropic:MODEL,
            google:MODEL, a base URL with #MODEL, replay:FILE ... Several make a panel.
        panel_rule: How the votes of several judges become one (default: median).
        quorum: Votes that a panel needs (default: more than half).
        concurrency: Most requests in flight an endpoint.
        rpm: Most requests a minute.
        tpm: Most tokens a minute.
        timeout: Seconds until a question is given up.
        temperature: Sampling temperature (default: 0, or what the published method says).
        top_p: The judge's nucleus sampling, above 0 to 1 (default: the question's own; 1.0 for
            UMBRELA's grades).
        presence_penalty: The judge's penalty on words that occurred, -2 to 2 (default: the
            question's own; 0.5 for UMBRELA's grades).
        frequency_penalty: The judge's penalty on words by how often they occurred, -2 to 2.
        max_tokens: Longest reply, in tokens.
        judge_seed: Sampling seed of the judge (default: 42).
        price: Dollars a million tokens, INPUT,OUTPUT, for a model whose price is not known.
        key_file: File that holds the endpoint's key (default: the provider's environment variable).
        key_variable: Environment variable that holds the endpoint's key, in place of the
            provider's.
        ledger: File of paid answers (default: .ragassay/ledger.sqlite).
        budget: Most to spend now: 5.00 (dollars), '200 calls', '2M tokens'. What is scored until
            then is kept; exit code 3.
        retry_failed: Ask again what the judge refused or answered unusably.
        refresh: Ask everything again, also what the ledger holds, and in a --step also what judges
            gave to its records.
        nuggets: Facts that answers are measured by: each sample's own passages ('own', as
            published), those of all systems together ('pooled'), or a nugget file.
        rubric: YAML file of a rubric of your own, to score by. Repeatable.
        judge_prompt: Text file with your own instructions for answer_match.
        consistency_of: With suite consistency: the metrics whose spread over repeated runs is told,
            joined with commas (default: all of the other suites).
        consistency_metrics: The metrics of suite consistency (default: the suite's).
        option: NAME=VALUE: a parameter for every metric that has it, as in min_grade=2. Repeatable.
        model: NAME=FOLDER: a local folder for a neural model. Repeatable. 'ragassay models' lists
            which there are, and where they are.
        device: Where models run: auto, cpu, cuda, cuda:1, mps (default: auto, a CUDA GPU where
            there is one).
        dtype: Precision of models (default: float32).
        batch_size: Texts that go through a model at a time (default: by their length).
        embedder: What turns texts into vectors, for cosines: a FOLDER, a model on this machine
            (default: sentence-transformers/all-MiniLM-L6-v2), openai:text-embedding-3-small, or a
            base URL with #MODEL.
        embedder_prefix: What goes before each embedded text, where a model wants it: 'query: '.
        embedder_dimensions: Components of an endpoint's vectors, where its model lets one choose.
        embedder_key_file: File that holds the key of the embedder's endpoint (default: the
            provider's environment variable).
        step: algorithmic, idk, ragas, radbench, idk_condition or all: adds its fields to each
            record of -i and writes the file -o.
        input: JSONL file of records with predictions; DATA then holds the tasks (contexts, targets,
            labels), joined by task_id.
        evaluators: The benchmark's config.yaml, which chooses the algorithmic metrics.
        provider: Who is asked, as the published scripts name it (openai, vllm ...); like --judge.
        judge_model: Model of the provider.
        openai_key: Refused: a key on a command line is a leak.
        azure_host: Refused: name the endpoint with --judge.
        dry_run: Read the data and say what would be computed, asked and paid, but compute nothing.
        json: Print the summary as JSON.
    """
    from ragassay import formats
    from ragassay.engine.config.run_config import make_config
    from ragassay.engine.plan.preview import preview
    from ragassay.engine.run.evaluation import prepare
    from ragassay.reports import folder
    from ragassay.reports.text import terminal
    from ragassay.reports.text.preview import preview_table

    flags: dict[str, Any] = {
        "suite": listed("--suite", suite),
        "metrics": metrics,
        "output": None if output is None else str(output),
        "columns": mapping(columns),
        "format": format,
        "references": None if references is None else str(references),
        "qrels": None if qrels is None else str(qrels),
        "ks": numbers("--ks", ks),
        "separator": separator,
        "single_chunk": single_chunk,
        "system": system,
        "published": published,
        "from_timestamp": from_timestamp,
        "to_timestamp": to_timestamp,
        "limit": limit,
        "slice_by": listed("--slice-by", slice_by),
        "cluster_by": cluster_by,
        "interval": interval,
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "fail_under": fail_under,
        "trust_offline": trust_offline,
        "judge": listed("--judge", judge),
        "panel_rule": panel_rule,
        "quorum": quorum,
        "concurrency": concurrency,
        "rpm": rpm,
        "tpm": tpm,
        "timeout": timeout,
        "temperature": temperature,
        "top_p": top_p,
        "presence_penalty": presence_penalty,
        "frequency_penalty": frequency_penalty,
        "max_tokens": max_tokens,
        "judge_seed": judge_seed,
        "price": price,
        "key_file": None if key_file is None else str(key_file),
        "key_variable": key_variable,
        "ledger": None if ledger is None else str(ledger),
        "budget": budget,
        "retry_failed": retry_failed,
        "refresh": refresh,
        "nuggets": nuggets,
        "rubric": None if rubric is None else [str(path) for path in rubric],
        "judge_prompt": None if judge_prompt is None else str(judge_prompt),
        "models": folders("--model", model),
        "device": device,
        "dtype": dtype,
        "batch_size": batch_size,
        "embedder": embedder,
        "embedder_prefix": embedder_prefix,
        "embedder_dimensions": embedder_dimensions,
        "embedder_key_file": None if embedder_key_file is None else str(embedder_key_file),
        "consistency_of": consistency_of,
        "consistency_metrics": consistency_metrics,
        "options": assignments("--option", option),
    }
    given = {key: value for key, value in flags.items() if value is not None}
    if step is not None:
        if dry_run:
            raise UsageError("A step has no dry run: leave out --step, or --dry-run.")
        if config is not None:
            raise UsageError("A step takes its options as flags: leave out --step, or --config.")
        from ragassay.cli.steps import run_step

        return run_step(
            step,
            data,
            input,
            make_config(**given),
            evaluators=evaluators,
            provider=provider,
            judge_model=judge_model,
            openai_key=openai_key,
            azure_host=azure_host,
            json=json,
        )
    published_flags = {
        "--input": input,
        "--evaluators": evaluators,
        "--provider": provider,
        "--judge-model": judge_model,
        "--openai-key": openai_key,
        "--azure-host": azure_host,
    }
    for flag, value in published_flags.items():
        if value is not None:
            raise UsageError(f"{flag} belongs to --step (MT-RAG). Name a judge with --judge.")
    if format in folder.FORMATS and format not in formats.known():
        raise UsageError(
            f"{format} is a format of reports, and --format names that of the data. After the run: "
            f"ragassay report DIR --format {format}."
        )
    if data is None and config is None:
        raise UsageError("No data is named: ragassay run DATA. 'ragassay run --help' has examples.")
    job = prepare(configured(data, config, given), dry=dry_run)
    out = show.console()
    if dry_run:
        with show.progress("reading", job.source.count) as progress:
            found = preview(job, progress)
        if json:
            show.json(found.to_json())
        else:
            out.print(preview_table(found))
        show.warn(found.warnings)
        return OK
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
        show.result(out, result)
        if job.config.slice_by is not None:
            out.print(terminal.slices_table(result.summary))
        for what, path in reports.items():
            out.print(f"{what}: {path}", soft_wrap=True, markup=False)
        if not reports:
            out.print("Add -o DIR to keep the scores and an HTML report.", style="dim")
        show.gates(result.gates)
    if json:
        show.warn(result.summary.warnings)
    inner = () if result.consistency is None else (result.consistency.summary,)
    return exit_code(result.gates, result.summary, *inner)
