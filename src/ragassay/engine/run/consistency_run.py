"""The second step of a run: it compares the runs of each query, and its result is a run itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ragassay.base.errors import warn_user
from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.base.sample import Sample
from ragassay.engine.config.config_paths import make_absolute, make_relative
from ragassay.engine.config.metric_selection import ConsistencySelection
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.needed_models import here
from ragassay.engine.results.folders.run_folder import FolderWriter
from ragassay.engine.results.result import CONSISTENCY, Result
from ragassay.engine.results.score_columns import FACTS, ScoreColumns, differing_facts
from ragassay.engine.results.summary import Slice, Summary, cut
from ragassay.engine.run.scoring import MODELLED_WINDOW, Accumulator, as_note, record_warnings
from ragassay.metrics.consistency.runs_spread import SCORES, UNSCORED, OfMetric
from ragassay.models.run_models import Models
from ragassay.stats.repeats import Components, variance_components

_Part = TypeVar("_Part", Summary, Slice)

GroupProgress = Callable[[int, int], None]
"""Called with how many queries (of a system) were looked at, and how many there are."""


_ABSENT: Mapping[str, Any] = {name: getattr(Sample(id="none"), name) for name in FACTS}

_WITHOUT_GIVEN: Mapping[str, Any] = {name: {} for name in ("given", "given_by", "given_unscored")}
"""Values that records brought: the first step has read them."""


def _group_samples(
    columns: ScoreColumns, samples: Sequence[Sample], of: Sequence[str]
) -> Iterator[Sample]:
    """One sample for each query and system, in the order of their first runs, with the scores of
    the metrics ``of``. A `RagassayWarning` reports groups whose runs do not ask or expect the same.
    """
    n_unlike = 0
    by_query = grouped((identity[:2], at) for at, identity in enumerate(columns.identities))
    for rows in by_query.values():
        rows.sort(key=lambda at: columns.identities[at][2])
        runs = [samples[at] for at in rows]
        if any(differing_facts(runs[0], run) for run in runs[1:]):
            n_unlike += 1
        given: dict[str, Any] = {SCORES: {n: [columns.value(n, at) for at in rows] for n in of}}
        reasons = {name: [columns.reason(name, at) for at in rows] for name in of}
        if unscored := {name: each for name, each in reasons.items() if any(each)}:
            given[UNSCORED] = {
                name: [None if reason is None else str(reason) for reason in each]
                for name, each in unscored.items()
            }
        yield _group(runs, given)
    if n_unlike:
        warn_user(str(Note("runs_unlike", {"n": n_unlike})))


def _group(runs: Sequence[Sample], given: Mapping[str, Any]) -> Sample:
    """The query as its first run has it, with the results of each run. Data that all runs have in
    common is held once."""
    first = runs[0]
    shared = {
        name: value
        for name, value in first.metadata.items()
        if all(name in run.metadata and run.metadata[name] == value for run in runs)
    }
    bare = tuple(
        replace(
            run,
            metadata={name: value for name, value in run.metadata.items() if name not in shared},
            **_WITHOUT_GIVEN,
            **{n: v for n, v in _ABSENT.items() if getattr(run, n) == getattr(first, n)},
        )
        for run in runs
    )
    return replace(
        first,
        repeat=0,
        passages=None,
        answer=None,
        timestamp=None,
        failure=first.failure if all(run.failure for run in runs) else None,
        metadata=shared,
        **{**_WITHOUT_GIVEN, "given": given},
        runs=bare,
    )


def consistency_of(
    first: Result,
    samples: Sequence[Sample],
    config: RunConfig,
    selection: ConsistencySelection,
    models: Models | None,
    *,
    progress: GroupProgress | None,
    keep: bool,
    writer: FolderWriter | None,
) -> Result:
    """Scores the runs of each query together, where ``first`` is the result of the single runs.
    Writes the folder ``consistency`` within that of the run (``writer``), where there is one."""
    n_groups, n_single = len({identity[:2] for identity in first.columns.identities}), 0
    folder = None if first.folder is None else first.folder / CONSISTENCY
    with ExitStack() as stack:
        warned = stack.enter_context(record_warnings())
        inner = None if folder is None else stack.enter_context(FolderWriter(folder))
        config = config.model_copy(update={"output": folder and str(folder)})
        collected = Accumulator(config, selection.metrics, inner, keep=keep, strict=False)
        groups = _group_samples(first.columns, samples, selection.of)
        size = MODELLED_WINDOW if here(selection.metrics.values(), config.models) else None
        for window in collected.scored(groups, size=size, models=models):
            n_single += sum(len(group.runs) < 2 for group in window)
            if progress is not None:
                progress(len(collected.columns), n_groups)
        notes = [*map(as_note, (*warned(), *(models.remarks() if models else ())))]
        if 0 < n_single < n_groups:
            notes.append(Note("run_once", {"n": n_single, "total": n_groups}))
        suites = [selection.suite]
        summary = collected.summary(
            first.summary.title, CONSISTENCY, notes, models=models, suites=suites
        )
        summary = replace(
            _of_metrics(summary, first, selection),
            slices=tuple(_of_metrics(slice_, first, selection) for slice_ in summary.slices),
            variances=_variances(first.columns, selection.of),
        )
        # The configuration is that of both steps, because they are run again together.
        resolved = dict(first.config)
        if folder is not None:
            make_absolute(resolved, folder.parent)
            make_relative(resolved, folder)
        resolved["cluster_by"] = collected.clustered_by or config.cluster_by
        resolved["signatures"] = {n: metric.signature for n, metric in summary.metrics.items()}
        if writer is not None and inner is not None:
            writer.replace()  # an older run goes only now that all is computed
            inner.finish(resolved, summary)
    return collected.result(summary, resolved, folder)


def _of_metrics(part: _Part, first: Result, selection: ConsistencySelection) -> _Part:
    """The summary or the slice, where an entry has the signature of the metric that it compares in
    its own, and a mean or median the range and the direction of that metric."""
    metrics = dict(part.metrics)
    for name, entry in part.metrics.items():
        metric = selection.metrics[name]
        if not isinstance(metric, OfMetric) or metric.of not in first.summary.metrics:
            continue
        of = first.summary.metrics[metric.of]
        changes: dict[str, Any] = {"signature": f"{entry.signature}|of={of.signature}"}
        if metric.stat in ("mean", "median"):
            low, high = cut(entry.low, entry.high, of.bounds)
            changes |= {"higher_is_better": of.higher_is_better, "bounds": of.bounds}
            changes |= {"low": low, "high": high}
        metrics[name] = replace(entry, **changes)
    return replace(part, metrics=metrics)


def _variances(columns: ScoreColumns, of: Sequence[str]) -> dict[str, Components]:
    """The components of the variance of each numeric metric that has repeats."""
    variances = {}
    queries, systems, _ = np.array(columns.identities, dtype=object).T
    for name in of:
        scored = columns.scored(name)
        if not scored.any():
            continue
        # Without a query that was scored twice, or with one query only, there is none.
        with suppress(ValueError):
            factors = queries[scored].tolist(), systems[scored].tolist()
            variances[name] = variance_components(columns.values(name)[scored], *factors)
    return variances
