"""Percentiles as metrics of a run: in its summary, in gates, between two runs."""

from typing import Any

import numpy as np
import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.stats.percentiles import percentile_interval


def served(factor: float, n: int = 120, repeats: int = 1) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    return [
        {
            "id": f"q{at}", "query": "Why?", "answer": "So.", "repeat": repeat,
            "metadata": {"asked": {"latency": float(factor * rng.lognormal())}, "lot": at % 2},
        }
        for at in range(n)
        for repeat in range(repeats)
    ]  # fmt: skip


def latencies(data: list[dict[str, Any]]) -> list[float]:
    return [one["metadata"]["asked"]["latency"] for one in data]


def test_a_percentile_is_a_metric_with_an_interval() -> None:
    data = served(1.0)
    result = ragassay.evaluate(data, ["latency", "latency_p95", "latency(percentile=62.5)"])
    tail = result.summary.metrics["latency_p95"]
    assert tail.mean == pytest.approx(float(np.percentile(latencies(data), 95)))
    assert tail.low is not None and tail.high is not None and tail.mean is not None
    assert tail.low < tail.mean < tail.high and tail.interval == "order-statistics"
    assert (tail.metric, tail.aggregate) == ("latency(percentile=95)", "p95")
    quarter = result.summary.metrics["latency(percentile=62.5)"]
    assert quarter.mean == pytest.approx(float(np.percentile(latencies(data), 62.5)))
    lots = [part.metrics["latency_p95"].mean for part in result.summary.slices]
    assert lots == pytest.approx([np.percentile(latencies(data)[at::2], 95) for at in (0, 1)])
    often = served(1.0, repeats=3)
    found = ragassay.evaluate(often, "latency_p95", level=0.8).summary.metrics["latency_p95"]
    ids = [one["id"] for one in often]
    expected = percentile_interval(latencies(often), 95, level=0.8, clusters=ids)
    assert (found.low, found.high, found.n_clusters) == (expected.low, expected.high, 120)
    mean = result.summary.metrics["latency"].mean
    assert mean == pytest.approx(float(np.mean(latencies(data))))


def test_a_gate_asks_of_a_percentile_like_of_a_mean() -> None:
    passed = ragassay.evaluate(served(1.0), "latency_p95", fail_under=["latency_p95<=100"])
    failed = ragassay.evaluate(served(1.0), "latency_p95", fail_under=["latency_p95<=0.1"])
    assert [one.passed for one in (*passed.gates, *failed.gates)] == [True, False]
    for percentile in (0, 100):
        with pytest.raises(UsageError, match="percentile must lie between 0 and 100"):
            ragassay.evaluate(served(1.0, 3), f"latency(percentile={percentile})")


def test_percentiles_are_compared_by_an_interval_and_get_no_verdict() -> None:
    data = [served(factor, repeats=2) for factor in (1.0, 3.0)]
    fast, slow = (ragassay.evaluate(one, ["latency", "latency_p95"]) for one in data)
    drop: dict[str, Any] = {"fail_if_drop": "latency_p95>0.01", "primary": "latency"}
    comparison = ragassay.compare(fast, slow, **drop, n_resamples=1000)
    assert not {"exploratory", "too_few"} & {note.kind for note in comparison.notes}
    mean, tail = comparison.differences
    assert (mean.name, tail.name) == ("latency", "latency_p95")
    assert mean.verdict == "better" and tail.verdict == "exploratory"
    new, old = (float(np.percentile(latencies(one), 95)) for one in data)
    assert tail.diff == pytest.approx(new - old)
    assert tail.low is not None and tail.high is not None and tail.low < tail.high < 0
    assert tail.p_value is None and (tail.n, tail.wins, tail.losses, tail.ties) == (120, 0, 120, 0)
    assert [gate.passed for gate in comparison.gates] == [True]


def test_percentiles_are_compared_over_the_queries_that_both_runs_measured() -> None:
    new, old = served(1.0), served(3.0)
    for record in new[:20]:
        del record["metadata"]
    runs = [ragassay.evaluate(data, "latency_p95") for data in (new, old)]
    (tail,) = ragassay.compare(*runs, n_resamples=100).differences
    assert tail.n == 100
    lots = [ragassay.evaluate(data, "latency_p95", cluster_by="lot") for data in (new, old)]
    assert ragassay.compare(*lots, n_resamples=100).differences[0].low != tail.low  # drawn by lot
    assert tail.b_mean == pytest.approx(float(np.percentile(latencies(old[20:]), 95)))
