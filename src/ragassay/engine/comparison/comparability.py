"""Differences between two runs in what they asked and how it was scored, each as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ragassay.base.counts import either, grouped, plural, share
from ragassay.engine.comparison.pairs import Mask, rows_by_query
from ragassay.engine.results import fingerprint
from ragassay.engine.results.attribution import names_in
from ragassay.engine.results.result import Result
from ragassay.engine.results.summary import missing_by_accident

SAME_NUGGETS = (
    "Measure both by the same nuggets: --nuggets pooled on one file with both systems, or "
    "--nuggets FILE for each."
)
"""What to do where two runs were measured by different nuggets."""

_NUGGETS = "nuggets="
"""How the part of a signature begins that names the nuggets."""

OWN_NUGGETS = f"{_NUGGETS}own"
"""That part where each run has nuggets of its own."""


def differ_in_nuggets(a: Result, b: Result, names: Sequence[str]) -> bool:
    """Whether the two runs measured one of these metrics by different nuggets."""
    return any(len({_nuggets(run, name) for run in (a, b)}) > 1 for name in names)


def _nuggets(run: Result, name: str) -> str:
    """The nuggets that a metric was measured by; empty for a metric without any."""
    parts = run.summary.metrics[name].signature.split("|")
    return next((part for part in parts if part.startswith(_NUGGETS)), "")


def own_nuggets(a: Result, b: Result, names: Sequence[str]) -> list[str]:
    """The metrics that measure each run by nuggets of its own."""
    return [name for name in names if any(_nuggets(run, name) == OWN_NUGGETS for run in (a, b))]


def incomparable_metrics(a: Result, b: Result, names: Sequence[str]) -> dict[str, str]:
    """The metrics that the two runs did not compute alike.

    Args:
        a: the new run.
        b: the old run.
        names: metrics that both have.

    Returns:
        By metric, a sentence about all metrics that differ in the same way.
    """
    return {
        name: f"{', '.join(which)} {either(len(which), 'was', 'were')} not computed alike {how}."
        for how, which in grouped(_metric_differences(a, b, names)).items()
        for name in which
    }


def _metric_differences(a: Result, b: Result, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """How a metric differs, and its name; of those that differ."""
    for name in names:
        if not (a.summary.metrics[name].n_scored and b.summary.metrics[name].n_scored):
            continue  # there is nothing to compare; a model that was not there has no identity
        first, second = a.summary.metrics[name].signature, b.summary.metrics[name].signature
        judges_a, judges_b = (names_in(run.summary.metrics[name].judges) for run in (a, b))
        if first == second and judges_a and judges_b and judges_a != judges_b:
            # Two systems of one run have its signature, whoever judged the one and the other.
            yield f"(judge={'+'.join(judges_a)} against judge={'+'.join(judges_b)})", name
        if first != second:
            ours, theirs = first.split("|"), second.split("|")
            only_a = [part for part in ours if part not in theirs]
            only_b = [part for part in theirs if part not in ours]
            yield f"({' '.join(only_a)} against {' '.join(only_b)})", name


def differing_queries(a: Result, b: Result, common: Sequence[str]) -> list[str]:
    """Compares what common queries ask and expect in both runs.

    Args:
        a: the new run.
        b: the old run.
        common: ids of the queries that both have.

    Returns:
        One sentence where they differ, else nothing.
    """
    if a.summary.fingerprint and a.summary.fingerprint == b.summary.fingerprint:
        return []
    asked_a, asked_b = (_by_query(run, run.columns.asked) for run in (a, b))
    different = [query for query in common if asked_a.get(query) != asked_b.get(query)]
    if not different or not asked_a or not asked_b:
        return []
    example = different[0]
    first, second = (next((s for s in run.samples if s.id == example), None) for run in (a, b))
    facts = fingerprint.differing(first, second) if first and second else []
    return [
        f"{len(different)} of {len(common)} common queries do not ask or expect the same "
        f"(for example {example!r}: {', '.join(facts) or 'its facts'})."
    ]


def same_replies(a: Result, b: Result, common: Sequence[str]) -> list[str]:
    """Looks for replies that ``ragassay ask`` recorded once and that both runs hold."""
    of_a, of_b = (_by_query(run, run.columns.replies) for run in (a, b))
    same = [
        query
        for query in common
        if (of_a.get(query, set()) & of_b.get(query, set())) - {fingerprint.NO_REPLY}
    ]
    if not same:
        return []
    n = share(len(same), len(common), "common query")
    return [
        f"The two runs hold the same recorded replies to {n} (for example {same[0]!r}). "
        "'ragassay ask' takes from the ledger what a system of the same name was asked before: ask "
        "the new system with --refresh, or with another name (-t NAME=TARGET)."
    ]


def _by_query(run: Result, numbers: Iterable[int]) -> dict[str, set[int]]:
    """The numbers of a run's samples, by query."""
    rows = zip(run.columns.identities, numbers, strict=False)
    found = grouped((identity[0], number) for identity, number in rows)
    return {query: set(of_query) for query, of_query in found.items()}


def warnings_of(
    a: Result,
    b: Result,
    names: Sequence[str],
    common: Sequence[str],
    mask_a: Mask,
    mask_b: Mask,
) -> list[str]:
    """What a reader should know of two runs: nuggets of their own, scores and queries that only one
    of them has, failures. One sentence each."""
    sentences = []
    counts = (mask_a != mask_b).sum(axis=1)
    if one_sided := int(counts.sum()):
        worst = int(np.argmax(counts))
        of = "most of them:" if (counts > 0).sum() > 1 else "of"
        sentences.append(
            f"{plural(one_sided, 'score')} {either(one_sided, 'exists', 'exist')} in one run only "
            f"and {either(one_sided, 'was', 'were')} left out "
            f"({of} {names[worst]})."
        )
    for run, other in ((a, b), (b, a)):
        lacking = len(rows_by_query(run)) - len(common)
        if lacking:
            sentences.append(
                f"{plural(lacking, 'query')} {either(lacking, 'is', 'are')} in {run.name} only; "
                f"{other.name} lacks {either(lacking, 'it', 'them')}."
            )
    return [*sentences, *incomplete_runs(a, b)]


def incomplete_runs(*runs: Result) -> list[str]:
    """A sentence for each run that is incomplete."""
    return [
        f"{run.name} is incomplete: {missing_by_accident(run.summary)}."
        for run in runs
        if run.summary.incomplete
    ]
