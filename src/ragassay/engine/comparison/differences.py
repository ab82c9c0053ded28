"""How two runs differ. First query by query: which rows belong to a query, its value of each
metric, and what the runs asked and how it was scored, as notes; then metric by metric: by pairs of
queries, as percentiles, or by the means of different queries (two weeks of logs, say)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.base.printable import few, grouped
from ragassay.base.score import Reason
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import cluster_column, differing_facts, names_in
from ragassay.engine.results.summary import cut, missing_by_failure
from ragassay.engine.results.verdict import Difference, Standing
from ragassay.stats.intervals import Span, alpha_of
from ragassay.stats.paired import PairedResult, compare_pairs, rounded_differences
from ragassay.stats.percentiles import percentile_difference
from ragassay.stats.welch import compare_samples

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pairs = tuple[Matrix, Mask]
"""A value for each metric and query, and where there is one."""


@dataclass(frozen=True, slots=True)
class MatchedRuns:
    """The new run (A) and the old one (B), which show metrics under the same names, query by query:
    the rows of each query id in either run, and the ids that both have, sorted. ``unlike`` are the
    queries of which the runs do not ask or expect the same: A lacks them, unless more than half of
    the common queries are such."""

    a: Result
    b: Result
    rows_a: Mapping[str, list[int]]
    rows_b: Mapping[str, list[int]]
    queries: Sequence[str]
    unlike: Sequence[str] = ()

    @classmethod
    def of(cls, a: Result, b: Result) -> MatchedRuns:
        """Matches the queries of two runs by id."""
        rows_a, rows_b = a.columns.rows_by_query, b.columns.rows_by_query
        # Sorted, because the random sign patterns belong to positions.
        queries = sorted(rows_a.keys() & rows_b.keys())
        asked = [
            {query: {run.columns.asked[row] for row in rows[query]} for query in queries}
            for run, rows in ((a, rows_a), (b, rows_b))
        ]
        unlike = [query for query in queries if asked[0][query] != asked[1][query]]
        if 2 * len(unlike) <= len(queries):
            rows_a = {query: rows_a[query] for query in sorted(rows_a.keys() - unlike)}
            queries = sorted(rows_a.keys() & rows_b.keys())
        return cls(a, b, rows_a, rows_b, queries, unlike)

    def unlike_queries(self, *, left_out: bool) -> list[Note]:
        """A note on the queries that are `unlike`, with the facts in which the first ones are; for
        queries that are ``left_out``, or that are not."""
        first = self.unlike[:3]
        if not first or left_out != (first[0] not in self.rows_a):
            return []
        sides = [{s.id: s for s in run.samples if s.id in first} for run in (self.a, self.b)]
        facts = (", ".join(differing_facts(*(side[name] for side in sides))) for name in first)
        shown = [f"{name!r} ({how or 'its facts'})" for name, how in zip(first, facts, strict=True)]
        counts: dict[str, float | str] = {"n": len(self.unlike), "of": len(self.queries)}
        counts["which"] = few([*shown, *self.unlike[3:]], 3)
        if left_out:
            counts["of"] = len(self.queries) + len(self.unlike)
            return [Note("queries_left_out", counts, severity="warning")]
        return [Note("differing_queries", counts, severity="warning")]

    def n_alone(self, run: Result) -> int:
        """How many queries one of the two runs has alone."""
        return len(self.rows_of(run).keys() - {*self.queries, *self.unlike})

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Ids of the queries that A lacks and of which B has a score of any of these metrics."""
        scored = np.zeros(len(self.b.columns), dtype=np.bool_)
        for name in names:
            scored |= self.b.columns.scored(name)
        return [
            query
            for query, rows in self.rows_b.items()
            if query not in self.rows_a and scored[rows].any()
        ]

    def scores(
        self, names: Sequence[str], owed: tuple[float | None, float | None] = (None, None)
    ) -> tuple[Pairs, Pairs]:
        """The matrices of both runs, as `query_matrix` gives them; ``owed`` are the values of A and
        of B for scores that are missing (`n_owed`) in queries that are `compared`."""
        sides = (self.a, self.rows_a), (self.b, self.rows_b)
        pairs = [
            query_matrix(run, names, rows, self.queries, value)
            for (run, rows), value in zip(sides, owed, strict=True)
        ]
        if owed != (None, None):
            compared = np.array([self.compared(name) for name in names])
            pairs = [
                (np.where(mask, values, value or 0.0), compared)
                for (values, mask), value in zip(pairs, owed, strict=True)
            ]
        return pairs[0], pairs[1]

    def at_worst(
        self,
        name: str,
        draws: Mapping[str, Any],
        lacking: Sequence[str] = (),
        *,
        best: bool = False,
    ) -> PairedResult | None:
        """The test of a metric where all that may be missing counts at its worst for A and at its
        best for B (``best``: the other way round): scores that one run lacks, queries that A lacks.
        ``None`` where the metric has no such values."""
        metric = self.a.summary.metrics[name]
        ends = metric.bounds if (metric.higher_is_better is False) == best else metric.bounds[::-1]
        if None in ends or metric.percentile is not None:
            return None
        # Queries that A lacks have the value of what it owes.
        runs = replace(self, queries=sorted([*self.queries, *lacking]))
        (a, in_a), (b, in_b) = runs.scores([name], ends)
        options = {**draws, "clusters": runs.clusters[0]}
        return compare_pairs(a, b, mask=in_a & in_b, spans=[metric.bounds], **options)[0]

    def rows_of(self, run: Result) -> Mapping[str, list[int]]:
        """The row numbers of each query id in one of the two runs."""
        return self.rows_a if run is self.a else self.rows_b

    def n_owed(self, name: str) -> int:
        """How many scores of a metric the runs lack for the queries that are compared: those that
        they owe, or the one whose like the other run has, whatever the reason."""
        pairs, n = zip(self.queries, self.compared(name), strict=True), 0
        compared = [query for query, is_compared in pairs if is_compared]
        for run in (self.a, self.b):
            rows, scored, owed = self.rows_of(run), run.columns.scored(name), run.columns.owed(name)
            at = [rows.get(query, []) for query in compared]
            n += sum(int(owed[row].sum()) or int(not scored[row].any()) for row in at)
        return n

    def compared(self, name: str) -> Mask:
        """The queries of which a run has a score, or lost it while scoring, or that the two systems
        left out for different reasons, shape ``(n_queries,)``. The others say nothing of a
        difference."""
        lost = [reason for reason in Reason if reason.incomplete]
        scored = self.left_by_both(name, alike=False)
        for run in (self.a, self.b):
            has = run.columns.scored(name) | run.columns.unscored(name, lost)
            rows = self.rows_of(run)
            scored |= np.array([has[rows.get(query, [])].any() for query in self.queries], np.bool_)
        return scored

    def left_by_both(self, name: str, *, alike: bool) -> Mask:
        """The queries for which both systems left a metric nothing to measure, shape
        ``(n_queries,)``: for the same reason (the metric is not applicable to them), or for
        different ones, so that each counts at its worst and best."""
        pairs = zip(self._reasons(self.a, name), self._reasons(self.b, name), strict=True)
        return np.array([bool(a and b) and (a == b) == alike for a, b in pairs], dtype=np.bool_)

    def _reasons(self, run: Result, name: str) -> list[frozenset[Reason]]:
        """Why each query has no score by the system's doing; empty unless no repeat has one."""
        columns, rows = run.columns, self.rows_of(run)
        by_system = columns.unscored(name, (reason for reason in Reason if reason.by_system))
        if not by_system.any():
            return [frozenset()] * len(self.queries)
        return [
            frozenset(filter(None, (columns.reason(name, row) for row in at)))
            if by_system[at := rows.get(query, [])].all()
            else frozenset()
            for query in self.queries
        ]

    @property
    def clusters(self) -> tuple[NDArray[np.int64] | None, str | None]:
        """The number of each query's cluster, and what the clusters are; ``None`` where neither run
        is clustered. Where both are, the one with the larger clusters counts."""
        clusters = [
            (self._clusters(run, other), cluster_column(run.config.get("cluster_by")))
            for run, other in ((self.a, self.b), (self.b, self.a))
        ]
        return min(
            clusters, key=lambda value: math.inf if value[0] is None else len(np.unique(value[0]))
        )

    def _clusters(self, run: Result, other: Result) -> NDArray[np.int64] | None:
        """The clusters of one run. A query that it lacks has its cluster in the other one; where
        that has none, it is a cluster by itself."""
        if run.columns.clusters is None:
            return None
        keys: dict[str, str] = {}
        for side in (other, run):
            if side.columns.clusters is not None:
                # Of several repeats, the first one counts.
                rows = self.rows_of(side).items()
                keys |= {query: side.columns.clusters[at[0]] for query, at in rows}
        codes: dict[str | tuple[str], int] = {}
        return np.array(
            [codes.setdefault(keys.get(query, (query,)), len(codes)) for query in self.queries]
        )


