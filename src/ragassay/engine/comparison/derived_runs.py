"""Runs made of a run: of one of its systems, of some of its queries, or with its queries and
metrics called as in another run (a suite shows ``faithfulness`` as ``RL_F``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.printable import excerpt, grouped
from ragassay.base.sample import Identity, Sample
from ragassay.base.subsets import Subset
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import cluster_column, fields_of
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import facts_of
from ragassay.formats.records.field_names import field_of
from ragassay.formats.records.sample_records import has_made_id


def by_system(result: Result) -> list[Result]:
    """One result for each system in the data, in order of first appearance.

    Means, intervals and counts are each system's own; slices and warnings are left out."""
    by_name = grouped((identity[1], identity) for identity in result.columns.identities)
    return [
        _only(result, of_system, system=system, title=system or result.summary.title)
        for system, of_system in by_name.items()
    ]


FIRST_IS_OLD = "first_is_old"


def with_baseline(runs: list[Result], baseline: str | None) -> list[Result]:
    """The runs with the baseline last: the one of that name; or, of the systems of one file or
    folder, the first (files have the old system first), and a note of its summary says so."""
    names = [run.name for run in runs]
    if baseline is None:
        first, *others = runs
        turned = names[1] if len(names) == 2 else "NAME"
        note = Note(FIRST_IS_OLD, {"baseline": turned}, (first.name,), "warning")
        return [*others, replace(first, summary=replace(first.summary, notes=(note,)))]
    if baseline not in names:
        raise UsageError(f"No run is called {baseline!r}. There are: {', '.join(names)}.")
    at = names.index(baseline)
    return [*runs[:at], *runs[at + 1 :], runs[at]]


def of_queries(result: Result, queries: Collection[str]) -> Result:
    """The result of some of the queries alone. Slices and warnings are left out."""
    chosen = frozenset(queries)
    return _only(result, [key for key in result.columns.identities if key[0] in chosen])


def subset_of(result: Result, conditions: str | Iterable[str]) -> Result:
    """The result of the samples for which conditions hold; slices and warnings are left out."""
    subset = Subset([conditions] if isinstance(conditions, str) else conditions, field_of)
    if not subset:
        return result
    try:
        chosen = [sample.identity for sample in subset.of(result.samples, fields_of)]
    except UsageError as error:
        raise UsageError(f"{result.name}: {error}") from error
    return _only(result, chosen, title=f"{result.name} where {subset}", system="")


def _only(result: Result, identities: Iterable[Identity], **named: Any) -> Result:
    """The result of some of the samples, with their own means, intervals and counts; ``named`` are
    other fields of its summary."""
    chosen = frozenset(identities)
    member = [identity in chosen for identity in result.columns.identities]
    columns = result.columns.take(np.flatnonzero(member))
    config = result.config
    described = list(result.summary.metrics.values())
    cluster_by = cluster_column(config.get("cluster_by"))
    facts, _ = facts_of(columns, described, config.get("interval", "auto"), cluster_by)
    rows, samples = partial(_rows, result, chosen), partial(_samples, result, chosen)
    summary = replace(
        result.summary,
        **facts,
        slices=(),
        failures=Counter(
            " ".join(sample.failure.split()) for sample in samples() if sample.failure
        ),
        notes=tuple(n for n in result.summary.notes if n.kind == FIRST_IS_OLD),
        **named,
    )
    return Result(summary, columns, config, None, rows, samples, judge_answers=result.judge_answers)


def _rows(result: Result, chosen: frozenset[Identity]) -> Iterator[ScoreRow]:
    return (row for row in result.scores if row.identity in chosen)


def _samples(result: Result, chosen: frozenset[Identity]) -> Iterator[Sample]:
    return (sample for sample in result.samples if sample.identity in chosen)


def aligned(run: Result, like: Result, *, by_text: bool = True) -> Result:
    """The run with each query under the id that ``like`` has for it, and each metric under the name
    that ``like`` shows it by; then without slices.

    Ids that both have stay. Other queries are matched by what the user said so far (``by_text``),
    if both runs asked it as often (in order), and a note of the summary (`MATCHED`) says so.
    Metrics that have the same display name stay as they are. Of the others, those that are the same
    metric with the same parameters are matched, where only one match is possible."""
    if by_text:
        run = _with_ids_of(run, like)
    theirs = _by_canonical(like, run)
    ours = _by_canonical(run, like)
    names = {ours[canonical]: theirs[canonical] for canonical in ours if canonical in theirs}
    if not names:
        return run

    def rows() -> Iterator[ScoreRow]:
        return (replace(row, metric=names.get(row.metric, row.metric)) for row in run.scores)

    renamed = {
        names.get(name, name): replace(metric, name=names.get(name, name))
        for name, metric in run.summary.metrics.items()
    }
    summary = replace(run.summary, metrics=renamed, slices=())
    return replace(run, summary=summary, columns=run.columns.renamed(names), _rows=rows)


MATCHED = "matched_by_text"


def _with_ids_of(run: Result, like: Result) -> Result:
    sides = [side.columns.rows_by_query.keys() for side in (run, like)]
    ours, theirs = _ids_by_text(run, sides[0] - sides[1]), _ids_by_text(like, sides[1] - sides[0])
    ids: dict[str, str] = {}
    for text, own in ours.items():
        if len(other := theirs.get(text, [])) == len(own):
            ids |= zip(own, other, strict=True)
    if not ids:
        return run

    def samples() -> Iterator[Sample]:
        return (replace(sample, id=ids.get(sample.id, sample.id)) for sample in run.samples)

    def rows() -> Iterator[ScoreRow]:
        return (replace(row, sample=ids.get(row.sample, row.sample)) for row in run.scores)

    notes = (*run.summary.notes, Note(MATCHED, {"n": len(ids)}))
    summary, columns = replace(run.summary, notes=notes), run.columns.of_samples(samples())
    return replace(run, summary=summary, columns=columns, _rows=rows, _samples=samples)


def shown_queries(run: Result, ids: Iterable[str]) -> dict[str, str]:
    """What people read of queries, by id: their first words where the id is a hash of them."""
    shown = {name: name for name in ids}
    made = {name for name in shown if name.startswith("q-")}
    for sample in run.samples if made and run._samples is not None else ():
        if sample.id in made and has_made_id(sample):
            shown[sample.id] = repr(excerpt(sample.query or "", 60))
    return shown


def _ids_by_text(run: Result, ids: Collection[str]) -> dict[tuple[str, ...], list[str]]:
    """Some ids, by the question and the user's turns before it, in the order of the run."""
    asked = run.samples if ids and run._samples is not None else ()
    chosen = (s for s in asked if s.query is not None and s.id in ids)
    return grouped(dict.fromkeys(((*s.earlier_queries, s.query_text), s.id) for s in chosen))


def _by_canonical(run: Result, other: Result) -> dict[str, str]:
    """Display names, by the metric's own name, of the metrics that the other run does not show
    under the same name. Metrics that a run has twice are left out."""
    canonical_names = {
        name: metric.metric
        for name, metric in run.summary.metrics.items()
        if name not in other.summary.metrics and metric.metric
    }
    counts = Counter(canonical_names.values())
    return {
        canonical: name for name, canonical in canonical_names.items() if counts[canonical] == 1
    }
