"""Latency, time to the first token, tokens, cost and errors, as ``ragassay ask`` records them in
``metadata["asked"]`` of a sample (docs/ask.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import (
    Measured,
    Metric,
    SampleMetric,
    Window,
    measure,
    not_applicable,
    param,
    part,
    register,
)

_OF_EARLIER_RUNS = {
    "failed_before": (
        "{n} {query|queries} had failed before and {was|were} asked again; error_rate counts the "
        "last time only (ragassay ask --refresh asks all again)."
    ),
    "not_asked": (
        "{n} {query|queries} failed in an earlier run and {was|were} not asked again, because the "
        "asking was stopped; error_rate counts that failure."
    ),
}
"""What the numbers of a run leave out, by the key in the record of a query."""


_UNKNOWN = not_applicable("the sample has no time, tokens or cost, as 'ragassay ask' records them")


def _asked(sample: Sample) -> Mapping[str, Any]:
    record = sample.metadata.get("asked")
    return record if isinstance(record, Mapping) else {}


def _number(record: Mapping[str, Any], name: str) -> float | None:
    """A number from 0 on; ``None`` where there is none."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _has_only_an_answer(sample: Sample) -> bool:
    """Whether a sample has an answer, and nothing about how it was asked."""
    return sample.answer is not None and sample.failure is None and not _asked(sample)


def lacks_beside_failures(metric: Metric, sample: Sample) -> Unscored | None:
    """As `Metric.lacks`, where another sample failed: then an answer alone is no failure."""
    alone = isinstance(metric, ErrorRate) and _has_only_an_answer(sample)
    return None if alone else metric.lacks(sample)


def _any_failed(samples: Iterable[Sample]) -> bool:
    """Whether one of the samples failed."""
    return any(sample.failure is not None for sample in samples)


def _percentiles(name: str) -> Mapping[str, str]:
    """The names of a metric's percentiles: ``latency_p95`` is ``latency(percentile=95)``."""
    return {f"{name}_p{at}": f"{name}(percentile={at})" for at in (50, 90, 95, 99)}


class _Recorded(SampleMetric):
    """Source: recorded by ragassay ask"""

    family = "serving"
    higher_is_better = False

    def lacks(self, sample: Sample) -> Unscored | None:
        """The reason why a sample has no value by itself."""
        outcome = self.score_sample(sample)
        return outcome if isinstance(outcome, Unscored) else None


@dataclass(frozen=True)
class _Served(_Recorded, Measured):
    percentile: float | None = param(
        None, "this percentile of a run's values in place of their mean",
        minimum=0, maximum=100, exclusive=True,
    )  # fmt: skip

    high: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.percentile is not None:
            object.__setattr__(self, "aggregate", f"p{self.percentile:g}")

    @property
    def about(self) -> str:
        """The title, with the percentile."""
        title = super().about
        return title if self.percentile is None else f"{title}: percentile {self.percentile:g}"

    def score_sample(self, sample: Sample) -> Outcome:
        """What was recorded; unscored where nothing was, or the system failed."""
        record = _asked(sample)
        if not record:
            return _UNKNOWN
        if sample.failure or "failure" in record:
            return Unscored(Reason.MISSING_INPUT, f"the system failed: {sample.failure}")
        value = self.measured(record)
        if value is None:
            return not_applicable(f"the system does not report its {self.name.replace('_', ' ')}")
        return Score(value)


@measure("latency", base=_Served, aliases=_percentiles("latency"))
def latency(record: Mapping[str, Any]) -> float | None:
    """Seconds until the whole answer was there.

    Time of the answered attempt, without waits between attempts or for a slot.

    Formula: seconds from the request to the end of the reply
    Misleads where: the mean hides slow tails; take p95; depends on load and place
    """
    return _number(record, "latency")


@measure("first_token", base=_Served, aliases=_percentiles("first_token"))
def first_token(record: Mapping[str, Any]) -> float | None:
    """Seconds until the first words of the answer.

    Only for systems that stream.

    Formula: seconds to the first words
    Misleads where: the mean hides slow tails; take p95
    """
    return _number(record, "first_token")


@measure("tokens", base=_Served, aliases=_percentiles("tokens"))
def tokens(
    record: Mapping[str, Any],
    part: Literal["total", "input", "output"] = part(
        "total", ("total", "input", "output"), "which are counted"
    ),
) -> float | None:
    """Tokens that an answer took.

    Formula: tokens that the system reports
    Part total: read and written
    Part input: read
    Part output: written
    Misleads where: tokenizers differ between models
    """
    names = ("input", "output") if part == "total" else (part,)
    counts = [_number(record, f"{name}_tokens") for name in names]
    if None in counts:  # both kinds together may be recorded alone
        return _number(record, "total_tokens") if part == "total" else None
    return math.fsum(n for n in counts if n is not None)


@measure("cost", base=_Served, aliases=_percentiles("cost"))
def cost(record: Mapping[str, Any]) -> float | None:
    """US dollars that an answer cost.

    Formula: dollars that the system reports, or tokens × list price
    Misleads where: a mean hides a few expensive queries
    """
    return _number(record, "cost")


@register
class ErrorRate(_Recorded):
    """Share of queries that the system failed to answer.

    A timeout, a lost connection or an error is no answer; the reply "I don't know" is an answer. A
    query that was not asked is unscored. In data that does not say how it was asked, records with a
    failure count as 1 and those with an answer as 0; without any failure all are unscored.

    Formula: 1 if there was no answer, else 0
    Misleads where: a refusal counts as an answer
    """

    name = "error_rate"
    version = 2
    says = "flag"

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many queries had failed before: asking again until all is answered would leave no
        failure to count."""
        records = [_asked(sample) for sample in window.samples]
        for name, sentence in _OF_EARLIER_RUNS.items():
            yield CountedFact(sentence, sum(name in record for record in records))

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """Scores each sample; one with an answer alone only if another of the data failed."""
        outcomes = super().score_window(window)
        silent = [_has_only_an_answer(sample) for sample in window.samples]
        if not any(silent) or not window.all_samples.once(_any_failed):
            return outcomes
        return [
            Score(False) if alone else outcome
            for alone, outcome in zip(silent, outcomes, strict=True)
        ]

    def score_sample(self, sample: Sample) -> Outcome:
        """1 where the system failed, with the type of the failure as parts."""
        record = _asked(sample)
        if not record and sample.failure is None:
            return _UNKNOWN
        kind, why = record.get("failure"), sample.failure or record.get("detail")
        if kind == Reason.STOPPED:
            return Unscored(Reason.STOPPED, f"the query was not asked: {why}")
        return Score(True, {"failure": str(kind or "failed")}, why) if why else Score(False)
