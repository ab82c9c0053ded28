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

HEADS: Mapping[str, str] = {
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


_ADD_UP = " The shares of query, system, their interplay and repeat add up to 100 %."


Stats = dict[str, MetricSummary]
"""Summaries by the names of statistics, or of parts (precision, recall, F)."""


@dataclass
class _Overview:
    """The rows: how alike the runs are, by title (precision, recall and the value itself), the
    statistics of each metric over the runs of a query, metrics of another kind, and where the
    variance of a metric comes from."""

    similarities: dict[str, Stats]
    spreads: dict[str, Stats]
    others: list[MetricSummary]
    variances: Mapping[str, Components]

    @property
    def several_systems(self) -> bool:
        return any(parts.system is not None for parts in self.variances.values())


UNSCORED = "unscored"
_SHARES = ("query", "system", "query x system", "repeat")
_DROPPED = (
    *((HEADS["cv"],), ("interval",), (HEADS["variance"],), (HEADS["flip"],), ("P", "R"), ("ICC",)),
    *((HEADS["consistency_adjusted_index"],), (HEADS["max_min"],), (HEADS["iqr"],)),
    *((HEADS["std"],), (HEADS["median"],), _SHARES, (UNSCORED,)),
)
"""The columns that a narrow terminal leaves out, the last first. Names, means and coverage stay."""
_DROP = {head: at for at, heads in enumerate(_DROPPED, start=1) for head in heads}


def consistency_report(summary: Summary) -> Report:
    """The consistency of the runs of each query."""
    rows = _overview(summary)
    sentences = lines(_notes(summary, rows))
    blocks: tuple[Block, ...] = (*_tables(rows), sentences, lines(summary.warnings, "warning"))
    about = f"consistency of repeated runs of {_size(summary)}"
    return Report(summary.title, blocks, about)


def _size(summary: Summary) -> str:
    """How many queries; with several systems also in how many groups."""
    queries = wording.plural(summary.n_queries, "query")
    if summary.n_samples == summary.n_queries:
        return queries
    return f"{queries} by several systems, {wording.plural(summary.n_samples, 'group')}"


def _tables(rows: _Overview) -> Iterator[Table]:
    """One for each kind of rows that there is."""
    if rows.similarities:
        yield _similarity_table(rows.similarities)
    if rows.spreads:
        yield _spread_table(rows)
    if rows.others:
        cells = [[one.name, wording.number(one.mean), wording.coverage(one)] for one in rows.others]
        yield _table(["metric", "mean", "scored"], cells)


def _similarity_table(similarities: Mapping[str, Stats]) -> Table:
    shown = ["p", "r"] if any({"p", "r"} <= parts.keys() for parts in similarities.values()) else []
    heads = ["runs compared two by two", *(["P", "R", "F1/value"] if shown else ["value"])]
    values = [parts.get("f") or next(iter(parts.values())) for parts in similarities.values()]
    cells = [
        [
            title,
            *(_mean(one) for one in (*map(parts.get, shown), value)),
            wording.bounds(value.low, value.high),
        ]
        for (title, parts), value in zip(similarities.items(), values, strict=True)
    ]
    return _counted([*heads, "interval"], cells, values)


def _spread_table(rows: _Overview) -> Table:
    stats = [stat for stat in HEADS if any(stat in row for row in rows.spreads.values())]
    sources = ["ICC", *(_SHARES if rows.several_systems else ())] if rows.variances else []
    heads = ["metric over the runs of a query", *(HEADS[stat] for stat in stats), *sources]
    cells = [
        [
            name,
            *(_stat(row, stat) for stat in stats),
            *_variance(rows.variances.get(name))[: len(sources)],
        ]
        for name, row in rows.spreads.items()
    ]
    return _counted(heads, cells, [_counts(row) for row in rows.spreads.values()])


def _counted(
    heads: list[str], cells: Sequence[list[str]], counts: Sequence[MetricSummary]
) -> Table:
    """The table with the number of scored queries, and the reasons where none was scored."""
    gaps = [wording.reasons(one.unscored) if one.n_scored == 0 else "" for one in counts]
    full = [
        [*line, wording.coverage(one), gap]
        for line, one, gap in zip(cells, counts, gaps, strict=True)
    ]
    named = zip(gaps, (line[0] for line in cells), strict=True)
    instead = wording.sentences("Unscored: {}: {}.", (pair for pair in named if pair[0]))
    return without_empty(_table([*heads, "scored", UNSCORED], full, tuple(instead)))


def _table(
    heads: Sequence[str], cells: Sequence[Sequence[str]], unscored: tuple[str, ...] = ()
) -> Table:
    """The table with the columns that a narrow terminal leaves out."""
    first, *others = heads
    columns = (
        Column(head, "words", _DROP[head], unscored)
        if head == UNSCORED
        else Column(head, drop=_DROP.get(head, 0))
        for head in others
    )
    return table([Column(first, "name"), *columns], cells)


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


def _stat(row: Stats, stat: str) -> str:
    """A statistic; with its own count where that differs from the count of its row."""
    entry = row.get(stat)
    if entry is None or not _has_own_count(row, entry):
        return _mean(entry)
    return f"{_mean(entry)} ({wording.coverage(entry)})"


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)


def _overview(summary: Summary) -> _Overview:
    similarities: dict[str, Stats] = {}
    spreads: dict[str, Stats] = {}
    others = []
    for entry in summary.metrics.values():
        metric = _parsed(entry.metric)
        if isinstance(metric, OfMetric):
            spreads.setdefault(metric.of, {})[metric.stat] = entry
        elif metric is not None and type(metric) in SIMILARITIES:
            part = getattr(metric, "part", "")
            tail = str(metric).removesuffix(f".{part}").removeprefix(metric.name)
            title = f"{SIMILARITIES[type(metric)][0]} {tail}".rstrip()
            similarities.setdefault(title, {})[part] = entry
        else:
            others.append(entry)
    variances = {name: parts for name, parts in summary.variances.items() if name in spreads}
    return _Overview(similarities, spreads, others, variances)


def _parsed(name: str) -> Metric | None:
    try:
        return naming.parse(name)
    except UsageError:
        return None


def _counts(stats: Stats) -> MetricSummary:
    """The statistic with the most scored queries, whose count is shown for the row."""
    return max(stats.values(), key=lambda one: one.n_scored)


def _has_own_count(stats: Stats, entry: MetricSummary) -> bool:
    """Whether a value is a mean over fewer queries than its row says, as a CV without the means of
    0 is.
    """
    return entry.mean is not None and entry.n_scored != _counts(stats).n_scored


def _notes(summary: Summary, rows: _Overview) -> list[str]:
    """What a reader must know to read the tables; one sentence each."""
    sentences = [f"Each value is a mean over {summary.averaged_over}."]
    if rows.similarities:
        sentences.append(
            "Answers and passages: each pair of runs of a query is compared; P is of the later "
            "run's against the earlier's."
        )
    if rows.spreads:
        sentences.append(
            "variance: of the sample (n - 1); CV: its root over the mean, unscored at mean 0. Over "
            "the runs of a query, then the mean over queries."
        )
    if any(_has_own_count(row, entry) for row in rows.spreads.values() for entry in row.values()):
        sentences.append(
            "(n/total) beside a number: it runs over these alone, not over all scored."
        )
    if rows.variances:
        sentences.append(
            "ICC(1): share of the variance that lies between queries"
            f"{' and systems' if rows.several_systems else ''}, not between repeats of one; near 1 "
            "the repeats agree."
            f"{_ADD_UP if rows.several_systems else ''} Estimates may fall below 0."
        )
    return sentences
