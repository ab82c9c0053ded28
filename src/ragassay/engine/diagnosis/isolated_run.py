"""Tells failures of retrieval from failures of generation.

The generator is run twice: with what was retrieved, and with the gold passages. A query that is
right with the gold passages only fails by its retrieval; one that is wrong with them fails by its
generation.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragassay.base.counts import either, few, share
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.comparison.derived_runs import of_queries
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result

CLASSES: Mapping[str, str] = {
    "right": "right with what was retrieved and with the gold passages",
    "retrieval": "right with the gold passages only: retrieval failed",
    "generation": "wrong with the gold passages, too: generation failed",
    "despite": "right with what was retrieved only",
}
_CLASS_OF = {
    (True, True): "right",
    (False, True): "retrieval",
    (False, False): "generation",
    (True, False): "despite",
}
"""The class of a query by whether it is right with what was retrieved, and with the gold
passages."""


@dataclass(frozen=True)
class Isolated:
    """A full run beside an isolated one.

    Attributes:
        metric: that says what is right.
        threshold: value from which an answer is right.
        queries: ids of each class of `CLASSES`.
        unscored: queries that lack a score in one of the runs.
        unknown: ids of the queries whose gold is unknown, which are left out.
        comparison: the isolated run (A) tested against the full one (B).
        notes: why the difference may have another reason than retrieval, in sentences."""

    metric: str
    threshold: float
    queries: Mapping[str, tuple[str, ...]]
    unscored: int
    comparison: Comparison
    notes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def isolated(full: Result, alone: Result, metric: str, threshold: float = 0.5) -> Isolated:
    """Puts each query of two runs into its class.

    A query whose gold is unknown is left out: with no gold passages to answer from, a wrong answer
    says nothing about the generator. That is so where neither run holds gold of the query, or the
    isolated run says that its system was given no passage although there are relevant ones. Where
    the runs say of no query at all what its gold is, or what was given, none is left out."""
    asked = [_asked(run) for run in (full, alone)]
    _refuse_others(full, alone, metric, *asked)
    retrieved, gold = (_values(run, metric) for run in (full, alone))
    shared = [name for name in retrieved if name in gold]
    if not shared:
        raise UsageError("The two runs share no query.")
    unknown = _unknown(full, alone, shared)
    known = [name for name in shared if name not in unknown]
    if not known:
        raise UsageError("The gold passages of no query of the two runs are known.")
    if unknown:
        full, alone = (of_queries(run, known) for run in (full, alone))
    queries: dict[str, list[str]] = {kind: [] for kind in CLASSES}
    for name in known:
        value, best = retrieved[name], gold[name]
        if value is not None and best is not None:
            queries[_CLASS_OF[value >= threshold, best >= threshold]].append(name)
    return Isolated(
        metric,
        threshold,
        {kind: tuple(names) for kind, names in queries.items()},
        len(known) - sum(map(len, queries.values())),
        compare(alone, full, metrics=[metric], force=True),
        tuple(_notes(full, alone, *asked)),
        tuple(unknown),
    )


def _unknown(full: Result, alone: Result, shared: Sequence[str]) -> list[str]:
    """The queries whose gold is unknown, as `isolated` says."""
    gold = {
        sample.id: any(one.grade > 0 for one in sample.gold)
        for run in (full, alone)
        for sample in run.samples
        if sample.gold is not None
    }
    given = {one.id: bool(one.passages) for one in alone.samples if one.passages is not None}
    if not gold and not given:
        return []

    def is_known(name: str) -> bool:
        return given.get(name) or (name in gold and not (gold[name] and given.get(name) is False))

    return [name for name in shared if not is_known(name)]


class _Asked(NamedTuple):
    """What the answers of a run say about how they were made: how many are of 'ragassay ask', how
    many of these were made from the gold passages; the systems, and their fingerprints."""

    n: int
    n_gold: int
    systems: frozenset[str]
    fingerprints: frozenset[str]


def _asked(run: Result) -> _Asked:
    systems, facts = set(), []
    for sample in run.samples:
        systems.add(sample.system or "")
        asked = sample.metadata.get("asked")
        if isinstance(asked, Mapping) and "fingerprint" in asked:
            facts.append((asked.get("passages") == "gold", str(asked["fingerprint"])))
    n_gold = sum(from_gold for from_gold, _ in facts)
    return _Asked(len(facts), n_gold, frozenset(systems), frozenset(one for _, one in facts))


def _refuse_others(full: Result, alone: Result, metric: str, first: _Asked, second: _Asked) -> None:
    """Refuses runs that are not what they are taken for, where their answers say so."""
    places = (run.name if run.folder is None else str(run.folder) for run in (alone, full))
    command = f"ragassay golden isolate {shlex.join(places)} -m {metric}"
    if first.n_gold and not second.n_gold:
        raise UsageError(
            f"The runs are swapped: the first one, {full.name}, was given the gold passages. "
            f"Run: {command}"
        )
    if first.n_gold:
        raise UsageError(
            "Both runs were given the gold passages. Name the run with what was retrieved first, "
            "and the one with --gold-passages second."
        )
    if without := second.n - second.n_gold:
        n = share(without, second.n, "answer")
        raise UsageError(
            f"{n} of {alone.name} {either(without, 'was', 'were')} made without the gold passages. "
            "Make the second run of answers by 'ragassay ask GOLDEN --gold-passages -o FILE'."
        )


def _notes(full: Result, alone: Result, first: _Asked, second: _Asked) -> Iterator[str]:
    doubt = "The difference may be one of the systems, and not of retrieval."
    if first.systems != second.systems:
        one, other = (few(sorted(filter(None, each.systems))) or "none" for each in (first, second))
        yield (
            f"The runs have different systems: {one} in {full.name}, {other} in {alone.name}. "
            f"{doubt}"
        )
    elif first.fingerprints and second.fingerprints and first.fingerprints != second.fingerprints:
        yield (
            f"The system was asked in another way in {alone.name} than in {full.name} (another "
            f"address, mapping or code). {doubt}"
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
