"""The number that a metric gives a sample."""

from functools import cache

from ragassay.base.sample import Answer, Sample
from ragassay.base.score import Score
from ragassay.metrics.core import naming

parse = cache(naming.parse)


def answered(answer: str, *references: str) -> Sample:
    return Sample(id="q", answer=Answer(answer), references=references)


def value(name: str, one: Sample) -> float:
    outcome = parse(name).score(one)
    assert isinstance(outcome, Score) and outcome.number is not None, outcome
    return outcome.number
