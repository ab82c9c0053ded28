"""Splits a run that holds several systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ragassay.engine.results import (
    IntervalOptions,
    Result,
    ScoreRow,
    averaged_over,
    count_incomplete,
    fingerprint,
    summarise,
)
from ragassay.samples import Sample


def systems_of(result: Result) -> list[str]:
    """The systems in a run, in order of first appearance."""
    return list(dict.fromkeys(system for _, system, _ in result.columns.identities))


def by_system(result: Result) -> list[Result]:
    """One result for each system in the data, in order of first appearance.

    Means, intervals and counts are each system's own; slices and warnings are left out.
    """
    return [_only(result, system) for system in systems_of(result)]


def _only(result: Result, system: str) -> Result:
    member = [identity[1] == system for identity in result.columns.identities]
    columns = result.columns.take(np.flatnonzero(member))
    metrics = list(result.summary.metrics.values())
    config = result.config
    options = IntervalOptions(
        config.get("interval", "auto"),
        config.get("level", 0.95),
        config.get("n_resamples", 10_000),
        config.get("seed", 0),
    )

    samples = partial(_samples, result, system)
    summary = replace(
        result.summary,
        system=system,
        title=system or result.summary.title,
        n_samples=len(columns),
        n_queries=len({identity[0] for identity in columns.identities}),
        averaged_over=averaged_over(
            columns, {metric.family for metric in metrics}, config.get("cluster_by")
        ),
        metrics=summarise(columns, metrics, options),
        slices=(),
        failures=Counter(sample.failure for sample in samples() if sample.failure),
        incomplete=count_incomplete(columns),
        warnings=(),
        fingerprint=fingerprint.of_run(columns.asked) if columns.asked else "",
    )
    rows = partial(_rows, result, system)
    return Result(summary, columns, config, None, rows, samples, verdicts=result.verdicts)


def _rows(result: Result, system: str) -> Iterator[ScoreRow]:
    return (row for row in result.scores if row.system == system)


def _samples(result: Result, system: str) -> Iterator[Sample]:
    return (sample for sample in result.samples if sample.system == system)
