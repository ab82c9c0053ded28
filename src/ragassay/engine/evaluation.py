"""The main job: evaluate samples with a suite or a list of metrics."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ragassay import __version__, suites
from ragassay.engine import gates
from ragassay.engine.collecting import Collector, summed
from ragassay.engine.config import PATHS, RunConfig, make_config
from ragassay.engine.folder import FolderWriter, read_rows, read_samples
from ragassay.engine.results import Result, ScoreRow
from ragassay.engine.scoring import score_stream
from ragassay.engine.source import Data, Source, open_source
from ragassay.errors import InputError, RagassayWarning, UsageError, did_you_mean
from ragassay.metrics import naming
from ragassay.metrics.base import Metric
from ragassay.samples import Sample
from ragassay.scores import Outcome
from ragassay.suites import Suite

Progress = Callable[[int], None]
"""Called with the number of samples done so far."""

Scored = tuple[Sequence[Sample], Sequence[Sequence[Outcome]]]
"""A window's samples with one list of outcomes a metric."""

Stored = tuple[Callable[[], Iterator[ScoreRow]], Callable[[], Iterator[Sample]]]
"""Where a result's rows and samples come from, each time they are asked for."""

DEFAULT_SUITES = {"mtrag": "mtrag", "inspectorraget": "mtrag", "trec_run": "retrieval"}
"""The suite for a format, when none is named. For all others: `retrieval` with qrels, else `qa`."""


