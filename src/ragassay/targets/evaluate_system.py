"""`evaluate`: as of `ragassay.engine`, also of a system that is asked first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import engine
from ragassay.base.errors import UsageError, warn_user
from ragassay.golden.golden_folder import is_golden
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import note_lines
from ragassay.targets.target_factory import AskOptions

if TYPE_CHECKING:
    from ragassay.engine.results.result import Result
    from ragassay.engine.run.source import Data
    from ragassay.metrics.core.metric import Metric
    from ragassay.suites import Suite


def evaluate(
    data: Data,
    suite: str | Suite | Metric | Sequence[str | Suite | Metric | Callable[..., Any]] | None = None,
    *,
    system: Any = None,
    metrics: str | Metric | Sequence[str | Metric | Callable[..., Any]] | None = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    progress: bool | Callable[[int], None] | None = None,
    ask_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises. With a system, asks it first.

    Examples:
        >>> import ragassay
        >>> data = [
        ...     {"id": "1", "query": "Who?", "answer": "Herbert", "references": ["Herbert"]},
        ...     {"id": "2", "query": "When?", "answer": "In 1966", "references": ["1965"]},
        ...     {"id": "3", "query": "Where?", "references": ["Oregon"]},
        ... ]
        >>> result = ragassay.evaluate(data, ["em", "answer_match"])
        >>> em = result.summary.metrics["em"]
        >>> em.mean, em.n_scored, em.n_total, dict(em.unscored)
        (0.5, 2, 3, {'missing_input': 1})
        >>> [(row.sample, row.value) for row in result.scores if row.metric == "answer_match"]
        [('1', True), ('2', False), ('3', None)]

        A judge of one's own, and a system that is asked first:

        >>> def judge(prompt):
        ...     return '{"reasoning": "a stand-in", "is_matching": true}'
        >>> judged = ragassay.evaluate(data, "answer_match", judge=judge, ledger=":memory:")
        >>> judged.scores[1].value, judged.scores[1].explanation
        (True, 'a stand-in')
        >>> asked = ragassay.evaluate(data, "em", system=lambda query: "Oregon")
        >>> [row.value for row in asked.scores]
        [0.0, 0.0, 1.0]

    Args:
        data: a path (any known format), an iterable of `Sample`s or mappings, or a data frame.
        suite: a suite's name (``qa``, ``retrieval``, ``trecrag`` ...) or several, joined with
            commas (``qa,serving``) or in a list; among them names of metrics, and in a list also
            metric objects and functions (see `ragassay.metric`). Left out: what suits the data's
            format.
        system: is asked the queries of the data; its answers are scored in place of those that the
            data hold. A function, or any other target (see `ragassay.ask`). Where the data are a
            golden set, its passages are found in the documents, as ``golden`` does it.
        metrics: metrics by name, as objects or functions, to compute these instead of all of the
            suites'.
        judge: who answers what text alone cannot: ``"openai:gpt-4o-mini"``, a base URL with
            ``#model``; a function that takes a prompt and returns a text; a chat model of LangChain
            or LlamaIndex; several of them for a panel; or a `Judge` of your own. Left out: the
            embedded judge, offline.
        environment: where a judge's key is looked for, in place of the process's environment.
        save: a run folder to write; samples and scores then stream to disk and do not stay in
            memory.
        progress: ``True`` shows a bar (by tqdm where it is installed, else lines on standard
            error), ``False`` none; left out, a notebook shows one. Or a function, called now and
            then with the number of samples done.
        ask_options: how the system is asked: ``repeat``, ``concurrency``, ``timeout`` ... (see
            `ragassay.ask`).
        options: further fields of `RunConfig`: ``columns``, ``format``, ``qrels``, ``ks``,
            ``limit``, ``slice_by``, ``cluster_by``, ``interval``, ``level``, ``seed``,
            ``published``, ``fail_under`` (see `Result.gates`) ...

    Returns:
        Scores and summary. Works the same inside a running event loop.

    Raises:
        InputError: data that cannot be read, with file, line and field.
        UsageError: an unknown suite, metric or option, or a system that cannot be asked.
    """
    _refuse_asking(options)
    if system is not None:
        limit = options.pop("limit", None)
        answers = ask(data, system, limit=limit, **dict(ask_options or {}))
        for note in note_lines(list(answers.summaries.values())):
            warn_user(note)
        if isinstance(data, str | Path) and is_golden(Path(data)):
            options.setdefault("golden", data)  # its documents tell where passages stand
        data = answers.samples
    return engine.evaluate(
        data, suite, metrics=metrics, judge=judge, environment=environment, save=save,
        progress=progress, **options,
    )  # fmt: skip


def _refuse_asking(options: Mapping[str, Any]) -> None:
    """Refuses options of asking among those of a run, with the place where they belong."""
    from ragassay.engine.config.run_config import RunConfig

    for one in fields(AskOptions):
        if one.name in options and one.name not in RunConfig.model_fields:
            value = options[one.name]
            raise UsageError(
                f"Unknown option {one.name!r}: it says how a system is asked. Give "
                f"ask_options={{{one.name!r}: {value!r}}} beside system, or evaluate the samples "
                f"of ragassay.ask(..., {one.name}={value!r})."
            )
