"""Scores gathered by sample, as they stream."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ragassay.counts import grouped
from ragassay.engine.results import Result, Rows, with_samples
from ragassay.samples import Identity, Sample

Made = TypeVar("Made")


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, whether the run is given or that itself; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def gaps(rows: Rows) -> str:
    """Which metrics have no value and why, as tables say it: ``hhem: needs_extra; ...``."""
    return "; ".join(f"{name}: {row.reason}" for name, row in rows.items() if row.value is None)


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
    runs = grouped((identity[:2], identity) for identity in identities)
    return {
        identity: number
        for identities_of in runs.values()
        for number, identity in enumerate(sorted(identities_of), start=1)
    }