def query_matrix(
    result: Result,
    names: Sequence[str],
    rows: Mapping[str, list[int]],
    queries: Sequence[str],
    owed: float | None = None,
) -> Pairs:
    """Each metric's mean over the repeats of each query (`ScoreColumns.averaged`), and where there
    is one: arrays of shape ``(n_metrics, n_queries)``.

    ``owed`` takes the place of each score that is owed, and of those of a query that the run lacks.
    """
    index = np.array([row for query in queries for row in rows.get(query, ())], dtype=np.int64)
    sizes = np.array([len(rows.get(query, ())) for query in queries], dtype=np.int64)
    query_at = np.repeat(np.arange(len(queries)), sizes)
    values = np.zeros((len(names), len(queries)))
    mask = np.zeros(values.shape, dtype=np.bool_)
    for at, name in enumerate(names):
        columns = result.columns
        scored = columns.averaged(name)[index]
        scores = np.where(scored, columns.values(name)[index], owed or 0.0)
        if owed is not None:
            scored = scored | columns.owed(name)[index]
        total = np.bincount(query_at[scored], scores[scored], len(queries))
        count = np.bincount(query_at[scored], minlength=len(queries))
        mask[at] = count > 0
        values[at] = total / np.maximum(count, 1)
        if owed is not None:
            mask[at, sizes == 0], values[at, sizes == 0] = True, owed
    return values, mask


