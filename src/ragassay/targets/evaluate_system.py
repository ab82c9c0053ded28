"""`evaluate`: as of `ragassay.engine`, also of a system that is asked first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import engine
from ragassay.targets.ask_run import ask

if TYPE_CHECKING:
    from ragassay.engine import Result
    from ragassay.engine.run import Data
    from ragassay.judges import Judge
    from ragassay.metrics.core import Metric
    from ragassay.suites import Suite


def evaluate(
    data: Data,
    suite: str | Suite | Sequence[str | Metric] | None = None,
    *,
    system: Any = None,
    metrics: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | Judge | None = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    ask_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises. With a system, asks it first.

    Args:
        data: a path (any known format), an iterable of `Sample`s or mappings, or a data frame.
        suite: a suite's name (``qa``, ``retrieval``, ``trecrag`` ...), or a list of suites,
            metric names and metric objects. Left out: what suits the data's format.
        system: is asked the queries of the data; its answers are scored in place of those that the
            data hold. A function, or any other target (see `ragassay.ask`).
        metrics: names of metrics, to compute these instead of all of the suites'.
        judge: who answers what text alone cannot: ``"openai:gpt-4o-mini"``, a base URL with
            ``#model``, several of them for a panel, or a `Judge` of your own. Left out: the
            embedded judge, offline.
        environment: where a judge's key is looked for, in place of the process's environment.
        save: a run folder to write; samples and scores then stream to disk and do not stay in
            memory.
        progress: called now and then with the number of samples done.
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
    if system is not None:
        limit = options.pop("limit", None)
        data = ask(data, system, limit=limit, **dict(ask_options or {})).samples
    return engine.evaluate(
        data, suite, metrics=metrics, judge=judge, environment=environment, save=save,
        progress=progress, **options,
    )  # fmt: skip
