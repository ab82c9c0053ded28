"""The data structure of every qrels-based measure: for all queries at once, the judged documents
that were retrieved with their ranks, how many were retrieved, and the grades of all judged ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ragassay.metrics.core.metric import Remembering

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

JUDGED = 0
"""The level that every judged document reaches, relevant or not."""


class Relevant(NamedTuple):
    """The retrieved documents whose grade reaches a level, by query and rank: index of the query,
    rank, position among the relevant ones of the ranking (both from 1); and by query how many were
    retrieved, and how many are known."""

    query: Ints
    rank: Ints
    nth: Ints
    n_retrieved: Ints
    n_known: Ints


@dataclass(eq=False)
class Rankings(Remembering):
    """Judged rankings of several queries.

    Args:
        queries: ids, one a query.
        n_retrieved: documents retrieved, shape ``(n_queries,)``; 0 where the run lacks the query.
        hit_query, hit_rank, hit_grade: the retrieved documents that the qrels name, in any order:
            index of the query, rank from 1, grade (below 0: in the pool, but unjudged).
        gold_query, gold_grade: all documents that the qrels name, in any order.
        n_unjudged_queries: queries of the run that were left out because they were never judged.
        largest_grade: the highest grade of all judgements, also of queries that were left out. If
            it is below 0, the highest of ``gold_grade`` takes its place (0 if there is none).
    """

    queries: tuple[str, ...]
    n_retrieved: Ints
    hit_query: Ints
    hit_rank: Ints
    hit_grade: Ints
    gold_query: Ints
    gold_grade: Ints
    n_unjudged_queries: int = 0
    largest_grade: int = -1

    def __post_init__(self) -> None:
        order = by_query(self.hit_query, self.hit_rank)
        self.hit_query, self.hit_rank = self.hit_query[order], self.hit_rank[order]
        self.hit_grade = self.hit_grade[order]
        if self.largest_grade < 0:
            self.largest_grade = int(self.gold_grade.max(initial=0))
        self._memo = {}

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def in_run(self) -> Mask:
        """Which queries the run has results for, shape ``(n_queries,)``."""
        return self.n_retrieved > 0

    def relevant(self, level: int) -> Relevant:
        """The retrieved documents with a grade of at least ``level`` (0 or more)."""
        return self.once(_relevant, level)

    def hits(self, level: int, depth: int) -> Floats:
        """Relevant documents within the first ranks, shape ``(n_queries,)``."""
        relevant = self.relevant(level)
        return self.total(relevant.query[relevant.rank <= depth])

    def total(self, query: Ints, weights: Floats | Ints | None = None) -> Floats:
        """Sums by query, shape ``(n_queries,)``."""
        return np.bincount(query, weights, minlength=len(self)).astype(np.float64)

    def limited(self, depth: int) -> Self:
        """The same rankings without the ranks below ``depth``."""
        within = self.hit_rank <= depth
        return self._with(within, np.minimum(self.n_retrieved, depth), self.hit_rank[within])

    def judged_only(self) -> Self:
        """The same rankings without documents that have no grade of at least 0; the documents below
        them move up."""
        judged = self.hit_grade >= JUDGED
        query = self.hit_query[judged]
        return self._with(judged, np.bincount(query, minlength=len(self)), nth_of_query(query))

    def _with(self, hits: Mask, n_retrieved: Ints, rank: Ints) -> Self:
        """The same queries with some of the retrieved documents, at these ranks."""
        query, grade = self.hit_query[hits], self.hit_grade[hits]
        return replace(
            self, n_retrieved=n_retrieved, hit_query=query, hit_rank=rank, hit_grade=grade
        )

    def only(self, chosen: Mask) -> Self:
        """The rankings of some queries, ``chosen`` of shape ``(n_queries,)``."""
        new_index = np.cumsum(chosen) - 1
        hits, gold = chosen[self.hit_query], chosen[self.gold_query]
        return replace(
            self,
            queries=tuple(compress(self.queries, chosen)),
            n_retrieved=self.n_retrieved[chosen],
            hit_query=new_index[self.hit_query[hits]],
            hit_rank=self.hit_rank[hits],
            hit_grade=self.hit_grade[hits],
            gold_query=new_index[self.gold_query[gold]],
            gold_grade=self.gold_grade[gold],
        )


def share(part: Floats | Ints, total: Floats | Ints | float) -> Floats:
    """``part / total``, and 0 where ``total`` is 0."""
    out = np.zeros(np.shape(part))
    return np.divide(part, total, out=out, where=np.asarray(total) != 0)


def by_query(query: Ints, key: Ints | Floats) -> Ints | slice:
    """The order that sorts rows by query, then key (ascending); ``slice(None)`` where they are."""
    in_order = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (key[1:] >= key[:-1]))
    if in_order.all():
        return slice(None)
    return np.lexsort((key, query))


def nth_of_query(query: Ints) -> Ints:
    """The position of each row within its query, from 1; ``query`` is sorted."""
    first = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(first, append=len(query))
    return np.arange(1, len(query) + 1) - np.repeat(first, lengths)


def running(query: Ints, values: Floats | Ints) -> Floats:
    """Each query's running sum, which does not depend on the queries beside it."""
    out = np.empty(len(values))
    edges = np.append(np.flatnonzero(np.diff(query, prepend=-1)), len(values))
    for start, end in pairwise(edges):
        np.cumsum(values[start:end], out=out[start:end])
    return out


def _relevant(rankings: Rankings, level: int) -> Relevant:
    chosen = rankings.hit_grade >= level
    query = rankings.hit_query[chosen]
    n = len(rankings)
    return Relevant(
        query,
        rankings.hit_rank[chosen],
        nth_of_query(query),
        np.bincount(query, minlength=n),
        np.bincount(rankings.gold_query[rankings.gold_grade >= level], minlength=n),
    )
