"""Differences between two runs in what they asked and how it was scored, as notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ragassay.base.counts import grouped, share
from ragassay.base.note import Note
from ragassay.engine.comparison.pairs import Mask, rows_by_query
from ragassay.engine.results import fingerprint
from ragassay.engine.results.attribution import names_in
from ragassay.engine.results.result import Result
from ragassay.engine.results.summary import missing_by_accident

_NUGGETS = "nuggets="
"""How the part of a signature begins that names the nuggets."""

OWN_NUGGETS = f"{_NUGGETS}own"
"""That part where each run has nuggets of its own."""


def nuggets_of(run: Result, name: str) -> str:
    """The nuggets that a metric was measured by; empty for a metric without any."""
    parts = run.summary.metrics[name].signature.split("|")
    return next((part for part in parts if part.startswith(_NUGGETS)), "")


def incomparable_metrics(a: Result, b: Result, names: Sequence[str]) -> dict[str, Note]:
    """The metrics that the two runs did not compute alike; those that differ in the same way have
    one note."""
    alike = grouped((how, name) for name in names if (how := _difference(a, b, name)))
    return {
        name: Note("not_alike", {"how": how}, tuple(which), "warning")
        for how, which in alike.items()
        for name in which
    }


def _difference(a: Result, b: Result, name: str) -> str:
    """How the computation of a metric differs; empty where it does not."""
    first, second = (run.summary.metrics[name] for run in (a, b))
    if not (first.n_scored and second.n_scored):
        return ""  # there is nothing to compare; a model that was not there has no identity
    ours, theirs = first.signature.split("|"), second.signature.split("|")
    if ours != theirs:
        only_a = " ".join(part for part in ours if part not in theirs)
        only_b = " ".join(part for part in theirs if part not in ours)
        return f"({only_a} against {only_b})"
    # Two systems of one run have its signature, whoever judged the one and the other.
    judges = [names_in(one.judges) for one in (first, second)]
    if all(judges) and judges[0] != judges[1]:
        of_a, of_b = (f"judge={'+'.join(of_run)}" for of_run in judges)
        return f"({of_a} against {of_b})"
    return ""


def differing_queries(a: Result, b: Result, common: Sequence[str]) -> list[Note]:
    """Compares what common queries ask and expect in both runs: a note where they differ."""
    if a.summary.fingerprint and a.summary.fingerprint == b.summary.fingerprint:
        return []
    asked_a, asked_b = (_by_query(run, run.columns.asked) for run in (a, b))
    different = [query for query in common if asked_a.get(query) != asked_b.get(query)]
    if not different or not asked_a or not asked_b:
        return []
    example = different[0]
    first, second = (next((s for s in run.samples if s.id == example), None) for run in (a, b))
    facts = fingerprint.differing(first, second) if first and second else []
    counts: dict[str, float | str] = {"n": len(different), "of": len(common)}
    counts |= {"example": example, "how": ", ".join(facts) or "its facts"}
    return [Note("differing_queries", counts, severity="warning")]


def same_replies(a: Result, b: Result, common: Sequence[str]) -> list[Note]:
    """Looks for replies that ``ragassay ask`` recorded once and that both runs hold."""
    of_a, of_b = (_by_query(run, run.columns.replies) for run in (a, b))
    none = {fingerprint.NO_REPLY}
    same = [one for one in common if (of_a.get(one, none) & of_b.get(one, none)) - none]
    n = share(len(same), len(common), "common query")
    counts = {"n": n, "example": same[0] if same else ""}
    return [Note("same_replies", counts, severity="warning")] if same else []


def _by_query(run: Result, numbers: Iterable[int]) -> dict[str, set[int]]:
    """The numbers of a run's samples, by query."""
    rows = zip(run.columns.identities, numbers, strict=False)
    found = grouped((identity[0], number) for identity, number in rows)
    return {query: set(of_query) for query, of_query in found.items()}


def only_in_one(
    a: Result, b: Result, names: Sequence[str], common: Sequence[str], mask_a: Mask, mask_b: Mask
) -> Iterator[Note]:
    """The scores of common queries (``mask_a``, ``mask_b``: where each run has one, shape
    ``(n_metrics, n_common)``) and the queries that one run has alone."""
    alone = (mask_a != mask_b).sum(axis=1)
    if n := int(alone.sum()):
        kind = "scores_in_one_of_most" if (alone > 0).sum() > 1 else "scores_in_one"
        yield Note(kind, {"n": n}, (names[int(np.argmax(alone))],), "warning")
    for run, other in ((a, b), (b, a)):
        if n := len(rows_by_query(run)) - len(common):
            counts: dict[str, float | str] = {"n": n, "run": run.name, "other": other.name}
            yield Note("queries_in_one", counts, severity="warning")


def incomplete_runs(*runs: Result) -> Iterator[Note]:
    """The runs that are incomplete."""
    for run in runs:
        if run.summary.incomplete:
            what = missing_by_accident(run.summary)
            yield Note("incomplete_run", {"what": what}, (run.name,), "warning")
