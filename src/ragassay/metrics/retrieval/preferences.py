"""Judgements by several groups of assessors: preferences between documents (trec_eval's
``prefs_*``), and grades.

Within one sub-group a document of a higher level is preferred to one of a lower level; preferences
that follow by transitivity count too. A run fulfils a preference where the preferred document ranks
higher, or where it alone was retrieved (an *implied* preference). Level 0 means "not relevant".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ragassay.base.errors import InputError
from ragassay.metrics.retrieval import ranking_sources
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.metrics.retrieval.rankings import Floats, Ints, Mask, Rankings

if TYPE_CHECKING:
    import polars as pl

Matrix = NDArray[np.bool_]


class SubGroup(NamedTuple):
    """Levels that one sub-group gives: documents by their number, levels beside them."""

    documents: Ints
    levels: Floats


Group = Sequence[SubGroup]
"""The sub-groups of one judgement group, in the order of their names."""


@dataclass(eq=False)
class Preferences(Rankings):
    """The judgement groups of several queries, with the ranks at which a run holds their documents.
    The grade of a document is its number, counted over all queries in the order of query and
    document id."""

    groups: Sequence[Sequence[Group]] = ()

    def judged_only(self) -> Self:
        """The same preferences: they ignore unjudged documents anyway."""
        return self

    def only(self, chosen: Mask) -> Self:
        """The preferences of some queries, ``chosen`` of shape ``(n_queries,)``."""
        return replace(super().only(chosen), groups=list(compress(self.groups, chosen)))

    def counts(self) -> list[Counts]:
        """The preferences of each query, fulfilled and possible."""
        ends = np.searchsorted(self.hit_query, np.arange(1, len(self)))
        retrieved = np.split(self.hit_grade, ends)
        return list(map(_counts, self.queries, self.groups, retrieved))


def from_frames(preferences: pl.DataFrame, run: pl.DataFrame) -> Preferences:
    """Preferences from polars frames, rows in any order; without the column ``subgroup`` each group
    is one. Documents with one score are in ascending order of their ids: here trec_eval does not
    turn that order around."""
    import polars as pl

    ordered = run.sort("query", "score", "document", descending=[False, True, False])
    run = ordered.with_columns(score=-pl.int_range(pl.len()).over("query").cast(pl.Float64))
    documents = preferences.select("query", "document").unique().sort("query", "document")
    documents = documents.with_row_index("grade")
    rankings = ranking_sources.from_frames(documents, run)
    of = [name for name in ("query", "group", "subgroup") if name in preferences.columns]
    numbered = preferences.join(documents, on=["query", "document"]).sort(*of, "grade")
    groups: dict[str, dict[str, list[SubGroup]]] = {}
    for (query, group, *_), rows in numbered.group_by(of, maintain_order=True):
        sub = SubGroup(rows["grade"].cast(int).to_numpy(), rows["level"].to_numpy())
        groups.setdefault(str(query), {}).setdefault(str(group), []).append(sub)
    of_rankings = {field.name: getattr(rankings, field.name) for field in fields(rankings)}
    by_query = [list(groups[query].values()) for query in rankings.queries]
    return Preferences(**of_rankings, groups=by_query)


SCOPES = ("", "_ret", "_imp")
"""Which preferences count, by the ending of a measure's name: all; those of which both documents
were retrieved; those of which at least one was."""


class GroupCounts(NamedTuple):
    """The preferences of one group, fulfilled and possible, by scope (`SCOPES`), and the balanced
    shares: if only as many irrelevant documents count as there are relevant ones, of all
    preferences, and of those with both documents retrieved."""

    fulfilled: tuple[int, int, int]
    possible: tuple[int, int, int]
    balanced: tuple[float, float]


class Counts(NamedTuple):
    """The preferences of a query.

    Attributes:
        groups: one entry a group.
        shares: for each pair of documents with a preference, the share of groups that prefer the
            one that ranks higher: of pairs both retrieved, and of pairs of which one was.
        n_neither: pairs with a preference of which neither document was retrieved.
    """

    groups: tuple[GroupCounts, ...]
    shares: tuple[Floats, Floats]
    n_neither: int


@dataclass(frozen=True)
class PreferenceMeasure:
    """A measure of preferences: it turns each query's counts into a number."""

    name: str
    value: Callable[[Counts], float]
    aggregate: str = "mean"
    low: float | None = 0.0
    high: float | None = 1.0
    higher_is_better: bool | None = True

    def __str__(self) -> str:
        return self.name

    def values(self, preferences: Preferences) -> Floats:
        """One value a query, shape ``(n_queries,)``."""
        every = preferences.once(Preferences.counts)
        return np.array([self.value(counts) for counts in every], np.float64)


