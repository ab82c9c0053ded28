"""The consistency of a run as the rows of two tables.

One row a metric with its mean, variance and coefficient of variation (each the mean over queries),
how often a verdict flips and where the variance comes from; one row for each way in which answers
and retrieval are compared, two runs at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragassay.engine.results import MetricSummary, Result, Summary
from ragassay.errors import UsageError
from ragassay.metrics.consistency import (
    OfMetric,
    RunsBertScore,
    RunsOverlap,
    RunsRbo,
    RunsRouge1,
    RunsRouge2,
    RunsRougeL,
    RunsRougeOre,
)
from ragassay.metrics.core import Metric, naming
from ragassay.stats import Components

SIMILARITIES: Mapping[type[Metric], tuple[str, str]] = {
    RunsBertScore: ("answers: BERTScore", "consistency_bert_score"),
    RunsRougeL: ("answers: ROUGE-L", "consistency_rouge_score"),
    RunsRouge1: ("answers: ROUGE-1", "consistency_rouge1_score"),
    RunsRouge2: ("answers: ROUGE-2", "consistency_rouge2_score"),
    RunsRougeOre: ("answers: ROUGE-L (ore)", ""),
    RunsOverlap: ("passages: overlap (Jaccard)", "consistency_retrieval_overlap"),
    RunsRbo: ("passages: rank-biased overlap", "consistency_retrieval_rbo"),
}
"""What is compared pair by pair: its title, and its column in ``consistency.csv`` (empty where it
has none; of precision, recall and F it is F)."""

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


_SHARES = " The shares of query, system, their interplay and repeat add up to 100 %."


Stats = dict[str, MetricSummary]
"""Summaries by the names of statistics, or of parts (precision, recall, F)."""


@dataclass
class Overview:
    """What a consistency's summary says, as rows of tables.

    Attributes:
        alike: how alike the runs are in each respect: precision, recall and the value itself, by
            title.
        spreads: the statistics of each metric over the runs of a query.
        others: metrics of another kind.
        variances: where the variance of a metric comes from.
    """

    alike: dict[str, Stats]
    spreads: dict[str, Stats]
    others: list[MetricSummary]
    variances: Mapping[str, Components]

    @property
    def several_systems(self) -> bool:
        """Whether the components of a variance include systems."""
        return any(parts.system is not None for parts in self.variances.values())


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, whether the run is given or that itself; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def overview(summary: Summary) -> Overview:
    """The rows of a consistency's summary."""
    alike: dict[str, Stats] = {}
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
            alike.setdefault(title, {})[part] = entry
        else:
            others.append(entry)
    variances = {name: parts for name, parts in summary.variances.items() if name in spreads}
    return Overview(alike, spreads, others, variances)


def _parsed(name: str) -> Metric | None:
    try:
        return naming.parse(name)
    except UsageError:
        return None


def counted(stats: Stats) -> MetricSummary:
    """The statistic with the most scored queries, whose count is shown for the row."""
    return max(stats.values(), key=lambda one: one.n_scored)


def has_own_count(stats: Stats, entry: MetricSummary) -> bool:
    """Whether a value is a mean over fewer queries than its row says, as a CV without the means of
    0 is.

    Args:
        stats: of the row.
        entry: one of them.
    """
    return entry.mean is not None and entry.n_scored != counted(stats).n_scored


def notes(summary: Summary, rows: Overview) -> list[str]:
    """What a reader must know to read the tables; one sentence each.

    Args:
        summary: of the consistency.
        rows: of the tables.
    """
    sentences = [f"Each value is a mean over {summary.averaged_over}."]
    if rows.alike:
        sentences.append(
            "Answers and passages: each pair of runs of a query is compared; P is of the later "
            "run's against the earlier's."
        )
    if rows.spreads:
        sentences.append(
            "variance: of the sample (n - 1); CV: its root over the mean, unscored at mean 0. Over "
            "the runs of a query, then the mean over queries."
        )
    if any(has_own_count(row, entry) for row in rows.spreads.values() for entry in row.values()):
        sentences.append(
            "(n/total) beside a number: it runs over these alone, not over all scored."
        )
    if rows.variances:
        sentences.append(
            "ICC(1): share of the variance that lies between queries"
            f"{' and systems' if rows.several_systems else ''}, not between repeats of one; near 1 "
            "the repeats agree."
            f"{_SHARES if rows.several_systems else ''} Estimates may fall below 0."
        )
    return sentences
