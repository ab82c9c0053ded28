"""Tells failures of retrieval from failures of generation: the generator is run with what was
retrieved, and with the gold passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.printable import grouped
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.comparison.derived_runs import of_queries
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result

_CLASS = {
    (True, True): "right", (False, True): "retrieval",
    (True, False): "despite", (False, False): "generation",
}  # fmt: skip
"""The class by whether a query is right with what was retrieved, and with the gold passages."""

CLASSES: Mapping[str, str] = {
    "right": "right with what was retrieved and with the gold passages",
    "retrieval": "right with the gold passages only: retrieval failed",
    "generation": "wrong with the gold passages, too: generation failed",
    "despite": "right with what was retrieved only",
}


@dataclass(frozen=True)
class Isolated:
    """A full run beside an isolated one: the ids of each class of `CLASSES` by the metric and the
    value from which an answer is right, how many queries are unscored in one of the runs, the ids
    of those whose gold is ``unknown``, and the isolated run (A) tested against the full one (B)."""

    metric: str
    threshold: float
    queries: Mapping[str, tuple[str, ...]]
    unscored: int
    comparison: Comparison
    unknown: tuple[str, ...] = ()


def isolated(full: Result, alone: Result, metric: str, threshold: float = 0.5) -> Isolated:
    """Puts each query of two runs into its class.

    A query whose gold is unknown is left out: with no gold passages to answer from, a wrong answer
    says nothing about the generator. That is so where neither run holds gold of the query, or the
    isolated run says that its system was given no passage although there are relevant ones. Where
    the runs say of no query at all what its gold is, or what was given, none is left out."""
    _refuse_others(full, alone)
    retrieved, gold = (_values(run, metric) for run in (full, alone))
    shared = [name for name in retrieved if name in gold]
    if not shared:
        raise UsageError("The two runs share no query.")
    unknown = _unknown(full, alone, shared)
    known = [name for name in shared if name not in unknown]
    if not known:
        raise UsageError("No query of the two runs has known gold passages.")
    if unknown:
        full, alone = (of_queries(run, known) for run in (full, alone))
    pairs = ((retrieved[name], gold[name], name) for name in known)
    found = grouped(
        (_CLASS[value >= threshold, best >= threshold], name)
        for value, best, name in pairs if value is not None and best is not None
    )  # fmt: skip
    return Isolated(
        metric,
        threshold,
        {kind: tuple(found.get(kind, ())) for kind in CLASSES},
        len(known) - sum(map(len, found.values())),
        compare(alone, full, metrics=[metric], force=True),
        tuple(unknown),
    )


def _unknown(full: Result, alone: Result, shared: Sequence[str]) -> list[str]:
    """The queries whose gold is unknown, as `isolated` says."""
    gold = {
        sample.id: any(passage.grade > 0 for passage in sample.gold)
        for run in (full, alone)
        for sample in run.samples
        if sample.gold is not None
    }
    given = {
        sample.id: bool(sample.passages) for sample in alone.samples if sample.passages is not None
    }
    if not gold and not given:
        return []
    return [
        name
        for name in shared
        if not given.get(name) and (name not in gold or (gold[name] and name in given))
    ]


def _refuse_others(full: Result, alone: Result) -> None:
    """Refuses runs that are not what they are taken for, where 'ragassay ask' recorded that."""
    given = [
        {
            asked.get("passages") == "gold"
            for sample in run.samples
            if isinstance(asked := sample.metadata.get("asked"), Mapping) and "fingerprint" in asked
        }
        for run in (full, alone)
    ]
    if True in given[0] or False in given[1]:
        raise UsageError(
            f"{full.name}, {alone.name}: name the run with retrieved passages first, then the run "
            "whose answers all came from 'ragassay ask GOLDEN --gold-passages -o FILE'."
        )


def _values(run: Result, metric: str) -> dict[str, float | None]:
    """The metric of each query; of several repeats their mean, ``None`` where one is unscored."""
    if metric not in run.columns.metrics:
        hint = did_you_mean(metric, run.columns.metrics)
        raise UsageError(f"{run.name} has no metric {metric!r}. {hint}")
    columns = run.columns
    scored, values = columns.scored(metric), columns.values(metric)
    return {
        name: sum(values[rows].tolist()) / len(rows) if scored[rows].all() else None
        for name, rows in columns.rows_by_query.items()
    }