def _ratio(part: float, total: float) -> float:
    return part / total if total else 0.0


def _simple(at: int, counts: Counts) -> float:
    return _ratio(
        sum(group.fulfilled[at] for group in counts.groups),
        sum(group.possible[at] for group in counts.groups),
    )


def _by_group(at: int, counts: Counts) -> float:
    total = sum(_ratio(group.fulfilled[at], group.possible[at]) for group in counts.groups)
    return total / len(counts.groups)


def _by_pair(at: int, counts: Counts) -> float:
    both, array = counts.shares
    shares = both if SCOPES[at] == "_ret" else np.append(both, array)
    return _ratio(sum(shares.tolist()), len(shares) + (0 if SCOPES[at] else counts.n_neither))


def _balanced(at: int, counts: Counts) -> float:
    # As in trec_eval, one group without preferences (0 of 0) makes the whole query 0.
    total = sum(group.balanced[at] for group in counts.groups)
    return total / len(counts.groups) if total > 0 else 0.0


def _counted(of: str, at: int, counts: Counts) -> float:
    total: float = sum(getattr(group, of)[at] for group in counts.groups)
    return total


_NO_QUALITY: Mapping[str, Any] = {"aggregate": "sum", "high": None, "higher_is_better": None}
_SHARES = {"simp": _simple, "pair": _by_pair, "avgjg": _by_group, "avgjg_Rnonrel": _balanced}
"""The shares of preferences fulfilled: of all, of pairs of documents, of groups, and balanced."""

MEASURES: Mapping[str, PreferenceMeasure] = {
    measure.name: measure
    for measure in (
        *(
            PreferenceMeasure(f"prefs_num_prefs_{name}", partial(_counted, of, at), **_NO_QUALITY)
            for name, of, at in (
                ("poss", "possible", 0),
                ("ful", "fulfilled", 0),
                ("ful_ret", "fulfilled", 1),
            )
        ),
        *(
            PreferenceMeasure(f"prefs_{name}{scope}", partial(share, at))
            for at, scope in enumerate(SCOPES)
            for name, share in _SHARES.items()
            if scope != "_imp" or share is not _balanced
        ),
    )
}
"""The measures by trec_eval's names, in its order."""


def _counts(query: str, groups: Sequence[Group], retrieved: Ints) -> Counts:
    """The counts of one query; ``retrieved`` are numbers of documents in the order of the ranks."""
    numbers = np.unique(np.concatenate([sub.documents for group in groups for sub in group]))
    order = np.concatenate([retrieved, np.setdiff1d(numbers, retrieved)])
    place = np.empty(len(order), np.int64)
    place[np.searchsorted(numbers, order)] = np.arange(len(order))
    n = len(retrieved)
    counts = []
    tally = np.zeros((len(order), len(order)), np.int32)
    for group in groups:
        placed = [
            SubGroup(place[np.searchsorted(numbers, sub.documents)], sub.levels) for sub in group
        ]
        preferred, level = _preferred(query, placed, len(order))
        tally += preferred
        counts.append(_group_counts(preferred, level, n, partial=len(group) > 1))
    higher, lower = np.triu(tally, 1), np.tril(tally, -1).T
    disputed = (higher + lower) > 0
    rows, columns = np.nonzero(disputed)
    share = higher[disputed] / (higher + lower)[disputed]
    both, neither = columns < n, rows >= n
    return Counts(tuple(counts), (share[both], share[~both & ~neither]), int(neither.sum()))


