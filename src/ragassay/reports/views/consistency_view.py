"""What the consistency of a run shows: a row a metric with its statistics over the runs of a query
(each the mean over queries), and one for each way in which runs are compared two by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
"""The metrics of pairs of runs: title, and column in ``consistency.csv`` (F's; else empty)."""

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
"""The head of each statistic over the runs of a query, and the `Column.drop` of its column."""

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
    most = {
        name: max(row.values(), key=lambda value: value.n_scored) for name, row in spreads.items()
    }
    columns: dict[Column, list[str]] = {}
    own = False
    for stat, (head, drop) in _STATS.items():
        if any(stat in row for row in spreads.values()):
            cells = columns[Column(head, drop=drop)] = []
            for name, row in spreads.items():
                cells.append(_mean(found := row.get(stat)))
                # A CV without the means of 0 is a mean over fewer queries than its row says.
                if found and found.mean is not None and found.n_scored != most[name].n_scored:
                    own = True
                    cells[-1] += f" ({wording.coverage(found)})"
    icc = any(name in summary.variances for name in spreads)
    if icc:
        known = (summary.variances.get(name) for name in spreads)
        columns[Column("ICC", drop=3)] = [wording.number(c.icc if c else None) for c in known]
    kinds = {"pairs_of_runs": pairs, "spread_of_runs": spreads, "own_count": own, "icc": icc}
    notes = [sentence("values_over", what=summary.averaged_over)]
    notes += [sentence(kind) for kind, holds in kinds.items() if holds]
    size = wording.plural(summary.n_queries, "query")
    if summary.n_samples != summary.n_queries:
        size += f" by several systems, {wording.plural(summary.n_samples, 'group')}"
    blocks = (
        _table("runs compared two by two", pairs, _values(pairs)),
        _table("metric over the runs of a query", most, columns),
        _table("metric", others, _values(others)),
        lines(notes),
        lines(summary.warnings, "warning"),
    )
    return Report(summary.title, blocks, f"consistency of repeated runs of {size}")


def _values(rows: _Rows) -> dict[Column, list[str]]:
    intervals = [wording.bounds(row.low, row.high) for row in rows.values()]
    return {Column("value"): [*map(_mean, rows.values())], Column("interval", drop=1): intervals}


def _table(first: str, rows: _Rows, columns: Mapping[Column, Sequence[str]]) -> Table:
    """A row for each name, with the number of scored queries, and below it why there is none."""
    shown = []
    for (name, value), *values in zip(rows.items(), *columns.values(), strict=True):
        why = () if value.n_scored else (f"unscored: {wording.reasons(value.unscored)}",)
        shown.append([Cell(name, below=why), *values, wording.coverage(value)])
    return table([Column(first, "name"), *columns, Column("scored")], shown)


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)
