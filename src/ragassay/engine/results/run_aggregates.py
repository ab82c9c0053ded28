"""Figures of a whole run, made of its metrics' means."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.core import naming
from ragassay.scores import Reason
from ragassay.suites import Suite

FACTS = frozenset({Reason.NOT_APPLICABLE, Reason.UNDEFINED})
"""Reasons that lie in the sample. A mean without such samples is still the metric's mean; one that
lacks samples for any other reason (a judge's failure, a missing model) is not."""


def totals(suites: Iterable[Suite], metrics: Iterable[MetricSummary]) -> dict[str, float]:
    """The totals of the suites, by name.

    A total is left out where one of its metrics was not computed, or lacks samples for a reason
    other than the data: the total would describe other samples than it says.

    Args:
        suites: of the run.
        metrics: summaries of its metrics.
    """
    means = {plain(metric.metric): metric.mean for metric in metrics if lacks_no_sample(metric)}
    return {
        name: total.compute(**{role: means[metric] for role, metric in total.means.items()})
        for suite in suites
        for name, total in suite.totals.items()
        if means.keys() >= set(total.means.values())
    }


def lacks_no_sample(metric: MetricSummary) -> bool:
    """Whether a metric has a mean, and each sample that it lacks could not be scored because of its
    data.
    """
    return metric.mean is not None and FACTS.issuperset(map(Reason, metric.unscored))


def plain(name: str) -> str:
    """A metric's name whether or not it takes given values: both are the same metric's mean."""
    return (
        str(naming.with_parameters(naming.parse(name), {"given": True}))
        if "given=" in name
        else name
    )