_NUGGETS = "nuggets="
"""How the part of a signature begins that names the nuggets."""

OWN_NUGGETS = f"{_NUGGETS}own"
"""That part where each run has nuggets of its own."""


def nuggets_of(run: Result, name: str) -> str:
    """The nuggets that a metric was measured by; empty for a metric without any."""
    parts = run.summary.metrics[name].signature.split("|")
    return next((part for part in parts if part.startswith(_NUGGETS)), "")


def incomparable_metrics(a: Result, b: Result, names: Sequence[str]) -> list[Note]:
    """Notes on metrics that the two runs computed differently, one for all that differ alike."""
    alike = grouped((how, name) for name in names if (how := _difference(a, b, name)))
    return [
        Note("not_alike", {"how": how}, tuple(which), "warning") for how, which in alike.items()
    ]


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
    judges = [names_in(summary.judges) for summary in (first, second)]
    if all(judges) and judges[0] != judges[1]:
        of_a, of_b = (f"judge={'+'.join(of_run)}" for of_run in judges)
        return f"({of_a} against {of_b})"
    return ""


def same_answers(matched: MatchedRuns) -> list[Note]:
    """Looks whether both runs hold the same answers and passages for all common queries, given at
    the same time: a system that was asked again may give the same."""
    given, common = attrgetter("id", "timestamp", "answer", "passages", "runs"), {*matched.queries}
    kept = ((x for x in run.samples if x.id in common) for run in (matched.a, matched.b))
    pairs = ((given(x), given(y)) for x, y in zip(*kept, strict=False))
    is_same = (x == y and any(x[2:]) for x, y in pairs)
    if not (next(is_same, False) and all(is_same)):
        return []
    return [Note("same_answers", {"n": len(common)}, severity="warning")]


def only_in_one(
    matched: MatchedRuns, names: list[str], mask_a: Mask, mask_b: Mask
) -> Iterator[Note]:
    """The scores of common queries (``mask_a``, ``mask_b``: where each run has one, shape
    ``(n_metrics, n_common)``) and the queries that one run has alone."""
    a, b = matched.a, matched.b
    alone = (mask_a != mask_b).sum(axis=1)
    if partial := tuple(name for name, n in zip(names, alone, strict=True) if n):
        yield Note("scores_in_one", {"n": int(alone.sum())}, partial, "warning")
    for run, other in ((a, b), (b, a)):
        if n := matched.n_alone(run):
            counts: dict[str, float | str] = {"n": n, "run": run.name, "other": other.name}
            yield Note("queries_in_one", counts, severity="warning")


def incomplete_runs(*runs: Result) -> list[Note]:
    """A note on the runs that are incomplete."""
    found = {r.name: missing_by_failure(r.summary) for r in runs if r.summary.incomplete}
    what = {"what": ", ".join(found.values())}
    return [Note("incomplete_run", what, tuple(found), "warning")] if found else []


Role = tuple[Standing, Note | None]
"""What may be concluded from a metric, and why."""


def compare_arrays(
    names: Sequence[str],
    new: Matrix,
    old: Matrix,
    /,
    *,
    higher_is_better: Sequence[bool | None] | None = None,
    spans: Sequence[Span] | None = None,
    standings: Sequence[Role] | None = None,
    clustered_by: str | None = None,
    mask: Mask | None = None,
    clusters: NDArray[np.int64] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    **facts: Any,
) -> Comparison:
    """The comparison of two aligned score matrices; ``facts`` are its other fields."""
    roles: Sequence[Role] = standings or [("tested", None)] * len(names)
    draws: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": level}
    draws["correction"] = correction
    tests = compare_pairs(
        new, old, mask=mask, clusters=clusters, spans=spans or [(None, None)] * len(names),
        tested=[standing == "tested" for standing, _ in roles], **draws,
    )  # fmt: skip
    if clusters is not None:
        draws |= {"clustered_by": clustered_by, "n_clusters": len(np.unique(clusters))}
    facts = {"a": "A", "b": "B", "only_a": 0, "only_b": 0} | facts | draws
    directions = higher_is_better or [True] * len(names)
    return _comparison(names, tests, directions, roles, n_common=new.shape[1], **facts)


