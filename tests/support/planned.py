"""The plan for samples, walked in windows as a run's preview walks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.base.sample import Sample
from ragassay.engine.run.cost_estimate import CallPlan, Planner, Throughput
from ragassay.judges.judge import Judge
from ragassay.metrics.core.metric import Metric
from ragassay.transport.providers_and_prices import Price


def plan_calls(
    samples: Sequence[Sample],
    metrics: Mapping[str, Metric],
    judge: Judge,
    *,
    throughput: Throughput | None = None,
    price: Price | None = None,
    window: int = 4,
) -> CallPlan:
    """What a `Planner` says of them."""
    with Planner(metrics, judge, throughput=throughput, price=price) as planner:
        for start in range(0, len(samples), window):
            planner.add(samples[start : start + window])
        return planner.plan()
