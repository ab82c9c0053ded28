"""How metrics differ between two runs: by pairs of queries, as percentiles, or by the means of
different queries (two weeks of logs, say)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.engine.comparison.pairs import Mask, MatchedRuns, Matrix, query_matrix
from ragassay.engine.results.comparison_result import Comparison, Difference, Standing
from ragassay.engine.results.result import Result
from ragassay.engine.results.slicing import cluster_column
from ragassay.stats.intervals import Span, alpha_of
from ragassay.stats.paired import PairedResult, compare_pairs, rounded_differences
from ragassay.stats.percentiles import percentile_difference
from ragassay.stats.welch import compare_samples

Role = tuple[Standing, Note | None]
"""What may be concluded from a metric, and why."""


def compare_arrays(
    names: Sequence[str],
    a: Matrix,
    b: Matrix,
    *,
    mask: Mask | None = None,
    clusters: NDArray[np.int64] | None = None,
    a_name: str = "A",
    b_name: str = "B",
    higher_is_better: Sequence[bool | None] | None = None,
    spans: Sequence[Span] | None = None,
    standings: Sequence[Role] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    brought: Sequence[Note] = (),
    clustered_by: str | None = None,
) -> Comparison:
    """The comparison of two aligned score matrices, shape ``(n_metrics, n_queries)``."""
    roles: Sequence[Role] = standings or [("tested", None)] * len(names)
    tests = compare_pairs(
        a,
        b,
        mask=mask,
        clusters=clusters,
        spans=spans or [(None, None)] * len(names),
        tested=[standing == "tested" for standing, _ in roles],
        correction=correction,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
    )
    return _comparison(
        names,
        tests,
        higher_is_better or [True] * len(names),
        roles,
        a=a_name,
        b=b_name,
        n_common=a.shape[1],
        only_a=0,
        only_b=0,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        brought=tuple(brought),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )


def _comparison(
    names: Sequence[str],
    tests: Sequence[PairedResult],
    directions: Sequence[bool | None],
    roles: Sequence[Role],
    **facts: Any,
) -> Comparison:
    """The comparison that tests give, with other facts of it."""
    alpha = alpha_of(facts["level"])
    differences = tuple(
        Difference(
            **vars(test),
            name=name,
            significant_adjusted=None if test.p_adjusted is None else test.p_adjusted <= alpha,
            higher_is_better=direction,
            standing=standing,
            why=why,
        )
        for name, test, direction, (standing, why) in zip(
            names, tests, directions, roles, strict=True
        )
    )
    n_tested = sum(test.p_adjusted is not None for test in tests)
    return Comparison(differences=differences, n_tested=n_tested, **facts)


def compare_percentile(
    matched: MatchedRuns,
    name: str,
    *,
    clusters: NDArray[np.int64] | None,
    n_resamples: int,
    seed: int,
    level: float,
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
    unit_of = dict(zip(np.flatnonzero(both).tolist(), codes.tolist(), strict=True))
    found = PairedResult(level=level)
    if both.any():
        sides = []
        for run in (matched.a, matched.b):
            scored, rows = run.columns.scored(name), matched.rows_of(run)
            units_of = {
                row: unit
                for at, unit in unit_of.items()
                for row in rows[matched.queries[at]]
                if scored[row]
            }
            values = run.columns.values(name)[list(units_of)]
            sides.append((values, np.array(list(units_of.values()))))
        a, b = sides
        assert metric.percentile is not None
        found = percentile_difference(
            a[0], b[0], metric.percentile, units_a=a[1], units_b=b[1],
            level=level, n_resamples=n_resamples, seed=seed,
        )  # fmt: skip
    counts = {"n": both, "wins": signs == 1, "losses": signs == -1, "ties": signs == 0}
    return Difference(
        **vars(found) | {key: int(where.sum()) for key, where in counts.items()},
        name=name,
        higher_is_better=metric.higher_is_better,
        standing="exploratory",
        why=Note("percentile", {}, (name,)),
    )


def compare_means(
    a: Result,
    b: Result,
    names: Sequence[str],
    standings: Sequence[Role],
    *,
    level: float,
    correction: str,
) -> Comparison:
    """Whether the means of two runs over different queries differ, by Welch's test.

    Queries are not matched. Repeats of a query are averaged first; queries of one cluster (a
    conversation) are tested together. The correction ``maxt`` needs pairs and stands for ``holm``.
    """
    correction = "holm" if correction == "maxt" else correction
    samples, n_units, n_queries = [], [], []
    for run in (a, b):
        rows = run.columns.rows_by_query
        values, mask = query_matrix(run, names, rows, list(rows), of_means=True)
        keys, labels = run.columns.clusters, None
        if keys is not None:
            labels = np.array([keys[of_query[0]] for of_query in rows.values()])
        scored = zip(values, mask, strict=True)
        samples.append([(row[has], None if labels is None else labels[has]) for row, has in scored])
        n_queries.append(len(rows))
        n_units.append(len(rows) if labels is None else len(np.unique(labels)))
    tested = [standing == "tested" for standing, _ in standings]
    tests = compare_samples(*samples, tested=tested, correction=correction, level=level)
    clustered = [run for run in (a, b) if run.columns.clusters is not None]
    columns = [cluster_column(run.config.get("cluster_by")) for run in clustered]
    return _comparison(
        names,
        tests,
        [a.summary.metrics[name].higher_is_better for name in names],
        standings,
        a=a.name,
        b=b.name,
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
    )
