"""The consistency of a run as the rows of two tables.

One row a metric with its mean, variance and coefficient of variation (each the mean over queries),
how often a verdict flips and where the variance comes from; one row for each way in which answers
and retrieval are compared, two runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
from ragassay.reports.text import wording
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


@dataclass
class Alike:
    """How alike the runs are in one respect: precision, recall and the value itself (F)."""

    title: str
    parts: dict[str, MetricSummary] = field(default_factory=dict)

    @property
    def value(self) -> MetricSummary:
        """F, or the only value."""
        return self.parts.get("f") or next(iter(self.parts.values()))

    @property
    def has_direction(self) -> bool:
        """Whether there are precision and recall."""
        return {"p", "r"} <= self.parts.keys()


@dataclass
class Spreads:
    """The spread of one metric over the runs of a query."""

    name: str
    stats: dict[str, MetricSummary] = field(default_factory=dict)
    variance: Components | None = None

    @property
    def counted(self) -> MetricSummary:
        """The statistic with the most scored queries, whose count is shown for the row."""
        return max(self.stats.values(), key=lambda one: one.n_scored)


@dataclass
class Overview:
    """What a consistency's summary says, as rows of two tables."""

    alike: list[Alike]
    spreads: list[Spreads]
    others: list[MetricSummary]

    @property
    def stats(self) -> list[str]:
        """The statistics that any metric has, in their order."""
        return [stat for stat in HEADS if any(stat in one.stats for one in self.spreads)]

    @property
    def several_systems(self) -> bool:
        """Whether the components of a variance include systems."""
        return any(one.variance and one.variance.system is not None for one in self.spreads)


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, whether the run is given or that itself; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def overview(summary: Summary) -> Overview:
    """The rows of a consistency's summary."""
    alike: dict[str, Alike] = {}
    spreads: dict[str, Spreads] = {}
    others = []
    for entry in summary.metrics.values():
        metric = _parsed(entry.metric)
        if isinstance(metric, OfMetric):
            one = spreads.setdefault(metric.of, Spreads(metric.of))
            one.stats[metric.stat] = entry
        elif metric is not None and type(metric) in SIMILARITIES:
            base, part = str(metric), getattr(metric, "part", "")
            key = base.removesuffix(f".{part}") if part else base
            tail = key.removeprefix(metric.name)
            title = SIMILARITIES[type(metric)][0] + (f" {tail}" if tail else "")
            alike.setdefault(key, Alike(title)).parts[part] = entry
        else:
            others.append(entry)
    for name, one in spreads.items():
        one.variance = summary.variances.get(name)
    return Overview(list(alike.values()), list(spreads.values()), others)


def _parsed(name: str) -> Metric | None:
    try:
        return naming.parse(name)
    except UsageError:
        return None


def has_own_count(row: Spreads, entry: MetricSummary) -> bool:
    """Whether a value is a mean over fewer queries than its row says, as a CV without the means of
    0 is.

    Args:
        row: of the table.
        entry: one of its values.
    """
    return entry.mean is not None and entry.n_scored != row.counted.n_scored


def share(parts: Components | None, of: Callable[[Components], float | None]) -> str:
    """A component as a share of all components; a dash where there is none.

    Args:
        parts: components of a variance.
        of: gives the component.
    """
    if parts is None:
        return wording.NOTHING
    given = (parts.query, parts.system, parts.query_system, parts.repeat)
    value, total = of(parts), sum(component or 0.0 for component in given)
    if value is None or total <= 0:
        return wording.NOTHING
    return f"{round(100 * value / total)} %"


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
    if any(has_own_count(row, entry) for row in rows.spreads for entry in row.stats.values()):
        sentences.append(
            "(n/total) beside a number: it runs over these alone, not over all scored."
        )
    if any(one.variance for one in rows.spreads):
        sentences.append(
            "ICC(1): share of the variance that lies between queries"
            f"{' and systems' if rows.several_systems else ''}, not between repeats of one; near 1 "
            "the repeats agree."
            f"{_SHARES if rows.several_systems else ''} Estimates may fall below 0."
        )
    return sentences
