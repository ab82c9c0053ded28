from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragassay.base.score import Reason
from ragassay.engine.results.summarising import totals
from ragassay.engine.results.summary import MetricSummary
from ragassay.suites import Suite
from ragassay.suites.suite import Total

FACTS = {Reason.NOT_APPLICABLE, Reason.UNDEFINED, *(one for one in Reason if one.by_system)}
SUITE = Suite(
    "s", "", "", ("f1", "em"), totals={"sum": Total("", {"x": "f1", "y": "em"}, lambda x, y: x + y)}
)


def metric(name: str, mean: float | None, unscored: Mapping[str, int]) -> MetricSummary:
    return MetricSummary(
        name, "", "answer", mean, None, None, 0.95, "", 3, 4, metric=name, unscored=unscored
    )


@pytest.mark.parametrize("reason", list(Reason))
def test_a_total_is_given_where_each_missing_score_lies_in_its_sample(reason: Reason) -> None:
    found = totals([SUITE], [metric("f1", 0.5, {reason.value: 1}), metric("em", 0.25, {})])
    assert found == ({"sum": 0.75} if reason in FACTS else {})


def test_a_total_needs_the_mean_of_each_of_its_metrics() -> None:
    assert totals([SUITE], [metric("f1", 0.5, {})]) == {}
    assert totals([SUITE], [metric("f1", 0.5, {}), metric("em", None, {})]) == {}
    assert totals([SUITE], [metric("f1", 0.0, {}), metric("em", 0.0, {})]) == {"sum": 0.0}
