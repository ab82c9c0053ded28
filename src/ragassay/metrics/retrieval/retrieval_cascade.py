"""Expected reciprocal rank: it models a reader who goes down the ranking until a document
satisfies."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.core.window import Window
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.metrics.retrieval.rankings import Floats, Rankings, running

_NEVER_CERTAIN = 1 - 2.0**-53
"""Highest probability of stopping: with grades above 53 it would be rounded to 1."""


@register
class ExpectedReciprocalRank(RankingMetric):
    """Expected reciprocal rank.

    A document of grade g satisfies the reader with probability ``(2^g - 1) / 2^max``; a reader who
    is not satisfied goes on to the next rank. Unjudged documents never satisfy. ``max`` is the
    highest grade of all judgements; set ``max_grade`` to the highest grade of the scale to compare
    values of different qrels.

    Formula: Σ (1 / i) × p(i) × Π over j < i of (1 - p(j)), p = (2^grade - 1) / 2^max
    Misleads where: hardly sees anything below the first good hit
    Good for: graded judgements where one good passage is enough
    Source: Chapelle et al., CIKM 2009
    """

    k: int | None = cutoff()
    max_grade: int | None = param(
        None, "highest grade of the scale (default: the qrels' largest)", minimum=1
    )

    name = "ERR"

    def values(self, rankings: Rankings) -> Floats:
        """The expected reciprocal rank for each query.

        Raises:
            UsageError: a grade lies above ``max_grade``.
        """
        highest = rankings.largest_grade if self.max_grade is None else self.max_grade
        if rankings.largest_grade > highest:
            raise UsageError(
                f"{self}: the judgements hold grade {rankings.largest_grade}, above "
                f"max_grade={highest}."
            )
        inside = rankings.hit_grade > 0
        if self.k is not None:
            inside &= rankings.hit_rank <= self.k
        query, rank = rankings.hit_query[inside], rankings.hit_rank[inside]
        grade = rankings.hit_grade[inside].astype(np.float64)
        stops = np.minimum(np.exp2(grade - highest) - np.exp2(-float(highest)), _NEVER_CERTAIN)
        # A sum of logarithms is a product that restarts with each query.
        goes_on = np.log1p(-stops)
        reached = np.exp(running(query, goes_on) - goes_on)
        return rankings.total(query, stops * reached / rank)

    def score_window(self, window: Window) -> Sequence[Outcome]:
        if self.max_grade is None:
            highest = max(1, window.all_samples.once(_largest_grade))
            return dataclasses.replace(self, max_grade=highest).score_window(window)
        fitting = [_largest_grade([sample]) <= self.max_grade for sample in window.samples]
        if all(fitting):
            return super().score_window(window)
        applicable = [sample for sample, fits in zip(window.samples, fitting, strict=True) if fits]
        scored = iter(super().score_window(Window(applicable)))
        above = Unscored(Reason.UNDEFINED, f"a gold passage's grade is above {self.max_grade}")
        return [next(scored) if fits else above for fits in fitting]


def _largest_grade(samples: Iterable[Sample]) -> int:
    return max((gold.grade for sample in samples for gold in sample.gold or ()), default=0)
