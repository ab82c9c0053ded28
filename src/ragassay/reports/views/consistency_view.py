"""What the consistency of a run shows.

One row a metric with its mean, variance and coefficient of variation (each the mean over queries),
how often a verdict flips and where the variance comes from; one row for each way in which answers
and retrieval are compared, two runs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from ragassay.reports.model import Block, Column, Report, Table, lines, table, without_empty
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.stats.repeats import Components

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

_HEADS: Mapping[str, str] = {
    "mean": "mean",
    "variance": "variance",
    "cv": "CV",
    "median": "median",
    "std": "std",
    "max_min": "range",
    "iqr": "IQR",
    "consistency_adjusted_index": "CAI",
    "flip": "flips",
}
"""Titles of the statistics, by their short names."""

_SHARES = ("query", "system", "query x system", "repeat")
_DROPPED = (
    *(("CV",), ("interval",), ("variance",), ("flips",), ("P", "R"), ("ICC",), ("CAI",)),
    *(("range",), ("IQR",), ("std",), ("median",), _SHARES),
)
"""The columns that a narrow terminal leaves out, the last first. Names, means and coverage stay."""
_DROP = {head: at for at, heads in enumerate(_DROPPED, start=1) for head in heads}

_Stats = dict[str, MetricSummary]
"""Summaries by the names of statistics, or of parts (precision, recall, F)."""


@dataclass
class _Overview:
    """The rows: how alike the runs are, by title (precision, recall and the value itself), the
    statistics of each metric over the runs of a query, metrics of another kind, and where the
    variance of a metric comes from."""

    similarities: dict[str, _Stats]
    spreads: dict[str, _Stats]
    others: dict[str, _Stats]
    variances: Mapping[str, Components]

    @property
    def sources(self) -> Sequence[str]:
        """Where variance may come from, beside queries and repeats in one number."""
        several = any(parts.system is not None for parts in self.variances.values())
        return _SHARES if several else ()


def consistency_report(summary: Summary) -> Report:
    """The consistency of the runs of each query."""
    rows = _overview(summary)
    size = wording.plural(summary.n_queries, "query")
    if summary.n_samples != summary.n_queries:
        size += f" by several systems, {wording.plural(summary.n_samples, 'group')}"
    notes, warnings = lines(_notes(summary, rows)), lines(summary.warnings, "warning")
    blocks: tuple[Block, ...] = (*_tables(rows), notes, warnings)
    return Report(summary.title, blocks, f"consistency of repeated runs of {size}")


def _overview(summary: Summary) -> _Overview:
    rows = _Overview({}, {}, {}, {})
    for entry in summary.metrics.values():
        try:
            metric = naming.parse(entry.metric)
        except UsageError:  # a person's own, which only the run knew
            metric = None
        if isinstance(metric, OfMetric):
            rows.spreads.setdefault(metric.of, {})[metric.stat] = entry
        elif metric is not None and type(metric) in SIMILARITIES:
            part = getattr(metric, "part", "")
            tail = str(metric).removesuffix(f".{part}").removeprefix(metric.name)
            title = f"{SIMILARITIES[type(metric)][0]} {tail}".rstrip()
            rows.similarities.setdefault(title, {})[part] = entry
        else:
            rows.others[entry.name] = {"mean": entry}
    rows.variances = {name: one for name, one in summary.variances.items() if name in rows.spreads}
    return rows


def _tables(rows: _Overview) -> Iterator[Table]:
    """One for each kind of rows that there is."""
    if similar := rows.similarities:
        values = {
            title: parts.get("f") or next(iter(parts.values())) for title, parts in similar.items()
        }
        columns = {
            "P": [_mean(parts.get("p")) for parts in similar.values()],
            "R": [_mean(parts.get("r")) for parts in similar.values()],
            "F1/value": [_mean(one) for one in values.values()],
            "interval": [wording.bounds(one.low, one.high) for one in values.values()],
        }
        if not any({"p", "r"} <= parts.keys() for parts in similar.values()):
            columns = {"value": columns["F1/value"], "interval": columns["interval"]}
        yield _table("runs compared two by two", values, columns)
    if spreads := rows.spreads:
        columns = {
            head: [_stat(row, stat) for row in spreads.values()]
            for stat, head in _HEADS.items()
            if any(stat in row for row in spreads.values())
        }
        if rows.variances:
            found = [_variance(rows.variances.get(name)) for name in spreads]
            for at, head in enumerate(("ICC", *rows.sources)):
                columns[head] = [one[at] for one in found]
        counts = {name: _counts(row) for name, row in spreads.items()}
        yield _table("metric over the runs of a query", counts, columns)
    if rows.others:
        means = {name: row["mean"] for name, row in rows.others.items()}
        yield _table("metric", means, {"mean": [_mean(one) for one in means.values()]})


def _table(
    first: str, counts: Mapping[str, MetricSummary], columns: Mapping[str, Sequence[str]]
) -> Table:
    """A row for each name, with the number of scored queries, or why there is none."""
    gaps = ["" if one.n_scored else wording.reasons(one.unscored) for one in counts.values()]
    pairs = ((gap, name) for gap, name in zip(gaps, counts, strict=True) if gap)
    instead = tuple(wording.sentences("Unscored: {}: {}.", pairs))
    heads = [
        Column(first, "name"),
        *(Column(head, drop=_DROP.get(head, 0)) for head in columns),
        Column("scored"),
        Column("unscored", "words", len(_DROPPED) + 1, instead),
    ]
    scored = map(wording.coverage, counts.values())
    return without_empty(table(heads, zip(counts, *columns.values(), scored, gaps, strict=True)))


def _variance(parts: Components | None) -> list[str]:
    """ICC, and the components as shares of all of them; dashes where there is none."""
    if parts is None:
        return [wording.NOTHING] * (1 + len(_SHARES))
    components = (parts.query, parts.system, parts.query_system, parts.repeat)
    total = sum(one or 0.0 for one in components)
    shares = (
        wording.NOTHING if one is None or total <= 0 else f"{round(100 * one / total)} %"
        for one in components
    )
    return [wording.number(parts.icc), *shares]


def _stat(row: _Stats, stat: str) -> str:
    """A statistic; with its own count where that differs from the count of its row."""
    entry = row.get(stat)
    own = f" ({wording.coverage(entry)})" if entry and _has_own_count(row, entry) else ""
    return f"{_mean(entry)}{own}"


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)


def _counts(stats: _Stats) -> MetricSummary:
    """The statistic with the most scored queries, whose count is shown for the row."""
    return max(stats.values(), key=lambda one: one.n_scored)


def _has_own_count(stats: _Stats, entry: MetricSummary) -> bool:
    """Whether a value is a mean over fewer queries than its row says, as a CV without the means of
    0 is.
    """
    return entry.mean is not None and entry.n_scored != _counts(stats).n_scored


def _notes(summary: Summary, rows: _Overview) -> Iterator[str]:
    """What a reader must know to read the tables; one sentence each."""
    yield sentence("values_over", what=summary.averaged_over)
    if rows.similarities:
        yield sentence("pairs_of_runs")
    if rows.spreads:
        yield sentence("spread_of_runs")
    if any(_has_own_count(row, entry) for row in rows.spreads.values() for entry in row.values()):
        yield sentence("own_count")
    if rows.variances:
        yield sentence("icc_of_systems") if rows.sources else sentence("icc")
