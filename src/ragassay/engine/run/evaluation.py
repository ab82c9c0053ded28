"""Evaluates samples with suites or metrics: from the arguments in Python to a run."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.result import Result
from ragassay.engine.run.prepared_run import PreparedRun, Progress, prepare
from ragassay.engine.run.source import Data, paths_of
from ragassay.judges import Judge
from ragassay.judges.judge_factory import named_judges
from ragassay.judges.python_judge import word_of
from ragassay.metrics.core import naming
from ragassay.metrics.core.function_metrics import as_metric, own_names
from ragassay.metrics.core.metric import Metric
from ragassay.suites import Suite

_NO_NAME = re.compile(r"(^|,)\s*(,|$)")
"""An empty name between commas."""

PATIENCE_S, EVERY_S = 1.0, 10.0
"""Seconds before the first line about the progress, and between two."""


def evaluate(
    data: Data, suite: Any = None, *, progress: bool | Progress | None = None, **options: Any
) -> Result:
    """Scores every sample with every metric, and summarises; see `ragassay.evaluate`, which also
    asks a system first."""
    job = job_of(data, suite, False, **options)
    is_wanted = in_notebook() if progress is None else progress
    return job.run(progress if callable(progress) else _lines(job) if is_wanted else None)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def _lines(job: PreparedRun) -> Progress:
    """Writes the progress of a run to standard error, a line now and then."""
    due = time.monotonic() + PATIENCE_S

    def write(n: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + EVERY_S
        total = job.source.count()
        of = "" if total is None else f" of {total:,}"
        state = "" if job.doing is None else f": {job.doing()}"
        sys.stderr.write(f"scoring: {n:,}{of} samples{state}\n")
        sys.stderr.flush()

    return write


def job_of(
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
    """The run that the arguments of `ragassay.evaluate` describe. ``dry``: it is to be previewed
    only, so no key is needed and nothing is sent."""
    if data is None:
        raise UsageError("data is None. Give a path, a list of samples or mappings, or a frame.")
    objects: list[Metric] = []
    names: list[str] = []
    chosen: list[Suite] = []
    pieces: list[Any] = []
    for item in _listed(suite):
        if isinstance(item, str) and _NO_NAME.search(item):
            raise UsageError(f"The suite {item!r}: a name is empty. Leave out the comma.")
        pieces += naming.split(item) if isinstance(item, str) else [item]
    for item in pieces:
        if isinstance(item, Suite):
            chosen.append(item)
        elif not isinstance(item, str):
            objects.append(as_metric(item))
        elif item in suites.all_suites():
            chosen.append(suites.get(item))
        else:
            names += own_names([item])
            aliases = [None, *(suite.aliases for suite in suites.all_suites().values())]
            hint = did_you_mean(item, suites.all_suites())
            if hint and not any(naming.known(item, local) for local in aliases):
                raise UsageError(f"{item!r} is neither a suite nor a metric. {hint}")
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
    several = isinstance(items, Sequence) and not isinstance(items, str)
    return [] if items is None else list(items) if several else [items]
