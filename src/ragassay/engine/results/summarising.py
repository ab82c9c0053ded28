"""From columns of scores to a summary with intervals, counts and slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.base.printable import plural
from ragassay.base.score import Reason
from ragassay.engine.results.score_columns import Mask, ScoreColumns, label_of
from ragassay.engine.results.slicing import labels_of
from ragassay.engine.results.summary import MetricSummary, Slice
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.stats.intervals import Bounds, Interval, Span, mean_interval
from ragassay.stats.percentiles import percentile_interval
from ragassay.suites import Suite
from ragassay.texts.document_names import CONVERSATION_KEYS

GEOMETRIC_FLOOR = 1e-5
"""Zeros count as this in a geometric mean (trec_eval's MIN_GEO_MEAN)."""


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are computed: see `ragassay.stats.intervals`."""

    method: str = "auto"
    level: float = 0.95

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> IntervalOptions:
        """Those that the configuration of a run (``run.yaml``) names."""
        return cls(config.get("interval", "auto"), config.get("level", 0.95))


def describe(name: str, metric: Metric, level: float, **more: Any) -> MetricSummary:
    """The summary of a metric that has no scores yet; ``more`` are other fields of it."""
    return MetricSummary(
        name=name,
        title=metric.about,
        family=metric.family,
        level=level,
        aggregate=metric.aggregation,
        higher_is_better=metric.higher_is_better,
        bounds=(metric.low, metric.high),
        metric=str(metric),
        **({"signature": metric.signature} | more),
    )


def summarise(
    columns: ScoreColumns,
    metrics: Sequence[MetricSummary],
    options: IntervalOptions,
    crowded: list[str] | None = None,
) -> dict[str, MetricSummary]:
    """The metrics with their numbers over all samples, by name. To ``crowded`` are added the names
    of those whose scores are nearly all so close to one end of the range that the interval may be
    too narrow."""
    all_samples = np.ones(len(columns), dtype=np.bool_)
    clusters = sample_clusters(columns)
    found = [] if crowded is None else crowded
    return {m.name: _over(columns, m, all_samples, clusters, options, found) for m in metrics}


def slice_summaries(
    columns: ScoreColumns,
    metrics: Sequence[MetricSummary],
    options: IntervalOptions,
    queries: Container[str] | None = None,
) -> tuple[Slice, ...]:
    """The metrics with their numbers for each value of each slicing column, largest slice first.

    A sample with several labels in a column (a list) is in the slice of each."""
    clusters = sample_clusters(columns)
    slices = []
    for column, values in columns.slices.items():
        labels = [
            labels_of(value) if queries is None or query in queries else ()
            for value, (query, _, _) in zip(values, columns.identities, strict=True)
        ]
        counts = Counter(label for each in labels for label in each)
        for value, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            mask = np.fromiter((value in each for each in labels), np.bool_, len(labels))
            chosen = {
                m.name: _over(columns, m, mask, clusters, options, [])
                for m in metrics
                if m.aggregate == "mean" or m.percentile is not None
            }
            slices.append(Slice(column, value, n, chosen))
    return tuple(slices)


def averaged_over(
    columns: ScoreColumns,
    cluster_by: str | None,
    *,
    from_ids: bool = False,
) -> str:
    """The samples that the means of a run go over and the clusters of its intervals, in words."""
    n, n_queries = len(columns), columns.n_queries
    queries = plural(n_queries, "query")
    text = queries if n == n_queries else f"{n:,} samples of {queries}"
    if cluster_by is not None:
        text += f", by {cluster_by}"
        if from_ids and cluster_by in CONVERSATION_KEYS:
            text += " (the ids hold it)"
    elif n != n_queries:
        text += ", by query"
    return text


def sample_clusters(columns: ScoreColumns) -> NDArray[np.int64] | None:
    """Each sample's cluster as a number, or ``None`` when samples are independent.

    Samples cluster by the column that was asked for; else by query, where a query occurs more than
    once (repeats of a query are not independent evidence)."""
    keys: Sequence[str] = columns.clusters or [identity[0] for identity in columns.identities]
    codes: Mapping[str, int] = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    if len(codes) == len(keys):
        return None
    return np.fromiter((codes[key] for key in keys), dtype=np.int64, count=len(keys))


def n_incomplete(metrics: Iterable[MetricSummary]) -> int:
    """How many scores of some metrics are missing by a failure."""
    unscored = (item for metric in metrics for item in metric.unscored.items())
    return sum(n for reason, n in unscored if Reason(reason).incomplete)


def _over(
    columns: ScoreColumns,
    metric: MetricSummary,
    mask: Mask,
    clusters: NDArray[np.int64] | None,
    options: IntervalOptions,
    crowded: list[str],
) -> MetricSummary:
    """A metric with its numbers over the samples of a mask; see `summarise`."""
    chosen = columns.averaged(metric.name, mask)
    values = columns.values(metric.name)[chosen]
    interval = interval_of(metric, values, None if clusters is None else clusters[chosen], options)
    if interval.crowded and metric.aggregate == "mean":
        crowded.append(metric.name)
    tally = columns.tally(metric.name, mask)
    assumed = columns.assumed(metric.name) & mask
    n_assumed = int(assumed.sum())
    measured = columns.values(metric.name)[chosen & ~assumed] if n_assumed else values[:0]
    return replace(
        metric,
        mean=interval.mean,
        low=interval.low,
        high=interval.high,
        level=options.level,
        interval=interval.method if interval.low is not None else "none",
        n_scored=tally.n_scored,
        n_total=int(mask.sum()),
        n_clusters=interval.n_clusters,
        std=float(values.std(ddof=1)) if values.size > 1 else None,
        median=float(np.median(values)) if values.size else None,
        minimum=float(values.min()) if values.size else None,
        maximum=float(values.max()) if values.size else None,
        unscored=tally.reasons,
        labels=tally.labels,
        n_assumed=n_assumed,
        mean_measured=float(measured.mean()) if measured.size else None,
        n_given=tally.n_given,
        judges=tally.judges,
        judge=label_of(tally.judges) if tally.judges else metric.judge,
        language=metric.language if tally.judges or metric.judge else "",
    )


def interval_of(
    metric: MetricSummary,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    options: IntervalOptions,
) -> Interval:
    """A metric's aggregate of some values (mean, sum, percentile ...) with its interval.

    A sum has no interval. That of a percentile lies between two of the ordered values, whatever
    method is chosen for means. The interval of a geometric mean is computed on logarithms. Bounds
    are cut at the metric's range, because the true mean lies inside it."""
    floor, ceiling = metric.bounds
    if metric.aggregate == "sum" or not values.size:
        total = float(values.sum()) if values.size else None
        return Interval(total, None, None, options.level, "none", values.size)
    if metric.percentile is not None:
        return percentile_interval(
            values, metric.percentile, level=options.level, clusters=clusters
        )
    geometric = metric.aggregate == "geometric"
    if geometric:
        values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        floor = np.log(GEOMETRIC_FLOOR) if floor == 0.0 else None
        ceiling = None if ceiling is None else float(np.log(ceiling))
    interval = mean_interval(
        values,
        span=(floor, ceiling),
        method=options.method,
        level=options.level,
        clusters=clusters,
    )
    mean, (low, high) = interval.mean, cut(interval.low, interval.high, (floor, ceiling))
    if geometric:
        mean, low, high = (None if x is None else float(np.exp(x)) for x in (mean, low, high))
    return replace(interval, mean=mean, low=low, high=high)


def cut(low: float | None, high: float | None, span: Span) -> Bounds:
    """The bounds, cut at the ends of a metric's range, where there are any."""
    floor, ceiling = span
    return (
        low if low is None or floor is None else max(low, floor),
        high if high is None or ceiling is None else min(high, ceiling),
    )


def totals(suites: Iterable[Suite], metrics: Iterable[MetricSummary]) -> dict[str, float]:
    """The totals of the suites, by name.

    A total is left out where one of its metrics was not computed, or lacks samples for a reason
    other than the data: the total would describe other samples than it says."""
    every = {name: total for suite in suites for name, total in suite.totals.items()}
    if not every:
        return {}
    means = {plain(metric.metric): metric.mean for metric in metrics if lacks_no_sample(metric)}
    return {
        name: total.compute(**{role: means[metric] for role, metric in total.means.items()})
        for name, total in every.items()
        if means.keys() >= set(total.means.values())
    }


def lacks_no_sample(metric: MetricSummary) -> bool:
    """Whether a metric has a mean, and each sample without a score lacks it because of what it or
    the system holds, not because of a judge's failure or a missing model."""
    facts = (Reason.NOT_APPLICABLE, Reason.UNDEFINED)
    return metric.mean is not None and all(
        Reason(reason).excused in facts for reason in metric.unscored
    )


def plain(name: str) -> str:
    """A metric's name without its parameter ``given``: with and without it is the same metric."""
    if "given=" not in name:
        return name
    return str(naming.with_parameters(naming.parse(name), {"given": True}))
