"""``ragassay run --step``: MT-RAG's published steps over a file that grows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import UsageError

if TYPE_CHECKING:
    from ragassay.engine.config.run_config import RunConfig

SUITE = "mtrag"
VLLM = "http://localhost:8001/v1"
"""Where the published scripts look for a vLLM server."""


def run_step(
    step: str,
    data: Path | None,
    source: Path | None,
    config: RunConfig,
    *,
    evaluators: Path | None = None,
    provider: str | None = None,
    judge_model: str | None = None,
    openai_key: str | None = None,
    azure_host: str | None = None,
    json: bool = False,
) -> int:
    """Runs one step, or ``all``, and prints the means of what it added.

    Args:
        step: name of the step.
        data: the file of tasks; where ``source`` is left out, also of predictions.
        source: the file of predictions (``-i``).
        config: of the run: suite, output, judge and all that concerns it.
        evaluators: the benchmark's ``config.yaml`` (``-e``).
        provider, judge_model, openai_key, azure_host: as the published scripts name a judge.
        json: print the summary as JSON.

    Raises:
        UsageError: options that do not go together; a key on the command line.
        InputError: a file cannot be read.
    """
    from contextlib import ExitStack

    from ragassay import suites
    from ragassay.cli import show
    from ragassay.cli.exits import exit_code
    from ragassay.compat.mtrag.mtrag_steps import StepOptions, run_steps
    from ragassay.engine.models.model_checks import check_models
    from ragassay.engine.models.modelling import model_options
    from ragassay.engine.run.judge_session import open_session
    from ragassay.reports.text import terminal

    words = judge_words(provider, judge_model, openai_key, azure_host)
    if words is not None and config.judge:
        raise UsageError("--provider and --judge both name a judge. Keep one of them.")
    if words is not None:
        config = config.model_copy(update={"judge": [words]})
    records = source or data
    if config.suite not in ([], [SUITE]):
        raise UsageError(f"--step belongs to the suite {SUITE}, not to {'+'.join(config.suite)}.")
    if config.metrics or config.limit is not None or config.columns:
        raise UsageError(
            "A step writes every record with its published fields: --metrics, --limit and "
            "--columns do not go with --step."
        )
    if records is None:
        raise UsageError("No file is named. Give the one with predictions: -i FILE.jsonl.")
    if config.output is None:
        raise UsageError(
            "A step needs a file to write: -o FILE.jsonl (it may be the one it reads)."
        )
    options = StepOptions(
        step=step,
        input=records,
        output=Path(config.output),
        tasks=data if source is not None else None,
        evaluators=evaluators,
        published=config.published,
        options=config.options,
        refresh=config.refresh,
        named=bool(config.judge),
        models=model_options(config),
    )
    check_models(config, options.fields().values())
    with ExitStack() as stack:
        asker, doing = None, None
        if options.asks:
            session = open_session(config, [suites.get(SUITE)])
            stack.callback(session.close)
            asker = stack.enter_context(session.asker())
            doing = session.doing if session.costs else None
        progress = stack.enter_context(show.progress(f"step {step}", doing=doing))
        summary = run_steps(options, asker, progress)
    if json:
        show.json(summary.to_json())
        show.warn(summary.warnings)
    else:
        out = show.console()
        out.print(terminal.summary_table(summary))
        out.print(f"records: {options.output}", soft_wrap=True, markup=False)
    return exit_code((), summary)


def judge_words(
    provider: str | None,
    judge_model: str | None = None,
    openai_key: str | None = None,
    azure_host: str | None = None,
) -> str | None:
    """What ``--judge`` says for the judge that the published flags name; ``None`` where they name
    none.

    Raises:
        UsageError: a provider that asks for something else, or a key on the command line.
    """
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