def _preferred(query: str, group: Group, size: int) -> tuple[Matrix, Floats]:
    """Which document is preferred to which, and the level of each (NaN: not judged here)."""
    preferred = np.zeros((size, size), np.bool_)
    level = np.full(size, np.nan)
    for documents, levels in group:
        known = level[documents]
        if (((known > 0) & (levels == 0)) | ((known == 0) & (levels > 0))).any():
            raise InputError(
                f"query {query!r}: a judgement group gives a document level 0 and a level above 0",
                path="the preferences",
                hint="Level 0 says 'not relevant'; a group is one person's view.",
            )
        level[documents] = levels
        preferred[np.ix_(documents, documents)] |= levels[:, None] > levels[None, :]
    if len(group) > 1:
        preferred = _closed(preferred)
        if (preferred & preferred.T).any():
            raise InputError(
                f"query {query!r}: the preferences of a judgement group contradict each other",
                path="the preferences",
                hint="Different views belong to different groups.",
            )
    return preferred, level


def _closed(preferred: Matrix) -> Matrix:
    """The preferences with all that follow from them by transitivity."""
    closed = preferred.copy()
    for via in range(len(closed)):
        closed |= closed[:, via, None] & closed[None, via, :]
    return closed


def _group_counts(preferred: Matrix, level: Floats, n: int, *, partial: bool) -> GroupCounts:
    """The counts of one group; the first ``n`` documents were retrieved, in this order."""
    both = int(np.triu(preferred[:n, :n], 1).sum())  # fulfilled, of those both retrieved
    implied = int(preferred[:n, n:].sum())
    possible = int(preferred[:n, :n].sum())
    possible_any = possible + implied + int(preferred[n:, :n].sum())
    n_possible = int(preferred.sum())
    relevant = level > 0
    irrelevant = level == 0 if partial else level <= 0
    lowest = irrelevant if partial else level == np.nanmin(level)
    R, N = int(relevant.sum()), int(irrelevant.sum())  # noqa: N806 - the field's letters
    R_ret, N_ret = int(relevant[:n].sum()), int(irrelevant[:n].sum())  # noqa: N806
    if R >= N:
        # Irrelevant documents that the judgements lack rank below all relevant ones retrieved.
        balanced = _nan_ratio(both + implied + R_ret * (R - N), n_possible + R * (R - N))
    else:
        balanced = _over_first(preferred, lowest, n, R, partial=partial)
    if R_ret >= N_ret:
        retrieved = _nan_ratio(both + R_ret * (R_ret - N_ret), possible + R * (R_ret - N_ret))
    else:
        # trec_eval keeps R irrelevant documents where sub-groups are several, R retrieved ones
        # where there is one.
        n_lowest = R if partial else R_ret
        retrieved = _over_first(preferred[:n, :n], lowest[:n], n, n_lowest, partial=partial)
    return GroupCounts(
        (both + implied, both, both + implied),
        (n_possible, possible, possible_any),
        (balanced, retrieved),
    )


def _over_first(preferred: Matrix, lowest: Mask, n: int, n_lowest: int, *, partial: bool) -> float:
    """The share of preferences fulfilled, with only the first ``n_lowest`` of the ``lowest``
    documents."""
    size = len(lowest)
    left = np.cumsum(lowest) <= n_lowest
    counted = preferred & (~lowest | left)[None, :]
    if partial:
        counted &= (~lowest | left)[:, None]
    else:
        # trec_eval compares the documents of the lowest class with its first ones, too: each pair
        # counts as if the left one were preferred.
        counted |= lowest[:, None] & (lowest & left)[None, :]
    fulfils = np.triu(np.ones((size, size), np.bool_), 1)
    fulfils[n:] = False
    return _nan_ratio(int((counted & fulfils).sum()), int(counted.sum()))


def _nan_ratio(part: int, total: int) -> float:
    """``part / total``; NaN for 0 of 0, which `_balanced` takes for a query without a value."""
    return part / total if total else float("nan")


_BETWEEN = "\x00"
"""Stands between the ids of a query and a group; it sorts before all that an id may hold."""


@dataclass(frozen=True, eq=False)
class GroupedRankings:
    """Rankings of queries (sorted ids) judged by several groups: one ranking for each query and
    group, by query, and ``owner``, the index of the query of each."""

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


def grouped_from_frames(qrels: pl.DataFrame, run: pl.DataFrame) -> GroupedRankings:
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
    owner = np.array([places[query.split(_BETWEEN)[0]] for query in rankings.queries], np.int64)
    return GroupedRankings(plain.queries, rankings, owner, plain.n_unjudged_queries)
