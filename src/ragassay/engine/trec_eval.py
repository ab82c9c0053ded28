"""A run evaluated the way trec_eval does it, with its rules for which queries count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.engine.ranked_runs import aggregate
from ragassay.metrics.ranking_metric import RankingMetric
from ragassay.metrics.rankings import Mask, Rankings
from ragassay.metrics.retrieval_levels import RelevanceString
from ragassay.metrics.retrieval_sets import NumQueries, NumRelevant
from ragassay.metrics.trec_names import TrecMeasure

Value = float | int | str


@dataclass(frozen=True)
class TrecScores:
    """The values of some measures for one run.

    Attributes:
        tag: the run's tag.
        measures: in the order in which they are printed.
        queries: the queries averaged over, sorted by code points.
        n_judged, n_missing: judged queries, and how many of them the run lacks.
        n_unjudged: queries of the run that were never judged; they are left out.
        complete: whether the missing queries are averaged over, as 0.
        columns: for each measure one value a query.
    """

    tag: str
    measures: tuple[TrecMeasure, ...]
    queries: tuple[str, ...]
    n_judged: int
    n_missing: int
    n_unjudged: int
    complete: bool
    columns: tuple[Sequence[Value], ...]

    def per_query(self) -> Iterator[tuple[TrecMeasure, str, Value]]:
        """Each query's values, query by query."""
        for at, query in enumerate(self.queries):
            for measure, column in zip(self.measures, self.columns, strict=True):
                if measure.per_query:
                    yield measure, query, column[at]

    def summary(self) -> Iterator[tuple[TrecMeasure, Value]]:
        """The values over all queries."""
        for measure, column in zip(self.measures, self.columns, strict=True):
            if measure.metric is None:
                yield measure, self.tag
            elif measure.summary:
                total = aggregate(measure.metric, np.asarray(column, np.float64))
                yield measure, int(total) if measure.metric.aggregate == "sum" else total

    def lines(self, *, per_query: bool = False) -> Iterator[str]:
        """trec_eval's lines: measure, query or ``all``, and value, separated by tabs."""
        if per_query:
            for measure, query, value in self.per_query():
                yield _line(measure, query, value)
        for measure, value in self.summary():
            yield _line(measure, "all", value)


def score(
    rankings: Rankings,
    tag: str,
    measures: Sequence[TrecMeasure],
    *,
    complete: bool = False,
    depth: int | None = None,
) -> TrecScores:
    """Evaluates a run.

    Args:
        rankings: the run, over all judged queries.
        tag: the run's tag.
        measures: what to compute (see `ragassay.metrics.trec_names.resolve`).
        complete: average over all judged queries (``-c``) and not only those in the run. A missing
            query scores 0 in every measure but the number of its relevant documents.
        depth: use only the first ranks (``-M``).
    """
    missing = ~rankings.in_run
    n_judged, n_missing = len(rankings), int(missing.sum())
    if depth is not None:
        rankings = rankings.limited(depth)
    if not complete:
        rankings, missing = rankings.only(~missing), np.zeros(n_judged - n_missing, np.bool_)
    columns = [_column(measure.metric, rankings, missing) for measure in measures]
    return TrecScores(
        tag,
        tuple(measures),
        rankings.queries,
        n_judged,
        n_missing,
        rankings.n_unjudged_queries,
        complete,
        tuple(columns),
    )


def _column(metric: RankingMetric | None, rankings: Rankings, missing: Mask) -> Sequence[Value]:
    if metric is None:
        return [""] * len(rankings)
    if isinstance(metric, RelevanceString):
        return metric.strings(rankings)
    values = metric.values(rankings)
    if not isinstance(metric, NumRelevant | NumQueries):
        values = np.where(missing, 0.0, values)
    found: list[float] = values.tolist()
    return [int(value) for value in found] if metric.aggregate == "sum" else found


def _line(measure: TrecMeasure, query: str, value: Value) -> str:
    if isinstance(value, float):
        shown = f"{value:6.4f}"
    elif isinstance(measure.metric, RelevanceString):
        shown = f"'{value}'"
    else:
        shown = str(value)
    return f"{measure.label:<22}\t{query}\t{shown}"
