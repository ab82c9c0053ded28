"""Evaluates samples with suites or metrics: from the arguments in Python to a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.result import Result
from ragassay.engine.run.prepared_run import PreparedRun, prepare
from ragassay.engine.run.progress_bar import Progress, shown_progress
from ragassay.engine.run.source import Data, paths_of
from ragassay.judges import Judge
from ragassay.judges.python_judge import named_judges, word_of
from ragassay.metrics.core import naming
from ragassay.metrics.core.function_metrics import as_metric, own_names
from ragassay.metrics.core.metric import Metric
from ragassay.suites import Suite

_NO_NAME = re.compile(r"(^|,)\s*(,|$)")
"""An empty name between commas."""


def evaluate(
    data: Data,
    suite: str | Suite | Metric | Sequence[str | Suite | Metric | Callable[..., Any]] | None = None,
    *,
    metrics: str | Metric | Sequence[str | Metric | Callable[..., Any]] | None = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises.

    Args:
        data: a path (any known format) or several, an iterable of `Sample`s or mappings, or a data
            frame.
        suite: a suite's name (``qa``, ``retrieval``, ``trecrag`` ...) or several, joined with
            commas (``qa,serving``) or in a list; among them names of metrics, and in a list also
            metric objects and functions (see `ragassay.metric`). Left out: what suits the data's
            format.
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
        options: further fields of `RunConfig`: ``columns``, ``format``, ``qrels``, ``ks``,
            ``limit``, ``slice_by``, ``cluster_by``, ``interval``, ``level``, ``seed``,
            ``published``, ``fail_under`` (see `Result.gates`) ...

    Returns:
        Scores and summary. Works the same inside a running event loop.

    Raises:
        InputError: data that cannot be read, with file, line and field.
        UsageError: an unknown suite, metric or option.
    """
    given = {"metrics": metrics, "judge": judge, "environment": environment, "save": save}
    job = _job(data, suite, False, **given, **options)
    with shown_progress(progress, job.source.count, job.doing) as tell:
        return job.run(tell)


def dry_run(data: Data, suite: Any = None, **options: Any) -> PreparedRun:
    """The run that `evaluate` would do with these arguments, to be previewed only: no key is needed
    and nothing is sent."""
    return _job(data, suite, True, **options)


def _job(
    data: Data,
    suite: Any,
    dry: bool,
    /,
    *,
    metrics: Any = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    **options: Any,
) -> PreparedRun:
    """The run that the arguments of `evaluate` describe."""
    if data is None:
        raise UsageError(
            "No data is given: data is None. Give a path, a list of samples or mappings, or a data "
            "frame."
        )
    objects: list[Metric] = []
    names: list[str] = []
    chosen: list[Suite] = []
    for item in [piece for one in _listed(suite) for piece in _pieces(one)]:
        if isinstance(item, Suite):
            chosen.append(item)
        elif not isinstance(item, str):
            objects.append(as_metric(item))
        elif item in suites.all_suites():
            chosen.append(suites.get(item))
        else:
            names += [_metric_name(name) for name in own_names([item])]
    if suite is not None and not (objects or names or chosen):
        raise UsageError("No suite and no metric is named. 'ragassay metrics' lists them.")
    if names and chosen and metrics is None:
        # Names in one list with suites come on top of the suites' own.
        names = [*(name for each in chosen for name in each.metrics), *names]
    words = [naming.split(item) if isinstance(item, str) else [item] for item in _listed(metrics)]
    names += own_names([word for of_item in words for word in of_item])
    paths = paths_of(data)
    own = judge if isinstance(judge, Judge) else named_judges(judge) or None
    config = make_config(
        data=str(paths) if isinstance(paths, str | Path) else [*map(str, paths or ())] or None,
        judge=None if own is None or isinstance(own, Judge) else [*map(word_of, _listed(judge))],
        suite=[each.name for each in chosen],
        metrics=names,
        **{"output": save, **options},
    )
    return prepare(
        config, data, chosen=chosen, objects=objects, judge=own, environment=environment, dry=dry
    )


def _listed(items: Any) -> Sequence[Any]:
    """One item, several or none as a list."""
    if items is None:
        return []
    return list(items) if isinstance(items, Sequence) and not isinstance(items, str) else [items]


def _pieces(item: Any) -> Sequence[Any]:
    """An item, or the suites and metrics that a text names with commas."""
    if not isinstance(item, str):
        return [item]
    if _NO_NAME.search(item):
        raise UsageError(f"The suite {item!r}: a name is empty. Leave out the comma.")
    return naming.split(item)


def _metric_name(word: str) -> str:
    """The word, unless it looks like a misspelt suite and is no metric."""
    aliases = [None, *(suite.aliases for suite in suites.all_suites().values())]
    hint = did_you_mean(word, suites.all_suites())
    if hint and not any(naming.is_known(word, local) for local in aliases):
        raise UsageError(f"{word!r} is neither a suite nor a metric. {hint}")
    return word
