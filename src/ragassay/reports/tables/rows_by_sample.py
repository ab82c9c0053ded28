"""Scores gathered by sample, as they stream."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from ragassay.engine.results import Result, ScoreRow
from ragassay.samples import Identity, Sample

Rows = Mapping[str, ScoreRow]
"""A sample's rows by metric."""

Made = TypeVar("Made")


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, whether the run is given or that itself; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def by_sample(result: Result) -> Iterator[tuple[Identity, Rows]]:
    """Each sample's rows, in the order of evaluation."""
    for identity, rows in groupby(result.scores, lambda row: (row.sample, row.system, row.repeat)):
        yield identity, {row.metric: row for row in rows}


def with_samples(result: Result) -> Iterator[tuple[Identity, Sample | None, Rows]]:
    """Each sample's rows together with the sample (``None`` where it was not kept)."""
    samples = iter(result.samples)
    for identity, rows in by_sample(result):
        sample = next(samples, None)
        yield identity, sample if sample and sample.identity == identity else None, rows


def gaps(rows: Rows) -> str:
    """Which metrics have no value and why, as tables say it: ``hhem: needs_extra; ...``."""
    return "; ".join(f"{name}: {row.reason}" for name, row in rows.items() if row.value is None)


def systems(result: Result) -> set[str]:
    """The systems of a run."""
    return {system for _, system, _ in result.columns.identities}


def by_query(
    result: Result, make: Callable[[Identity, Sample | None, Rows], Made]
) -> Iterator[tuple[str, str, list[Made]]]:
    """Each query of a system with what is made of its samples, as soon as the last was seen.

    Args:
        result: of a run.
        make: gives what is kept of a sample until then.

    Yields:
        Query id, system, and what was made, in the order of evaluation.
    """
    n = Counter((name, system) for name, system, _ in result.columns.identities)
    begun: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for identity, sample, rows in with_samples(result):
        key = identity[:2]
        begun[key].append(make(identity, sample, rows))
        if len(begun[key]) == n[key]:
            yield *key, begun.pop(key)


def run_numbers(identities: Iterable[Identity]) -> dict[Identity, int]:
    """The number of each sample among the runs of its query by one system, from 1, in the order of
    ``repeat`` (which may begin anywhere and have gaps).
    """
    repeats: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, system, repeat in identities:
        repeats[name, system].append(repeat)
    return {
        (name, system, repeat): number
        for (name, system), repeats_of in repeats.items()
        for number, repeat in enumerate(sorted(repeats_of), start=1)
    }
