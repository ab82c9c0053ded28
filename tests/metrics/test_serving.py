"""What an answer took: read from what asking recorded, and never invented."""

from typing import Any

import pytest

import ragassay
from ragassay.base.sample import Answer, Sample
from ragassay.base.score import Reason, Score, Unscored
from ragassay.metrics import parse
from ragassay.metrics.core.metric import AllSamples, Window
from ragassay.metrics.serving.serving_metrics import lacks_beside_failures


def sample(**asked: Any) -> Sample:
    return Sample(id="q", answer=Answer("yes"), metadata={"asked": asked})


TOLD = sample(latency=0.25, first_token=0.1, input_tokens=30, output_tokens=12, cost=0.002)


@pytest.mark.parametrize(
    ("name", "value"),
    [("latency", 0.25), ("first_token", 0.1), ("cost", 0.002), ("error_rate", False),
     ("tokens", 42), ("tokens.total", 42), ("tokens.input", 30), ("tokens.output", 12)],
)  # fmt: skip
def test_the_value_is_what_was_recorded(name: str, value: float) -> None:
    assert parse(name).score(TOLD).value == value


@pytest.mark.parametrize("name", ["latency", "first_token", "cost", "tokens", "error_rate"])
def test_nothing_is_made_up_where_nothing_was_recorded(name: str) -> None:
    assert parse(name).score(Sample(id="q", answer=Answer("yes"))).reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), "fast", True, None])
def test_what_is_no_amount_is_not_scored(value: Any) -> None:
    assert isinstance(parse("latency").score(sample(latency=value, attempts=1)), Unscored)


def test_a_total_needs_both_of_its_parts() -> None:
    assert isinstance(parse("tokens").score(sample(input_tokens=3)), Unscored)
    assert parse("tokens").score(sample(total_tokens=7)).value == 7
    assert isinstance(parse("tokens.input").score(sample(total_tokens=7)), Unscored)
    assert isinstance(parse("latency").score(sample(latency=1, failure="timeout")), Unscored)


def test_a_failure_is_an_error_without_a_latency() -> None:
    asked = {"failure": "timeout", "attempts": 1}
    failed = Sample(id="q", failure="timeout: did not answer", metadata={"asked": asked})
    outcome = parse("error_rate").score(failed)
    assert outcome.value is True and outcome.parts == {"failure": "timeout"}
    assert "did not answer" in parse("latency").score(failed).detail
    assert "did not answer" in parse("answer_words").score(failed).detail
    detailed = Sample(id="q", metadata={"asked": {"failure": "timeout", "detail": "too late"}})
    assert parse("error_rate").score(detailed) == parse("error_rate").score(
        Sample(id="q", failure="too late", metadata={"asked": {"failure": "timeout"}})
    )


def test_what_was_not_asked_is_no_error_and_failures_of_other_tools_are() -> None:
    stopped = Sample(
        id="q", failure="stopped: it is gone", metadata={"asked": {"failure": "stopped"}}
    )
    outcome = parse("error_rate").score(stopped)
    assert isinstance(outcome, Unscored) and outcome.reason.incomplete
    assert outcome.reason == "stopped"  # a connection may have nothing to do with it
    assert parse("error_rate").score(Sample(id="q", failure="API_ERROR")) == Score(
        True, {"failure": "failed"}, "API_ERROR"
    )
    assert parse("latency").score(sample(latency=0, cost=0.0)).value == 0
    rare = parse("latency_p99")
    assert (rare.aggregate, parse("latency(percentile=99.9)").aggregate) == ("p99", "p99.9")
    assert rare.about.endswith(": percentile 99") and rare.higher_is_better is False


def test_the_rate_is_over_all_records_of_data_that_tell_failures() -> None:
    """One failure of 100 records of another tool is 1 %, not all of the one that is scored."""
    records: list[dict[str, Any]] = [{"id": f"q{n}", "answer": "Yes."} for n in range(98)]
    records += [{"id": "failed", "failure": "API_ERROR"}, {"id": "silent"}]
    found = ragassay.evaluate(records, "error_rate").summary.metrics["error_rate"]
    assert (found.mean, found.n_scored, found.n_total) == (pytest.approx(1 / 99), 99, 100)
    none = ragassay.evaluate(records[:98], "error_rate").summary.metrics["error_rate"]
    assert (none.mean, none.n_scored) == (None, 0)
    one, failed = Sample(id="q", answer=Answer("yes")), Sample(id="f", failure="API_ERROR")
    assert lacks_beside_failures(parse("error_rate"), one) is None
    assert isinstance(lacks_beside_failures(parse("latency"), one), Unscored)
    window = Window([one], all_samples=AllSamples(lambda: [one, failed]))
    assert parse("error_rate").score_window(window) == [Score(False)]  # windows divide the data
