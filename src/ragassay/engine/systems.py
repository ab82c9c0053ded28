"""One run that holds several systems, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ragassay.engine.results import Result, ScoreRow
from ragassay.engine.summarise import IntervalOptions, count_incomplete, summarise
from ragassay.metrics import naming
from ragassay.samples import Sample


def by_system(result: Result) -> list[Result]:
    """One result for each system in the data, in order of first appearance.

    Slices are left out; means, intervals and counts are each system's own.
    """
    systems = dict.fromkeys(system for _, system, _ in result.columns.identities)
    return [_only(result, system) for system in systems]


def _only(result: Result, system: str) -> Result:
    member = [identity[1] == system for identity in result.columns.identities]
    columns = result.columns.take(np.flatnonzero(member))
    summaries = result.summary.metrics
    metrics = {name: naming.parse(summary.metric) for name, summary in summaries.items()}
    level = next(iter(summaries.values())).level if summaries else 0.95
    summary = replace(
        result.summary,
        system=system,
        title=system or result.summary.title,
        n_samples=len(columns),
        n_queries=len({identity[0] for identity in columns.identities}),
        metrics=summarise(columns, metrics, IntervalOptions(level=level)),
        slices=(),
        incomplete=count_incomplete(columns),
        warnings=(),
    )

    def rows() -> Iterator[ScoreRow]:
        return (row for row in result.scores if row.system == system)

    def samples() -> Iterator[Sample]:
        return (sample for sample in result.samples if sample.system == system)

    return Result(summary, columns, result.config, None, rows, samples)
