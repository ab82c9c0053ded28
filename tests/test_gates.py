from __future__ import annotations

import pytest

from ragassay.cli.exits import exit_code
from ragassay.engine import gates
from ragassay.engine.summary import MetricSummary, Summary
from ragassay.errors import UsageError

COMPUTED = {"f1": "f1", "P(rel=2)@5": "P(rel=2)@5"}


def summary(mean: float | None, low: float | None = None, incomplete: int = 0) -> Summary:
    n = 0 if mean is None else 10
    metrics = {
        name: MetricSummary(name, name, "answer", mean, low, None, 0.95, "t", n, 10)
        for name in COMPUTED
    }
    return Summary("t", "qa", "", 10, 10, "all", metrics, incomplete=incomplete)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("f1>=0.6", gates.Gate("f1", "mean", ">=", 0.6)),
        (" low(f1) > .5", gates.Gate("f1", "low", ">", 0.5)),
        ("P(rel=2)@5<=0.2", gates.Gate("P(rel=2)@5", "mean", "<=", 0.2)),
        ("high(P(rel=2)@5)<1e-1", gates.Gate("P(rel=2)@5", "high", "<", 0.1)),
    ],
)
def test_a_gate_reads_back(text: str, parsed: gates.Gate) -> None:
    assert gates.parse(text) == parsed
    assert gates.parse(str(parsed)) == parsed


@pytest.mark.parametrize("text", ["f1", "f1=0.6", ">=0.6", "f1>=high", "f1>=1.2.3", ""])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-under"):
        gates.parse(text)


def test_a_gate_on_a_metric_that_is_not_computed_is_refused_with_the_nearest() -> None:
    assert gates.resolve(["F1>=0.5"], COMPUTED, ["qa"])[0].metric == "f1"
    with pytest.raises(UsageError, match=r"'em' is not in what this run computes.*There are: f1"):
        gates.resolve(["em>=0.5"], COMPUTED, ["qa"])


def test_a_gate_may_use_any_name_of_its_metric() -> None:
    computed = {"RB_agg": "rb_agg", "RR": "RR"}
    found = gates.resolve(
        ["rb_agg>=0.5", "mrr>=0.5", "RBalg<1"], computed | {"x": "rb_agg_idk"}, ["mtrag"]
    )
    assert [gate.metric for gate in found] == ["RB_agg", "RR", "x"]


@pytest.mark.parametrize(
    ("gate", "found", "code"),
    [
        ("f1>=0.6", summary(0.6), 0),
        ("f1>=0.6", summary(0.5999), 1),
        ("low(f1)>=0.6", summary(0.7, 0.55), 1),
        ("low(f1)>=0.5", summary(0.7, 0.55), 0),
        ("low(f1)>=0.5", summary(0.7, None), 3),
        ("f1>=0.6", summary(None), 3),
        ("f1>=0.6", summary(0.7, incomplete=1), 3),
        ("f1>=0.6", summary(0.1, incomplete=1), 1),
    ],
)
def test_exit_codes(gate: str, found: Summary, code: int) -> None:
    assert exit_code(gates.judge([gates.parse(gate)], found), found) == code


def test_a_run_in_which_nothing_was_scored_never_exits_zero() -> None:
    assert exit_code([], summary(None)) == 3
    assert exit_code([], summary(0.0)) == 0
