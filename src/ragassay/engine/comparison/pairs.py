"""Two runs query by query: which rows belong to a query, and its value of each metric."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.comparison.gates import OWED
from ragassay.engine.results import Result, cluster_column
from ragassay.stats import rounded_differences

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pairs = tuple[Matrix, Mask]
"""A value for each metric and query, and where there is one."""


@dataclass(frozen=True, slots=True)
class MatchedRuns:
    """Two runs, query by query.

    Attributes:
        a, b: the new run and the old one, which show the metrics under the same names.
        rows_a, rows_b: row numbers of each query id in either run.
        queries: ids of the queries that both have, sorted.
    """

    a: Result
    b: Result
    rows_a: Mapping[str, list[int]]
    rows_b: Mapping[str, list[int]]
    queries: Sequence[str]

    @classmethod
    def of(cls, a: Result, b: Result) -> MatchedRuns:
        """Matches the queries of two runs by id.

        Args:
            a: the new run.
            b: the old run.
        """
        rows_a, rows_b = rows_by_query(a), rows_by_query(b)
        # Sorted, because the random sign patterns belong to positions.
        return cls(a, b, rows_a, rows_b, sorted(query for query in rows_a if query in rows_b))

    def scores(
        self, names: Sequence[str], owed: tuple[float | None, float | None] = (None, None)
    ) -> tuple[Pairs, Pairs]:
        """The matrices of both runs, as `query_matrix` gives them.

        Args:
            names: of the metrics.
            owed: values of A and of B for scores that are missing by accident; ``None`` leaves them
                out.
        """
        return (
            query_matrix(self.a, names, self.rows_a, self.queries, owed[0]),
            query_matrix(self.b, names, self.rows_b, self.queries, owed[1]),
        )

    def n_owed(self, name: str) -> int:
        """How many scores of a metric the two runs owe."""
        total = 0
        for run, rows in ((self.a, self.rows_a), (self.b, self.rows_b)):
            at = [row for query in self.queries for row in rows[query]]
            total += int(run.columns.unscored(name, OWED)[at].sum())
        return total

    @property
    def clusters(self) -> tuple[NDArray[np.int64] | None, str | None]:
        """The number of each query's cluster, and what the clusters are; ``None`` where neither run
        is clustered. Where both are, the one with the larger clusters counts.
        """
        clusters = [
            (query_clusters(run, rows, self.queries), cluster_column(run.config))
            for run, rows in ((self.a, self.rows_a), (self.b, self.rows_b))
        ]
        return min(clusters, key=lambda one: math.inf if one[0] is None else len(np.unique(one[0])))


def rows_by_query(result: Result) -> Mapping[str, list[int]]:
    """Row numbers of each query id, in order of first appearance."""
    rows: dict[str, list[int]] = defaultdict(list)
    for at, (query, _, _) in enumerate(result.columns.identities):
        rows[query].append(at)
    return rows


def query_matrix(
    result: Result,
    names: Sequence[str],
    rows: Mapping[str, list[int]],
    queries: Sequence[str],
    owed: float | None = None,
) -> Pairs:
    """Each metric's mean over the repeats of each query.

    Args:
        result: of a run.
        names: of the metrics.
        rows: row numbers of each query id.
        queries: ids of the queries, in order.
        owed: takes the place of each score that is missing by accident; ``None`` leaves it out.

    Returns:
        Two arrays of shape ``(n_metrics, n_queries)``: the means (0 where there is none), and where
        there is one.
    """
    index = np.concatenate([rows[query] for query in queries]).astype(np.int64)
    sizes = np.array([len(rows[query]) for query in queries])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = np.zeros((len(names), len(queries)))
    mask = np.zeros(values.shape, dtype=np.bool_)
    for at, name in enumerate(names):
        scored = result.columns.scored(name)[index]
        known = np.where(scored, result.columns.values(name)[index], 0.0 if owed is None else owed)
        if owed is not None:
            scored = scored | result.columns.unscored(name, OWED)[index]
        total = np.add.reduceat(np.where(scored, known, 0.0), starts)
        count = np.add.reduceat(scored.astype(np.int64), starts)
        mask[at] = count > 0
        values[at] = total / np.maximum(count, 1)
    return values, mask


def query_differences(a: Result, b: Result, names: Sequence[str]) -> list[Matrix]:
    """For each metric the difference A - B of each query that both runs scored.

    Args:
        a: the new run.
        b: the old run, which shows the metrics under the same names
            (`ragassay.engine.comparison.derived_runs.aligned`).
        names: of the metrics.

    Returns:
        One array for each metric, in the order of A; 0 where the scores are equal up to rounding.
    """
    rows_a, rows_b = rows_by_query(a), rows_by_query(b)
    common = [query for query in rows_a if query in rows_b]
    if not names or not common:
        return [np.zeros(0) for _ in names]
    values_a, mask_a = query_matrix(a, names, rows_a, common)
    values_b, mask_b = query_matrix(b, names, rows_b, common)
    both = mask_a & mask_b
    differences = rounded_differences(np.where(both, values_a, 0.0), np.where(both, values_b, 0.0))
    return [row[scored] for row, scored in zip(differences, both, strict=True)]


def query_clusters(
    result: Result, rows: Mapping[str, list[int]], queries: Sequence[str]
) -> NDArray[np.int64] | None:
    """The number of each query's cluster, shape ``(n_queries,)``; ``None`` where the run is not
    clustered.

    Args:
        result: of a run.
        rows: row numbers of each query id.
        queries: ids of the queries, in order.
    """
    keys = result.columns.clusters
    if keys is None:
        return None
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(keys[rows[q][0]], len(codes)) for q in queries])
