"""Metrics of a ranking by its UMBRELA grades: P, AP, MRR and nDCG without gold passages.

Only retrieved passages are graded, so none of these metrics knows what was missed. Where nothing
was retrieved all of them are 0, and ranks beyond the end of the list count as not relevant (Open
RAG Eval leaves such a cut-off out, so that its means run over different queries).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score
from ragassay.judges.asking import Ask
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.relevance.umbrela import GradesMetric


def precision_at(relevant: Sequence[bool], k: int) -> float:
    """Relevant passages among the first k, divided by k.

    Args:
        relevant: whether each passage is relevant, in rank order.
        k: how many ranks count, at least 1.
    """
    return sum(relevant[:k]) / k


def average_precision(relevant: Sequence[bool], k: int | None, known: int) -> float:
    """Sum of the precision at each relevant rank within k, divided by ``known``; 0 where that is 0.

    Args:
        relevant: whether each passage is relevant, in rank order.
        k: how many ranks count; ``None`` for all.
        known: number of relevant passages.
    """
    hits, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant[:k], start=1):
        if is_relevant:
            hits += 1
            total += hits / rank
    return total / known if known else 0.0


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """One over the rank of the first relevant passage; 0 where there is none."""
    return next((1 / rank for rank, hit in enumerate(relevant, start=1) if hit), 0.0)


def ndcg(gains: Sequence[float], k: int | None) -> float:
    """Discounted gain of the first k ranks, divided by that of the same gains in their best order;
    0 where no gain is positive.

    Args:
        gains: the gain of each passage, in rank order.
        k: how many ranks count; ``None`` for all.
    """

    def discounted(listed: Sequence[float]) -> float:
        return math.fsum(gain / math.log2(at + 2) for at, gain in enumerate(listed[:k]))

    best = discounted(sorted(gains, reverse=True))
    return discounted(gains) / best if best else 0.0


class _ByGrades(GradesMetric):
    @property
    def depth(self) -> int | None:
        """How many ranks the value depends on; ``None`` for all. Lower ones need no grade."""
        return None

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        if not sample.passages:
            return Score(0.0, explanation="nothing was retrieved")
        return Score(self.value(await self.graded(sample, ask, self.depth)))

    @abstractmethod
    def value(self, passage_grades: Sequence[int]) -> float:
        """The value for one or more grades, in rank order."""


@dataclass(frozen=True)
class _ByRelevance(_ByGrades):
    rel: int = param(2, "smallest grade that is relevant", minimum=1)

    def value(self, passage_grades: Sequence[int]) -> float:
        """The value for passages whose grade is at least ``rel``."""
        return self.of([grade >= self.rel for grade in passage_grades])

    @abstractmethod
    def of(self, relevant: Sequence[bool]) -> float:
        """The value for a ranking; ``relevant`` has one flag a rank."""


@dataclass(frozen=True)
class _AtK:
    k: int = cutoff(..., "how many ranks count; those beyond the list count as not relevant")


class _ByRelevanceAtK(_ByRelevance, _AtK):
    @property
    def depth(self) -> int:
        return self.k


@register
class UmbrelaPrecision(_ByRelevanceAtK):
    """Precision at k by UMBRELA grades.

    Formula: relevant among the first k / k
    Misleads where: retrieving fewer than k lowers it
    Good for: how much of what the generator reads is relevant, without gold passages
    """

    name = "umbrela_P"

    def of(self, relevant: Sequence[bool]) -> float:
        return precision_at(relevant, self.k)


@register
class UmbrelaAP(_ByRelevanceAtK):
    """Average precision at k by UMBRELA grades, over the relevant ones found (published).

    ``umbrela_AP_judged`` divides by all that are relevant.

    Formula: Σ over relevant ranks i ≤ k of P@i / relevant found
    Misleads where: one relevant passage on top makes 1 whatever is missed
    """

    name = "umbrela_AP"

    def of(self, relevant: Sequence[bool]) -> float:
        return average_precision(relevant, self.k, sum(relevant[: self.k]))


@register
class UmbrelaAPJudged(_ByRelevance):
    """Average precision by UMBRELA grades, over all relevant ones that were retrieved.

    As ``AP`` and trec_eval's ``map_cut``: passages below k count as known, too.

    Formula: Σ over relevant ranks i ≤ k of P@i / relevant among all that were retrieved
    Misleads where: knows nothing of what was not retrieved
    Good for: whether relevant passages stand first, without gold passages
    """

    k: int | None = cutoff()

    name = "umbrela_AP_judged"

    def of(self, relevant: Sequence[bool]) -> float:
        return average_precision(relevant, self.k, sum(relevant))


@register
class UmbrelaMRR(_ByRelevance):
    """Reciprocal rank of the first relevant passage by UMBRELA grades.

    Formula: 1 / rank of the first relevant passage, 0 without one
    Misleads where: sees the first hit only
    Good for: how far down the first useful passage stands, without gold passages
    """

    name = "umbrela_MRR"

    of = staticmethod(reciprocal_rank)


@register
class UmbrelaNDCG(_ByGrades):
    """nDCG of the UMBRELA grades, ideal: the same passages in their best order.

    0 where all grades are 0, as trec_eval has it.

    Formula: DCG of the grades / DCG of their best order
    Misleads where: the ideal is made of what was retrieved, so it says nothing of what was missed
    Good for: how well a reranker orders, without gold passages
    """

    k: int | None = cutoff()
    gain: Literal["linear", "exp"] = param("linear", "linear (the grade) or exp (2^grade - 1)")

    name = "umbrela_nDCG"

    def value(self, passage_grades: Sequence[int]) -> float:
        return ndcg(
            [2.0**g - 1 if self.gain == "exp" else float(g) for g in passage_grades], self.k
        )
