from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Score
from ragassay.engine.results.score_columns import SampleColumns, ScoreColumns
from ragassay.engine.results.summary import (
    IntervalOptions,
    MetricSummary,
    facts_of,
    sample_clusters,
    slice_summaries,
    summarise,
    totals,
)
from ragassay.suites import Suite
from ragassay.suites.suite import Total


def columns(queries: Sequence[str], values: Sequence[float] = ()) -> ScoreColumns:
    """One metric's scores of samples with these query ids; a query that recurs is a repeat."""
    found = ScoreColumns(["f1"])
    for at, query in enumerate(queries):
        found.identities.append((query, "", queries[:at].count(query)))
        found.add("f1", Score(values[at] if values else 0.5))
    return found


def metric(aggregate: str = "mean") -> MetricSummary:
    return MetricSummary(
        "f1", "", "answer", None, None, None, 0.95, "", 0, 0, aggregate=aggregate, metric="f1"
    )


def test_slices_come_largest_first_and_equal_ones_by_name() -> None:
    data = columns([f"q{at}" for at in range(7)], [0, 1, 1, 0, 1, 1, 0])
    data.slices = {"topic": ["d", "c", "c", "b", "c", "b", "a"]}
    found = slice_summaries(data, [metric()], IntervalOptions())
    assert [(one.value, one.n) for one in found] == [("c", 3), ("b", 2), ("a", 1), ("d", 1)]
    assert [one.metrics["f1"].mean for one in found] == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "aggregate", "names"),
    [
        ([1.0] * 58 + [0.97, 0.95], "mean", ["f1"]),
        ([1.0] * 58 + [0.97, 0.5], "geometric", []),
        ([0.1, 0.9] * 30, "mean", []),
    ],
)
def test_a_mean_near_the_end_of_its_range_is_named_as_crowded(
    values: list[float], aggregate: str, names: list[str]
) -> None:
    data = columns([f"q{at}" for at in range(60)], values)
    assert summarise(data, [metric(aggregate)], IntervalOptions())[1] == tuple(names)


def test_a_slice_of_values_for_missing_parts_alone_has_no_mean() -> None:
    data = columns(["q0"])
    data.identities.append(("q1", "", 0))
    data.add("f1", Score(0.0, assumed=True))
    data.slices = {"topic": ["a", "b"]}
    found = slice_summaries(data, [metric()], IntervalOptions())
    assert [one.metrics["f1"].mean for one in found] == [0.5, None]


def test_the_fingerprint_is_that_of_a_set_of_queries() -> None:
    once, again = columns(["a", "b"]), columns(["b", "a", "b"])
    once.asked.extend([1, 2])
    again.asked.extend([2, 1, 2])
    facts, others = (facts_of(one, [metric()], IntervalOptions(), None)[0] for one in (once, again))
    assert facts["fingerprint"] == others["fingerprint"] != ""


def test_a_sum_has_no_slices() -> None:
    data = columns(["q0", "q1"])
    data.slices = {"topic": ["a", "b"]}
    found = slice_summaries(data, [metric("sum")], IntervalOptions())
    assert [dict(one.metrics) for one in found] == [{}, {}]


def test_a_zero_counts_as_a_hundred_thousandth_in_a_geometric_mean() -> None:
    data = columns(["q0", "q1"], [0.0, 0.1])
    found = summarise(data, [metric("geometric")], IntervalOptions())[0]["f1"]
    assert found.mean == pytest.approx((1e-5 * 0.1) ** 0.5)


@pytest.mark.parametrize(
    ("n", "n_values", "is_slice"),
    [(10, 1, False), (10, 2, True), (10, 5, True), (10, 6, False), (63, 20, True), (63, 21, False)],
)
def test_a_column_is_a_slice_where_its_values_are_at_most_twenty_and_half_as_many_as_its_samples(
    n: int, n_values: int, is_slice: bool
) -> None:
    scores = ScoreColumns([])
    collected = SampleColumns(scores, None, None)
    for at in range(n):
        collected.add(Sample(id=f"q{at}", query="?", metadata={"topic": f"t{at % n_values}"}))
    collected.close(clustered=False)
    assert ("topic" in scores.slices) is is_slice


@pytest.mark.parametrize(
    ("queries", "clusters"),
    [
        (["a", "b", "c"], None),
        (["a", "b", "c", "b"], [0, 1, 2, 1]),
        (["a", "a"], [0, 0]),
        (["b", "a", "b", "a"], [0, 1, 0, 1]),
    ],
)
def test_one_repeated_query_is_enough_to_cluster_by_query(
    queries: list[str], clusters: list[int] | None
) -> None:
    data = columns(queries)
    found = sample_clusters(data)
    assert (None if found is None else found.tolist()) == clusters
    facts, _ = facts_of(data, [metric()], IntervalOptions(), None)
    summary = facts["metrics"]["f1"]
    assert summary.n_clusters == (None if clusters is None else len(set(clusters)))
    clustered = ", by query" in facts["averaged_over"]
    assert clustered is (clusters is not None)


def test_a_summary_gives_a_metric_by_any_of_its_names() -> None:
    record = {"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"]}
    summary = ragassay.evaluate([record], ["token_f1", "em"]).summary
    assert summary["token_f1.f"] is summary["token_f1"] is summary.metrics["token_f1.f"]
    assert list(summary) == list(summary.metrics) and "em" in summary
    with pytest.raises(UsageError, match="'token_f2' is not in this run"):
        summary["token_f2"]


FACTS = {Reason.NOT_APPLICABLE, Reason.UNDEFINED, *(one for one in Reason if one.by_system)}
SUITE = Suite(
    "s", "", "", ("f1", "em"), totals={"sum": Total("", {"x": "f1", "y": "em"}, lambda x, y: x + y)}
)


def missing(name: str, mean: float | None, unscored: Mapping[str, int]) -> MetricSummary:
    return MetricSummary(
        name, "", "answer", mean, None, None, 0.95, "", 3, 4, metric=name, unscored=unscored
    )


@pytest.mark.parametrize("reason", list(Reason))
def test_a_total_is_given_where_each_missing_score_lies_in_its_sample(reason: Reason) -> None:
    found = totals([SUITE], [missing("f1", 0.5, {reason.value: 1}), missing("em", 0.25, {})])
    assert found == ({"sum": 0.75} if reason in FACTS else {})


def test_a_total_needs_the_mean_of_each_of_its_metrics() -> None:
    assert totals([SUITE], [missing("f1", 0.5, {})]) == {}
    assert totals([SUITE], [missing("f1", 0.5, {}), missing("em", None, {})]) == {}
    assert totals([SUITE], [missing("f1", 0.0, {}), missing("em", 0.0, {})]) == {"sum": 0.0}
