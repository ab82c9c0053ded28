"""Judgements of the same queries by several groups of assessors: each group measured separately,
then averaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from ragassay.metrics.retrieval import ranking_sources
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.metrics.retrieval.rankings import Floats, Ints, Mask, Rankings

if TYPE_CHECKING:
    import polars as pl

_BETWEEN = "\x00"
"""Stands between the ids of a query and a group; it sorts before all that an id may hold."""


@dataclass(frozen=True, eq=False)
class GroupedRankings:
    """Rankings judged by several groups.

    Args:
        queries: ids of the queries, sorted.
        by_group: one ranking for each query and group, by query.
        owner: the index of the query of each ranking.
        n_unjudged_queries: queries of the run that were left out because they were never judged.
    """

    queries: tuple[str, ...]
    by_group: Rankings
    owner: Ints
    n_unjudged_queries: int

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def in_run(self) -> Mask:
        """Which queries the run has results for, shape ``(n_queries,)``."""
        in_run = np.zeros(len(self), np.bool_)
        in_run[self.owner[self.by_group.in_run]] = True
        return in_run

    def values(self, metric: RankingMetric) -> Floats:
        """The metric's mean over the groups of each query, shape ``(n_queries,)``."""
        total = np.bincount(self.owner, metric.values(self.by_group), minlength=len(self))
        return total / np.bincount(self.owner, minlength=len(self))

    def limited(self, depth: int) -> GroupedRankings:
        """The same rankings without the ranks below ``depth``."""
        return replace(self, by_group=self.by_group.limited(depth))

    def judged_only(self) -> GroupedRankings:
        """The same, each group's ranking without documents that the group did not judge."""
        return replace(self, by_group=self.by_group.judged_only())

    def only(self, chosen: Mask) -> GroupedRankings:
        """Some queries, ``chosen`` of shape ``(n_queries,)``."""
        in_chosen = chosen[self.owner]
        return replace(
            self,
            queries=tuple(compress(self.queries, chosen)),
            by_group=self.by_group.only(in_chosen),
            owner=(np.cumsum(chosen) - 1)[self.owner[in_chosen]],
        )


def from_frames(qrels: pl.DataFrame, run: pl.DataFrame) -> GroupedRankings:
    """Grouped rankings from polars frames, rows in any order."""
    import polars as pl

    # Says what is wrong with the files, before queries and groups become one id.
    pooled = qrels.unique(["query", "document"])
    plain = ranking_sources.from_frames(pooled, run)
    groups = qrels.select("query", "group").unique()
    both = pl.concat_str("query", "group", separator=_BETWEEN).alias("query")
    judged = qrels.select(both, "document", "grade")
    repeated = run.join(groups, on="query").select(both, "document", "score")
    rankings = ranking_sources.from_frames(judged, repeated)
    places = {query: at for at, query in enumerate(plain.queries)}
    owner = np.array([places[one.split(_BETWEEN)[0]] for one in rankings.queries], np.int64)
    return GroupedRankings(plain.queries, rankings, owner, plain.n_unjudged_queries)
