"""``ragassay mtrag``: MT-RAG's published steps over a file that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Switch, takes_options
from ragassay.cli.output import show
from ragassay.cli.output.command_progress import ProgressBar

SUITE = "mtrag"
VLLM = "http://localhost:8001/v1"
"""Where the published scripts look for a vLLM server."""


def Hidden(*names: str) -> Parameter:  # noqa: N802 - used like cyclopts' Parameter
    """A published flag that is understood only to say what to write instead."""
    return Parameter(name=list(names), negative=(), show=False)


@takes_options(
    *("Judging", "Neural models"),
    names=("published", "options"),
    without=("nuggets", "rubric", "judge_prompt"),
)
def mtrag(
    step: str,
    data: Path | None = None,
    /,
    *,
    input: Annotated[Path | None, Parameter(name=["--input", "-i"])] = None,  # noqa: A002
    output: Output | None = None,
    evaluators: Annotated[Path | None, Parameter(name=["--evaluators", "-e"])] = None,
    provider: str | None = None,
    judge_model: Annotated[str | None, Parameter(name=["--judge-model", "--judge_model"])] = None,
    openai_key: Annotated[str | None, Hidden("--openai-key", "--openai_key")] = None,
    azure_host: Annotated[str | None, Hidden("--azure-host", "--azure_host")] = None,
    json: Switch = False,
    **run_options: Any,
) -> int:
    """Run one of MT-RAG's five steps, or all: add its fields to each record, and print their means.

    ```sh
    ragassay mtrag algorithmic -i in.jsonl -o out.jsonl
    ragassay mtrag idk -i out.jsonl -o out.jsonl --judge openai:gpt-4o
    ragassay mtrag all tasks.jsonl -i predictions.jsonl -o out.jsonl --judge openai:gpt-4o
    ```

    The published form `mtrag --step idk -i in.jsonl -o out.jsonl` is understood.

    Args:
        step: algorithmic, idk, ragas, radbench, idk_condition or all.
        data: JSONL file of tasks (contexts, targets, labels), joined to the predictions of --input
            by task_id; without --input, the file of records itself.
        input: JSONL file of records with predictions.
        output: JSONL file to write; it may be the one that is read.
        evaluators: The benchmark's config.yaml, which chooses the algorithmic metrics.
        provider: Who is asked, as the published scripts name it (openai, vllm ...); like --judge.
        judge_model: Model of the provider.
        openai_key: Refused: a key on a command line is a leak.
        azure_host: Refused: name the endpoint with --judge.
        json: Print the summary as JSON.

    Raises:
        UsageError: options that do not go together; a key on the command line.
        InputError: a file cannot be read.
    """
    from contextlib import ExitStack

    from ragassay import suites
    from ragassay.compat.mtrag.mtrag_steps import StepOptions, run_steps
    from ragassay.engine.config.run_config import make_config
    from ragassay.engine.models.modelling import check_models, model_options
    from ragassay.engine.run.judge_session import open_session
    from ragassay.judges.python_judge import named_judges
    from ragassay.reports.views.summary_view import summary_report

    words = judge_words(provider, judge_model, openai_key, azure_host)
    if words is not None:
        if "judge" in run_options:
            raise UsageError("--provider and --judge both name a judge. Keep one of them.")
        run_options["judge"] = [words]
    config = make_config(**run_options)
    records = input or data
    if records is None:
        raise UsageError("No file is named. Give the one with predictions: -i FILE.jsonl.")
    if output is None:
        raise UsageError(
            "A step needs a file to write: -o FILE.jsonl (it may be the one it reads)."
        )
    chosen = StepOptions(
        step=step,
        input=records,
        output=output,
        tasks=data if input is not None else None,
        evaluators=evaluators,
        published=config.published,
        options=config.options,
        refresh=config.refresh,
        named=bool(config.judge),
        models=model_options(config),
    )
    check_models(config, chosen.fields().values())
    with ExitStack() as stack:
        asker, doing = None, None
        if chosen.asks:
            session = open_session(config, [suites.get(SUITE)], named_judges(config.judge))
            stack.callback(session.close)
            asker = stack.enter_context(session.asker())
            doing = session.doing if session.costs else None
        progress = stack.enter_context(ProgressBar(f"step {step}", doing=doing))
        summary = run_steps(chosen, asker, progress)
    if json:
        show.json(summary.to_json())
        show.warn(summary.warnings)
    else:
        show.report(summary_report(summary))
        show.lines(f"records: {chosen.output}")
    return show.exit_code((), summary)


def judge_words(
    provider: str | None,
    judge_model: str | None = None,
    openai_key: str | None = None,
    azure_host: str | None = None,
) -> str | None:
    """The value of ``--judge`` for the judge that the published flags name; ``None`` where they
    name none. A key on the command line and an address of Azure are refused."""
    if openai_key is not None:
        raise UsageError(
            "A key on the command line stays in the shell's history and in the list of processes. "
            "Put it into the environment (OPENAI_API_KEY), or name a file with --key-file, and "
            "leave out --openai_key."
        )
    if azure_host is not None:
        raise UsageError(
            "--azure_host: name the endpoint and the deployment as --judge URL#DEPLOYMENT, where "
            "URL is that of its OpenAI-compatible API."
        )
    if provider is None:
        if judge_model is not None:
            raise UsageError("--judge_model names the model of a --provider: give both.")
        return None
    if provider == "hf":
        raise UsageError(
            "--provider hf loads a model into this process, which ragassay does not do. Serve it "
            "(vllm serve MODEL --port 8001) and say --provider vllm --judge_model MODEL, or "
            "--judge URL#MODEL for any OpenAI-compatible server."
        )
    if provider == "vllm":
        if judge_model is None:
            raise UsageError("--provider vllm needs the model that is served: --judge_model MODEL.")
        return f"{VLLM}#{judge_model}"
    return provider if judge_model is None else f"{provider}:{judge_model}"
