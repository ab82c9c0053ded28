"""``ragassay mtrag``: MT-RAG's published steps over a file that grows."""

from __future__ import annotations

from ragassay.base.errors import UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.cli.show import progress_bar

SUITE = "mtrag"
VLLM = "http://localhost:8001/v1"
"""Where the published scripts look for a vLLM server."""


@command(
    "mtrag",
    *("Judging", "Neural models"),
    names=("published", "options", "cluster_by"),
    without=("nuggets", "rubric", "judge_prompt"),
)
def mtrag(given: Given) -> int:
    """Run one of MT-RAG's five steps, or all: add its fields to each record, and print their means.

    ```sh
    ragassay mtrag algorithmic -i in.jsonl -o out.jsonl
    ragassay mtrag idk -i out.jsonl -o out.jsonl --judge openai:gpt-4o
    ragassay mtrag all tasks.jsonl -i predictions.jsonl -o out.jsonl --judge openai:gpt-4o
    ```

    The published form `mtrag --step idk -i in.jsonl -o out.jsonl` works, too.
    """
    from contextlib import ExitStack

    from ragassay import suites
    from ragassay.compat.mtrag.mtrag_steps import StepOptions, run_steps
    from ragassay.engine.config.run_config import make_config
    from ragassay.engine.models.needed_models import check_models, model_options
    from ragassay.engine.run.judge_session import open_session
    from ragassay.judges.asking import Asker
    from ragassay.judges.judge_factory import named_judges
    from ragassay.judges.offline.offline_judge import OfflineJudge
    from ragassay.reports.views.summary_view import summary_report

    words = judge_words(given.provider, given.judge_model)
    if words is not None and given.run_options.setdefault("judge", [words]) != [words]:
        raise UsageError("--provider and --judge both name a judge. Keep one of them.")
    config = make_config(**given.run_options)
    records = given.input or given.data
    if records is None:
        raise UsageError("No file is named. Give the file with predictions: -i FILE.jsonl.")
    if given.output is None:
        raise UsageError("A step needs a file to write: -o FILE.jsonl (it may be the input file).")
    chosen = StepOptions(
        input=records,
        tasks=given.data if given.input is not None else None,
        published=config.published,
        options=config.options,
        refresh=config.refresh,
        cluster_by=config.cluster_by,
        models=model_options(config),
        **given.of("step", "output", "evaluators"),
    )
    check_models(config, chosen.fields().values())
    with ExitStack() as stack:
        asker, doing = None, None
        if chosen.asks:
            session = open_session(config, [suites.get(SUITE)], named_judges(config.judge))
            stack.callback(session.close)
            asker = session.asker = stack.enter_context(Asker(session.judge))
            doing = None if isinstance(session.judge, OfflineJudge) else session.doing
        progress = stack.enter_context(progress_bar(f"step {given.step}", doing=doing))
        summary = run_steps(chosen, asker, progress)
    if given.json:
        show.json(summary.to_json())
        show.warn(summary.warnings)
    else:
        show.report(summary_report(summary))
        show.lines(f"records: {chosen.output}")
    return show.exit_code((), summary)


def judge_words(provider: str | None, judge_model: str | None = None) -> str | None:
    """The value of ``--judge`` for the judge that the published flags name; ``None`` where they
    name none."""
    if provider is None:
        if judge_model is not None:
            raise UsageError("--judge_model names the model of a --provider: give both.")
        return None
    if provider == "vllm":
        if judge_model is None:
            raise UsageError("--provider vllm needs the model that is served: --judge_model MODEL.")
        return f"{VLLM}#{judge_model}"
    return provider if judge_model is None else f"{provider}:{judge_model}"