def evaluate(
    data: Data,
    suite: str | Suite | Sequence[str | Metric] | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises.

    Args:
        data: a path (any known format), an iterable of `Sample`s or mappings, or a data frame.
        suite: a suite's name (``qa``, ``retrieval``, ``chunks``, ``mtrag``), or a list of suites,
            metric names and metric objects. Left out: what suits the data's format.
        metrics: names of metrics, to compute these instead of all of the suites'.
        save: a run folder to write; samples and scores then stream to disk and do not stay in
            memory.
        progress: called now and then with the number of samples done.
        options: further fields of `RunConfig`: ``columns``, ``format``, ``qrels``, ``ks``,
            ``limit``, ``slice_by``, ``cluster_by``, ``interval``, ``level``, ``seed``,
            ``published``, ``fail_under`` (see `Result.gates`) ...

    Returns:
        Scores and summary. Works the same inside a running event loop.

    Raises:
        InputError: data that cannot be read, with file, line and field.
        UsageError: an unknown suite, metric or option.
    """
    objects: list[Metric] = []
    names: list[str] = []
    chosen: list[Suite] = []
    for item in [suite] if isinstance(suite, str | Suite) else list(suite or ()):
        if isinstance(item, Metric):
            objects.append(item)
        elif isinstance(item, Suite):
            chosen.append(item)
        elif item in suites.known():
            chosen.append(suites.get(item))
        else:
            names.append(_metric_name(item))
    if suite is not None and not (objects or names or chosen):
        raise UsageError("No suite and no metric is named. 'ragassay metrics' lists them.")
    if names and chosen and metrics is None:
        # Names in one list with suites come on top of the suites' own.
        names = [*(name for each in chosen for name in each.metrics), *names]
    if metrics is not None:
        names += [metrics] if isinstance(metrics, str) else metrics
    path = str(data) if isinstance(data, str | Path) else None
    config = make_config(
        data=path,
        suite=[each.name for each in chosen],
        metrics=names,
        **{"output": None if save is None else str(save), **options},
    )
    return prepare(config, data, chosen=chosen, objects=objects).run(progress)


def _metric_name(word: str) -> str:
    """The word, unless it looks like a misspelt suite and is no metric."""
    aliases = [None, *(suite.aliases for suite in suites.known().values())]
    hint = did_you_mean(word, suites.known())
    if hint and not any(naming.is_known(word, local) for local in aliases):
        raise UsageError(f"{word!r} is neither a suite nor a metric. {hint}")
    return word


def prepare(
    config: RunConfig,
    data: Data | None = None,
    *,
    chosen: Sequence[Suite] = (),
    objects: Sequence[Metric] = (),
) -> Job:
    """Opens the data and resolves all names, so that what is wrong shows before the work begins.

    Raises:
        InputError: the data cannot be opened.
        UsageError: no data, an unknown suite or metric.
    """
    if data is None:
        if config.data is None:
            raise UsageError("No data is named. Give a file: ragassay run DATA.")
        data = config.data
    source = open_source(data, config)
    plan = make_plan(config, source.format, chosen, objects)
    shown = {name: str(metric) for name, metric in plan.metrics.items()}
    checks = gates.resolve(config.fail_under, shown, [suite.name for suite in plan.suites])
    return Job(config, source, plan, tuple(checks))


@dataclass(frozen=True)
class Job:
    """A run that is ready to go. It can be run once."""

    config: RunConfig
    source: Source
    plan: Plan
    gates: tuple[gates.Gate, ...] = ()

    def run(self, progress: Progress | None = None, *, keep: bool = True) -> Result:
        """Scores and summarises; writes the run folder when the configuration names one.

        Samples and outcomes of a run without a folder stay in memory, unless ``keep`` is false:
        then the result has its summary and columns only.
        """
        config, plan, source = self.config, self.plan, self.source
        collected = Collector(config, plan.metrics)
        windows: list[Scored] | None = [] if keep and not config.output else None
        with ExitStack() as stack:
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always", RagassayWarning)
            writer = stack.enter_context(FolderWriter(config.output)) if config.output else None
            for samples, outcomes in score_stream(source.samples, list(plan.metrics.values())):
                collected.add(samples, outcomes)
                if writer is not None:
                    writer.add(samples, list(plan.metrics), outcomes)
                if windows is not None:
                    windows.append((samples, outcomes))
                if progress is not None:
                    progress(len(collected.columns))
            if not collected.columns.identities:
                raise InputError("holds no samples", path=source.path or source.title)
            ours = [w for w in caught if issubclass(w.category, RagassayWarning)]
            notes = summed(str(w.message) for w in ours)
            summary = collected.summary(source.title, plan.title, notes)
            resolved = _resolved(config, plan, source, collected.clustered_by)
            if writer is not None:
                writer.finish(resolved, summary)
        for other in caught:
            if other not in ours:
                warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
        folder = None if config.output is None else Path(config.output)
        if folder is not None:
            stored: Stored = (partial(read_rows, folder), partial(read_samples, folder))
        else:
            stored = _in_memory(plan, windows)
        found = tuple(gates.judge(self.gates, summary))
        return Result(summary, collected.columns, resolved, folder, *stored, gates=found)


@dataclass(frozen=True)
class Plan:
    """What will be computed: each metric under the name that it is shown by."""

    suites: tuple[Suite, ...]
    metrics: Mapping[str, Metric]

    @property
    def title(self) -> str:
        """The suites' names, or ``metrics`` when only metrics were named."""
        return "+".join(suite.name for suite in self.suites) or "metrics"


def make_plan(
    config: RunConfig,
    data_format: str,
    chosen: Sequence[Suite] = (),
    objects: Sequence[Metric] = (),
) -> Plan:
    """The metrics of a configuration under the names that its suites publish.

    ``data_format`` decides the suite when neither suites nor metrics are named.

    Raises:
        UsageError: an unknown suite or metric.
    """
    used = tuple(chosen) or tuple(suites.get(name) for name in config.suite)
    if not used and not config.metrics and not objects:
        usual = "retrieval" if config.qrels is not None else "qa"
        used = (suites.get(DEFAULT_SUITES.get(data_format, usual)),)
    found: list[Metric] = []
    if config.metrics:
        local = {alias: target for suite in used for alias, target in suite.aliases.items()}
        every = Suite("metrics", "", "", (), aliases=local, published=_published(used))
        found += every.resolve(config.metrics, ks=config.ks, published=config.published)
    else:
        for suite in used:
            found += suite.resolve(ks=config.ks, published=config.published)
    found += objects
    columns = {metric: name for suite in reversed(used) for metric, name in suite.columns.items()}
    named: dict[str, Metric] = {}
    for metric in dict.fromkeys(found):
        name = columns.get(str(metric), str(metric))
        named[name if name not in named else str(metric)] = metric
    return Plan(used, named)


def _published(used: Sequence[Suite]) -> dict[str, str]:
    return {name: target for suite in used for name, target in suite.published.items()}


def _resolved(
    config: RunConfig, plan: Plan, source: Source, clustered_by: str | None
) -> dict[str, Any]:
    """The content of ``run.yaml``."""
    import numpy as np

    body = config.model_dump(exclude_none=True)
    for key in PATHS:
        if config.output is not None and body.get(key) is not None:
            # Paths in a configuration are relative to it, so that run.yaml can be run again.
            body[key] = os.path.relpath(body[key], config.output)
    body["suite"] = [suite.name for suite in plan.suites]
    body["metrics"] = [str(metric) for metric in plan.metrics.values()]
    body["cluster_by"] = clustered_by
    return {
        "ragassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **body,
        "format": source.format,
        "fingerprint": source.fingerprint,
        "signatures": {name: metric.signature for name, metric in plan.metrics.items()},
    }


def _in_memory(plan: Plan, windows: Sequence[Scored] | None) -> Stored:
    names = list(plan.metrics)

    def kept() -> Sequence[Scored]:
        if windows is None:
            raise UsageError("This result kept its summary only; evaluate with save=FOLDER.")
        return windows

    def rows() -> Iterator[ScoreRow]:
        for samples, outcomes in kept():
            for at, sample in enumerate(samples):
                for name, column in zip(names, outcomes, strict=True):
                    yield ScoreRow.of(sample.identity, name, column[at])

    def samples() -> Iterator[Sample]:
        for window, _ in kept():
            yield from window

    return rows, samples
