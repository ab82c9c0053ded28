"""What the consistency of a run shows: a row a metric with its statistics over the runs of a query
(each the mean over queries), and one for each way in which runs are compared two by two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragassay.base.errors import UsageError
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.metrics.consistency.runs_alike import (
    RunsBertScore,
    RunsOverlap,
    RunsRbo,
    RunsRouge1,
    RunsRouge2,
    RunsRougeL,
    RunsRougeOre,
)
from ragassay.metrics.consistency.runs_spread import OfMetric
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.reports.model import Cell, Column, Report, Table, lines, table
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence

SIMILARITIES: Mapping[type[Metric], tuple[str, str]] = {
    RunsBertScore: ("answers: BERTScore", "consistency_bert_score"),
    RunsRougeL: ("answers: ROUGE-L", "consistency_rouge_score"),
    RunsRouge1: ("answers: ROUGE-1", "consistency_rouge1_score"),
    RunsRouge2: ("answers: ROUGE-2", "consistency_rouge2_score"),
    RunsRougeOre: ("answers: ROUGE-L (ore)", ""),
    RunsOverlap: ("passages: overlap (Jaccard)", "consistency_retrieval_overlap"),
    RunsRbo: ("passages: rank-biased overlap", "consistency_retrieval_rbo"),
}
"""The metrics of pairs of runs: title, and column in ``consistency.csv`` (empty where it has none;
of precision, recall and F it holds F)."""

_STATS: Mapping[str, tuple[str, int]] = {
    "mean": ("mean", 0),
    "variance": ("variance", 2),
    "cv": ("CV", 1),
    "median": ("median", 8),
    "std": ("std", 7),
    "max_min": ("range", 5),
    "iqr": ("IQR", 6),
    "consistency_adjusted_index": ("CAI", 4),
    "flip": ("flips", 3),
}
"""The head of each statistic over the runs of a query, and when a narrow terminal leaves its column
out: the highest number first, 0 never."""

_Rows = dict[str, MetricSummary]
"""What each row says how many queries of were scored."""


def consistency_report(summary: Summary) -> Report:
    """The consistency of the runs of each query."""
    pairs: _Rows = {}
    spreads: dict[str, _Rows] = {}
    others: _Rows = {}
    for entry in summary.metrics.values():
        try:
            metric = naming.parse(entry.metric)
        except UsageError:  # a person's own, which only the run knew
            metric = None
        if isinstance(metric, OfMetric):
            spreads.setdefault(metric.of, {})[metric.stat] = entry
        elif metric is not None and type(metric) in SIMILARITIES:
            tail = str(metric).removeprefix(metric.name).removesuffix(".f")
            space = " " if tail.startswith("(") else ""
            pairs[f"{SIMILARITIES[type(metric)][0]}{space}{tail}"] = entry
        else:
            others[entry.name] = entry
    size = wording.plural(summary.n_queries, "query")
    if summary.n_samples != summary.n_queries:
        size += f" by several systems, {wording.plural(summary.n_samples, 'group')}"
    blocks = (
        _table("runs compared two by two", pairs, _values(pairs)),
        _spreads(spreads, summary),
        _table("metric", others, _values(others)),
        lines(_notes(summary, pairs, spreads)),
        lines(summary.warnings, "warning"),
    )
    return Report(summary.title, blocks, f"consistency of repeated runs of {size}")


def _values(rows: _Rows) -> dict[Column, list[str]]:
    intervals = [wording.bounds(one.low, one.high) for one in rows.values()]
    return {Column("value"): [*map(_mean, rows.values())], Column("interval", drop=1): intervals}


def _spreads(spreads: Mapping[str, _Rows], summary: Summary) -> Table:
    """The statistics over the runs of a query, a row a metric, with its ICC."""
    columns = {
        Column(head, drop=drop): [_stat(row, row.get(stat)) for row in spreads.values()]
        for stat, (head, drop) in _STATS.items()
        if any(stat in row for row in spreads.values())
    }
    if any(name in summary.variances for name in spreads):
        parts = (summary.variances.get(name) for name in spreads)
        iccs = [wording.number(None if one is None else one.icc) for one in parts]
        columns[Column("ICC", drop=3)] = iccs
    most = {name: _most(row) for name, row in spreads.items()}
    return _table("metric over the runs of a query", most, columns)


def _most(row: _Rows) -> MetricSummary:
    return max(row.values(), key=lambda one: one.n_scored)


def _own_count(row: _Rows, one: MetricSummary) -> str:
    """The count of a value that is a mean over fewer queries than its row says, as a CV without the
    means of 0 is; else empty."""
    own = one.mean is not None and one.n_scored != _most(row).n_scored
    return f" ({wording.coverage(one)})" if own else ""


def _stat(row: _Rows, one: MetricSummary | None) -> str:
    return _mean(one) + ("" if one is None else _own_count(row, one))


def _table(first: str, rows: _Rows, columns: Mapping[Column, Sequence[str]]) -> Table:
    """A row for each name, with the number of scored queries, and below it why there is none."""
    cells = zip(*columns.values(), strict=True)
    shown = (
        [Cell(name, below=_why(one)), *values, wording.coverage(one)]
        for (name, one), values in zip(rows.items(), cells, strict=True)
    )
    return table([Column(first, "name"), *columns, Column("scored")], shown)


def _why(one: MetricSummary) -> tuple[str, ...]:
    return () if one.n_scored else (f"unscored: {wording.reasons(one.unscored)}",)


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)


def _notes(summary: Summary, pairs: _Rows, spreads: Mapping[str, _Rows]) -> Iterator[str]:
    """What a reader must know to read the tables; one sentence each."""
    yield sentence("values_over", what=summary.averaged_over)
    if pairs:
        yield sentence("pairs_of_runs")
    if spreads:
        yield sentence("spread_of_runs")
    if any(_own_count(row, one) for row in spreads.values() for one in row.values()):
        yield sentence("own_count")
    if any(name in summary.variances for name in spreads):
        yield sentence("icc")
