"""How metrics differ between two runs: by pairs of queries, as percentiles, or by the means of
different queries (two weeks of logs, say)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.engine.comparison.pairs import Mask, MatchedRuns, Matrix, query_matrix
from ragassay.engine.results.comparison_result import Comparison, Difference, Standing
from ragassay.engine.results.result import Result
from ragassay.engine.results.slicing import cluster_column
from ragassay.stats.corrections import adjusted_p, decision_levels
from ragassay.stats.intervals import Span, alpha_of, one_sided
from ragassay.stats.paired import PairedResult, compare_pairs, rounded_differences
from ragassay.stats.percentiles import percentile_difference
from ragassay.stats.welch import MeanDifference, mean_difference

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
    """The comparison of two aligned score matrices, shape ``(n_metrics, n_queries)``.

    Args:
        names: of the metrics.
        a, b: scores of the new and the old run.
        mask: where both runs have a score; everywhere when left out.
        clusters: number of each query's cluster, shape ``(n_queries,)``; each query is one when
            left out.
        a_name, b_name: names of the runs.
        higher_is_better: for each metric; ``None`` where neither direction is better.
        spans: lowest and highest value of each metric.
        standings: what may be concluded from each metric, and why; all are tested when left out.
        n_resamples, seed, level, correction: see `compare`.
        brought: facts for the reader.
        clustered_by: name of the clusters.
    """
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
    alpha = alpha_of(level)
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
            names, tests, higher_is_better or [True] * len(names), roles, strict=True
        )
    )
    return Comparison(
        a=a_name,
        b=b_name,
        differences=differences,
        n_common=a.shape[1],
        only_a=0,
        only_b=0,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        n_tested=sum(test.p_adjusted is not None for test in tests),
        brought=tuple(brought),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )


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

    Every repeat of a query counts by itself: a percentile of means would hide what is rare.
    """
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
        a, b = (_scores(matched, run, name, unit_of) for run in (matched.a, matched.b))
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


def _scores(
    matched: MatchedRuns, run: Result, name: str, unit_of: Mapping[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The scores of a run, and the unit of each."""
    scored, rows = run.columns.scored(name), matched.rows_of(run)
    units = {
        row: unit for at, unit in unit_of.items() for row in rows[matched.queries[at]]
        if scored[row]
    }  # fmt: skip
    return run.columns.values(name)[list(units)], np.array(list(units.values()))


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
    alpha = alpha_of(level)
    sides = [_Side(run, names) for run in (a, b)]
    found = [_difference(sides, at) for at in range(len(names))]
    raw = [
        one.p_value if one is not None and standing == "tested" else None
        for one, (standing, _) in zip(found, standings, strict=True)
    ]
    adjusted = adjusted_p(raw, correction)
    tails = decision_levels(raw, adjusted, alpha, correction)
    differences = []
    for at, (name, one, (standing, why)) in enumerate(zip(names, found, standings, strict=True)):
        counts = [int(side.mask[at].sum()) for side in sides]
        difference = Difference(
            name=name,
            n=sum(counts) if all(counts) else 0,
            higher_is_better=a.summary.metrics[name].higher_is_better,
            level=1.0 - tails[at],
            standing=standing,
            why=why,
        )
        if one is not None:
            low, high = one.interval(tails[at])
            least, most = one.interval(1.0 - one_sided(level)) if level > 0.5 else (None, None)
            corrected = adjusted[at]
            difference = replace(
                difference, a_mean=one.a, b_mean=one.b, diff=one.diff, low=low, high=high,
                least=least, most=most, safe_least=least, safe_most=most,
                p_value=one.p_value, p_adjusted=corrected, detectable=one.detectable(alpha),
                significant_adjusted=None if corrected is None else corrected <= alpha,
            )  # fmt: skip
        differences.append(difference)
    clustered = [side for side in sides if side.clusters is not None]
    columns = [cluster_column(side.run.config.get("cluster_by")) for side in clustered]
    return Comparison(
        a=a.name,
        b=b.name if b.name != a.name else f"{b.name} (old)",
        differences=tuple(differences),
        n_common=0,
        only_a=len(sides[0].queries),
        only_b=len(sides[1].queries),
        n_resamples=0,
        seed=0,
        level=level,
        correction=correction,
        n_tested=sum(p is not None for p in adjusted),
        clustered_by=next(iter(columns), None),
        n_clusters=sum(side.n_units for side in sides) if clustered else None,
        unpaired=True,
    )


class _Side:
    """The means of each query of a run, and their clusters."""

    def __init__(self, run: Result, names: Sequence[str]) -> None:
        rows = run.columns.rows_by_query
        self.run, self.queries = run, list(rows)
        self.values, self.mask = query_matrix(run, names, rows, self.queries, of_means=True)
        labels = run.columns.clusters
        self.clusters: NDArray[np.str_] | None = None
        if labels is not None:
            self.clusters = np.array([labels[rows[query][0]] for query in self.queries])

    @property
    def n_units(self) -> int:
        return len(self.queries if self.clusters is None else np.unique(self.clusters))


def _difference(sides: Sequence[_Side], at: int) -> MeanDifference | None:
    values = [side.values[at][side.mask[at]] for side in sides]
    clusters = [None if side.clusters is None else side.clusters[side.mask[at]] for side in sides]
    return mean_difference(*values, *clusters)
