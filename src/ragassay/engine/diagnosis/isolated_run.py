"""Tells failures of retrieval from failures of generation.

The generator is run twice: with what was retrieved, and with the gold passages. A query that is
right with the gold passages only fails by its retrieval; one that is wrong with them fails by its
generation.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragassay.base.counts import either, few, grouped, share
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.comparison.derived_runs import of_queries
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result

RIGHT, RETRIEVAL, GENERATION, DESPITE = "right", "retrieval", "generation", "despite"
CLASSES: Mapping[str, str] = {
    RIGHT: "right with what was retrieved and with the gold passages",
    RETRIEVAL: "right with the gold passages only: retrieval failed",
    GENERATION: "wrong with the gold passages, too: generation failed",
    DESPITE: "right with what was retrieved only",
}
_RIGHT_WITH = {
    RIGHT: (True, True),
    RETRIEVAL: (False, True),
    GENERATION: (False, False),
    DESPITE: (True, False),
}
"""Whether a query of each class is right with what was retrieved, and with the gold passages."""


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
        notes: why the difference may have another reason than retrieval, in sentences.
    """

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
    the runs say of no query at all what its gold is, or what was given, none is left out.

    Args:
        full: the run with what was retrieved.
        alone: the run of the same generator with the gold passages.
        metric: that both runs have; higher is better.
        threshold: value from which an answer is right.

    Raises:
        UsageError: a run lacks the metric, or the runs share no query; or 'ragassay ask' says that
            the full run was given the gold passages, or that the other one was not.
    """
    asked = [_Asked.of(run) for run in (full, alone)]
    _refuse_others(full, alone, metric, asked)
    retrieved, gold = (_values(run, metric) for run in (full, alone))
    shared = [name for name in retrieved if name in gold]
    if not shared:
        raise UsageError("The two runs share no query.")
    unknown = _unknown(full, alone, shared)
    shared = [name for name in shared if name not in unknown]
    if not shared:
        raise UsageError("The gold passages of no query of the two runs are known.")
    if unknown:
        full, alone = (of_queries(run, frozenset(shared)) for run in (full, alone))
    scored = [
        (name, (value >= threshold, best >= threshold))
        for name in shared
        if (value := retrieved[name]) is not None and (best := gold[name]) is not None
    ]
    queries = {
        kind: tuple(name for name, right in scored if right == is_right)
        for kind, is_right in _RIGHT_WITH.items()
    }
    comparison = compare(alone, full, metrics=[metric], force=True)
    notes = tuple(_notes(full, alone, *asked))
    unscored = len(shared) - len(scored)
    return Isolated(metric, threshold, queries, unscored, comparison, notes, tuple(unknown))


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


@dataclass(frozen=True)
class _Asked:
    """What the answers of a run say about how they were made.

    Attributes:
        n_asked: answers of 'ragassay ask', which says what it gave to the system.
        n_gold: those of them whose system was given the gold passages.
        systems: their names.
        fingerprints: of the systems, as 'ragassay ask' tells them apart.
    """

    n_asked: int
    n_gold: int
    systems: frozenset[str]
    fingerprints: frozenset[str]

    @classmethod
    def of(cls, run: Result) -> _Asked:
        n_asked = n_gold = 0
        systems, fingerprints = set(), set()
        for sample in run.samples:
            systems.add(sample.system or "")
            asked = sample.metadata.get("asked")
            if not isinstance(asked, Mapping) or "fingerprint" not in asked:
                continue
            n_asked += 1
            n_gold += asked.get("passages") == "gold"
            fingerprints.add(str(asked["fingerprint"]))
        return cls(n_asked, n_gold, frozenset(systems), frozenset(fingerprints))


def _refuse_others(full: Result, alone: Result, metric: str, asked: Sequence[_Asked]) -> None:
    """Refuses runs that are not what they are taken for, where their answers say so."""
    first, second = asked
    command = f"ragassay golden isolate {_place(full)} {_place(alone)} -m {metric}"
    other = "Name the run with what was retrieved first, and the one with --gold-passages second"
    if first.n_gold and not second.n_gold:
        command = f"ragassay golden isolate {_place(alone)} {_place(full)} -m {metric}"
        raise UsageError(
            f"The runs are swapped: the first one, {full.name}, was given the gold passages. "
            f"Run: {command}"
        )
    if first.n_gold:
        raise UsageError(f"Both runs were given the gold passages. {other}: {command}")
    if without := second.n_asked - second.n_gold:
        n = share(without, second.n_asked, "answer")
        raise UsageError(
            f"{n} of {alone.name} {either(without, 'was', 'were')} made without "
            f"the gold passages. Ask the system with --gold-passages: 'ragassay ask GOLDEN "
            "--gold-passages -o FILE', and make the second run of that file."
        )


def _notes(full: Result, alone: Result, first: _Asked, second: _Asked) -> Iterator[str]:
    doubt = "The difference may be one of the systems, and not of retrieval"
    if first.systems != second.systems:
        one, other = (few(sorted(filter(None, each.systems))) or "none" for each in (first, second))
        yield (
            f"The runs have different systems: {one} in {full.name}, {other} in {alone.name}. "
            f"{doubt}."
        )
    elif first.fingerprints and second.fingerprints and first.fingerprints != second.fingerprints:
        yield (
            f"The system was asked in another way in {alone.name} than in {full.name} (another "
            f"address, mapping or code). {doubt}."
        )


def _place(run: Result) -> str:
    """A run in a command."""
    return shlex.quote(run.name if run.folder is None else str(run.folder))


def _values(run: Result, metric: str) -> dict[str, float | None]:
    """The metric of each query; of several repeats their mean, ``None`` where one is unscored."""
    if metric not in run.columns.metrics:
        hint = did_you_mean(metric, run.columns.metrics)
        raise UsageError(f"{run.name} has no metric {metric!r}. {hint}")
    columns = run.columns
    scored, values = columns.scored(metric), columns.values(metric)
    rows_of = grouped((name, row) for row, (name, _, _) in enumerate(columns.identities))
    return {
        name: sum(values[rows].tolist()) / len(rows) if scored[rows].all() else None
        for name, rows in rows_of.items()
    }
