"""The comparison of two runs over different queries: two weeks of logs, say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.engine.comparison.compared_arrays import RAW_ALPHA
from ragassay.engine.comparison.pairs import query_matrix, rows_by_query
from ragassay.engine.results.comparison_result import Comparison, Difference, Standing
from ragassay.engine.results.result import Result
from ragassay.engine.results.slicing import cluster_column
from ragassay.stats.corrections import adjusted_p, decision_levels
from ragassay.stats.intervals import alpha_of, one_sided
from ragassay.stats.welch import MeanDifference, mean_difference


def compare_means(
    a: Result,
    b: Result,
    names: Sequence[str],
    standing_of: Callable[[str], tuple[Standing, Note | None]],
    *,
    level: float,
    correction: str,
) -> Comparison:
    """Whether the means of two runs differ, by Welch's test (`ragassay.stats.welch`).

    Queries are not matched. Repeats of a query are averaged first; queries of one cluster (a
    conversation) are tested together. The correction ``maxt`` needs pairs and stands for ``holm``.
    """
    correction = "holm" if correction == "maxt" else correction
    alpha = alpha_of(level)
    sides = [_Side(run, names) for run in (a, b)]
    found = {name: _difference(sides, at) for at, name in enumerate(names)}
    roles = {name: standing_of(name) for name in names}
    raw = [
        one.p_value if (one := found[name]) is not None and roles[name][0] == "tested" else None
        for name in names
    ]
    adjusted = adjusted_p(raw, correction)
    tails = decision_levels(raw, adjusted, alpha, correction)
    differences = []
    for at, name in enumerate(names):
        one, (standing, why) = found[name], roles[name]
        low, high = one.interval(tails[at]) if one is not None else (None, None)
        least, most = one.interval(1.0 - one_sided(level)) if one and level > 0.5 else (None, None)
        p, corrected = None if one is None else one.p_value, adjusted[at]
        counts = [int(side.mask[at].sum()) for side in sides]
        differences.append(
            Difference(
                name=name,
                a_mean=None if one is None else one.a,
                b_mean=None if one is None else one.b,
                diff=None if one is None else one.diff,
                low=low,
                high=high,
                p_value=p,
                significant=None if p is None else p < RAW_ALPHA,
                p_adjusted=corrected,
                significant_adjusted=None if corrected is None else corrected <= alpha,
                t_p_value=None,
                cohens_d=None,
                detectable=None if one is None else one.detectable(alpha),
                n=sum(counts) if all(counts) else 0,
                wins=0,
                losses=0,
                ties=0,
                higher_is_better=a.summary.metrics[name].higher_is_better,
                level=1.0 - tails[at],
                least=least,
                most=most,
                safe_least=least,
                safe_most=most,
                standing=standing,
                why=why,
            )
        )
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
        runs=(a, b),
    )


class _Side:
    """The means of each query of a run, and their clusters."""

    def __init__(self, run: Result, names: Sequence[str]) -> None:
        rows = rows_by_query(run)
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
