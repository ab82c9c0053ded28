"""Scores gathered by sample, as they stream."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ragassay.base.counts import grouped
from ragassay.base.sample import Identity, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import Rows, with_samples

Made = TypeVar("Made")


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, or the result itself where it is one; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def gaps(rows: Rows) -> str:
    """Which metrics have no value and why, as a cell of a table: ``hhem: needs_extra; ...``."""
    return "; ".join(f"{name}: {row.reason}" for name, row in rows.items() if row.value is None)


def by_query(
    result: Result, make: Callable[[Identity, Sample | None, Rows], Made]
) -> Iterator[tuple[str, str, list[Made]]]:
    """Groups what is made of the samples by query and system; a group ends with its last sample."""
    sizes = Counter((name, system) for name, system, _ in result.columns.identities)
    groups: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for identity, sample, rows in with_samples(result):
        key = identity[:2]
        groups[key].append(make(identity, sample, rows))
        if len(groups[key]) == sizes[key]:
            yield *key, groups.pop(key)


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