def _comparison(
    names: Sequence[str],
    tests: Sequence[PairedResult],
    directions: Sequence[bool | None],
    roles: Sequence[Role],
    **facts: Any,
) -> Comparison:
    """The comparison that tests give, with other facts of it."""
    alpha = alpha_of(facts["level"])
    rows = zip(names, tests, directions, roles, strict=True)
    differences = tuple(
        Difference(
            **vars(test), name=name, higher_is_better=direction, standing=standing, why=why,
            significant_adjusted=None if test.p_adjusted is None else test.p_adjusted <= alpha,
        )
        for name, test, direction, (standing, why) in rows
    )  # fmt: skip
    n_tested = sum(test.p_adjusted is not None for test in tests)
    return Comparison(differences=differences, n_tested=n_tested, **facts)


def compare_percentile(
    matched: MatchedRuns, name: str, *, clusters: NDArray[np.int64] | None, **draws: Any
) -> Difference:
    """The difference of a metric that is a percentile, over the queries that both runs scored: with
    an interval, and without a test.

    Every repeat of a query counts by itself: a percentile of means would hide what is rare."""
    metric = matched.a.summary.metrics[name]
    (means_a, in_a), (means_b, in_b) = matched.scores([name])
    both = in_a[0] & in_b[0]
    signs = np.sign(rounded_differences(means_a[:, both], means_b[:, both])[0])
    # Bootstrap units have the numbers from 0 on.
    units = np.arange(both.size) if clusters is None else clusters
    _, codes = np.unique(units[both], return_inverse=True)
    unit_of = list(zip(np.array(matched.queries)[both].tolist(), codes.tolist(), strict=True))
    found = PairedResult(level=draws["level"])
    if both.any():
        sides = []
        for run in (matched.a, matched.b):
            scored, rows = run.columns.scored(name), matched.rows_of(run)
            at = [(row, unit) for query, unit in unit_of for row in rows[query] if scored[row]]
            chosen, units = np.array(at).T
            sides.append((run.columns.values(name)[chosen], units))
        a, b = sides
        assert metric.percentile is not None
        draws |= {"units_a": a[1], "units_b": b[1]}
        found = percentile_difference(a[0], b[0], metric.percentile, **draws)
    counts = {"n": both, "wins": signs == 1, "losses": signs == -1, "ties": signs == 0}
    return Difference(
        **vars(found) | {key: int(where.sum()) for key, where in counts.items()},
        name=name,
        higher_is_better=metric.higher_is_better,
        standing="exploratory",
        why=Note("percentile", {}, (name,)),
    )


def compare_means(
    new: Result,
    old: Result,
    names: Sequence[str],
    standings: Sequence[Role],
    *,
    level: float,
    correction: str,
    **facts: Any,
) -> Comparison:
    """Whether the means of two runs over different queries differ, by Welch's test.

    Queries are not matched. Repeats of a query are averaged first; queries of one cluster (a
    conversation) are tested together. The correction ``maxt`` needs pairs; here it means ``holm``.
    """
    correction = "holm" if correction == "maxt" else correction
    samples, n_units, n_queries = [], [], []
    for run in (new, old):
        rows = run.columns.rows_by_query
        values, mask = query_matrix(run, names, rows, list(rows))
        keys, labels = run.columns.clusters, None
        if keys is not None:
            labels = np.array([keys[of_query[0]] for of_query in rows.values()])
        scored = zip(values, mask, strict=True)
        samples.append([(row[has], None if labels is None else labels[has]) for row, has in scored])
        n_queries.append(len(rows))
        n_units.append(len(rows) if labels is None else len(np.unique(labels)))
    tested = [standing == "tested" for standing, _ in standings]
    tests = compare_samples(*samples, tested=tested, correction=correction, level=level)
    for at, name in enumerate(names):
        least, most = new.summary.metrics[name].bounds
        if least is not None and most is not None:
            low, high = cut(tests[at].low, tests[at].high, (least - most, most - least))
            tests[at] = replace(tests[at], low=low, high=high)
    clustered = [run for run in (new, old) if run.columns.clusters is not None]
    columns = [cluster_column(run.config.get("cluster_by")) for run in clustered]
    return _comparison(
        names,
        tests,
        [new.summary.metrics[name].higher_is_better for name in names],
        standings,
        n_common=0,
        only_a=n_queries[0],
        only_b=n_queries[1],
        n_resamples=0,
        seed=0,
        level=level,
        correction=correction,
        clustered_by=next(iter(columns), None),
        n_clusters=sum(n_units) if clustered else None,
        unpaired=True,
        **facts,
    )
