"""UMBRELA: an LLM's grade for each retrieved passage, 0 to 3, their mean, and what the ranking is
worth by them (P, AP, MRR and nDCG without gold passages). None of these knows what was missed.
Ranks beyond the end of the list count as not relevant; Open RAG Eval leaves such a cut-off out.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges.asking import Ask
from ragassay.judges.questions import RelevanceGrade
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import (
    cutoff,
    missing,
    param,
    passage_keys,
    register,
    textless_passage,
)

Shots = Literal["zero", "few"]
SHOTS_DOC = "the prompt: zero-shot, or few-shot with graded examples"


async def grades(
    ask: Ask, query: str, texts: tuple[str, ...], shots: Shots, earlier: tuple[str, ...] = ()
) -> Mapping[str, int]:
    """The grade of each distinct text, 0 to 3; for `Ask.once`."""
    distinct = list(dict.fromkeys(texts))
    answers = await ask.each([RelevanceGrade(query, text, shots, earlier) for text in distinct])
    return {text: answer.grade for text, answer in zip(distinct, answers, strict=True)}


@dataclass(frozen=True)
class GradesMetric(JudgedMetric):
    """A metric of the grades of a sample's passages. All these metrics share one set of grades.

    Source: Upadhyay et al. 2024, UMBRELA (arXiv 2406.06519); Open RAG Eval, metrics page
    """

    shots: Shots = param("zero", SHOTS_DOC)

    family = "trecrag"
    needs = ("query", "passages")
    uses = ("history",)
    asks = (RelevanceGrade,)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage has no text."""
        return missing(sample, self.needs) or textless_passage(sample)

    async def graded(self, sample: Sample, ask: Ask, depth: int | None = None) -> list[int]:
        """The grades of the passages, in rank order."""
        texts = tuple(passage.text or "" for passage in (sample.passages or ())[:depth])
        earlier = sample.earlier_queries
        by_text = await ask.once(grades, sample.query_text, texts, self.shots, earlier)
        return [by_text[text] for text in texts]


@register
class Umbrela(GradesMetric):
    """Mean UMBRELA grade of the retrieved passages, 0 to 3.

    0 not related to the query, 1 related, 2 some answer, 3 the exact answer. The part ``grades``
    holds them by passage id (or rank). Where nothing was retrieved there is no mean; the metrics of
    the ranking are 0 then. In a conversation, the judge sees the user's earlier turns, too; without
    them the prompt is UMBRELA's. Where the judge fails to grade one passage, the sample is
    unscored.

    Formula: mean grade of the passages, 0 to 3
    Misleads where: the mean falls with the number of passages; a judge's relevance is not people's
    """

    name = "umbrela"
    high = 3.0

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        if not sample.passages:
            return Unscored(
                Reason.NOTHING_RETRIEVED, "nothing was retrieved, and no grades have no mean"
            )
        passage_grades = await self.graded(sample, ask)
        by_passage = dict(zip(passage_keys(sample.passages), passage_grades, strict=True))
        return Score(sum(passage_grades) / len(passage_grades), {"grades": by_passage})


def precision_at(relevant: Sequence[bool], k: int) -> float:
    """Relevant passages among the first k, divided by k."""
    return sum(relevant[:k]) / k


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """One over the rank of the first relevant passage; 0 where there is none."""
    return next((1 / rank for rank, hit in enumerate(relevant, start=1) if hit), 0.0)


def average_precision(relevant: Sequence[bool], k: int | None, known: int) -> float:
    """Sum of the precision at each relevant rank within k, over ``known``; 0 where that is 0."""
    hits, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant[:k], start=1):
        if is_relevant:
            hits += 1
            total += hits / rank
    return total / known if known else 0.0


class _ByGrades(GradesMetric):
    """A value of the ranking; without ``sees_all``, ranks below the cut-off need no grade."""

    sees_all: ClassVar[bool] = True

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        if not sample.passages:
            return Score(0.0, explanation="nothing was retrieved")
        found = await self.graded(sample, ask, None if self.sees_all else getattr(self, "k", None))
        return Score(self.value(found), {"best_grade": max(found)})

    @abstractmethod
    def value(self, passage_grades: Sequence[int]) -> float:
        """The value for one or more grades, in rank order."""


@dataclass(frozen=True)
class _ByRelevance(_ByGrades):
    rel: int = param(2, "smallest grade that is relevant", minimum=1)

    def value(self, passage_grades: Sequence[int]) -> float:
        return self.of([grade >= self.rel for grade in passage_grades])

    @abstractmethod
    def of(self, relevant: Sequence[bool]) -> float:
        """The value for a ranking; ``relevant`` has one flag a rank."""


@dataclass(frozen=True)
class _Cut:
    k: int = cutoff(..., "how many ranks count; those beyond the list count as not relevant")


class _AtK(_ByRelevance, _Cut):
    sees_all = False


@register
class UmbrelaPrecision(_AtK):
    """Precision at k by UMBRELA grades.

    Formula: relevant among the first k / k
    Misleads where: retrieving fewer than k lowers it
    """

    name = "umbrela_P"

    def of(self, relevant: Sequence[bool]) -> float:
        return precision_at(relevant, self.k)


@register
class UmbrelaAP(_AtK):
    """Average precision at k by UMBRELA grades, over the relevant ones found (published).

    ``umbrela_AP_judged`` divides by all that are relevant.

    Formula: Σ over relevant ranks i ≤ k of P@i / relevant found
    Misleads where: one relevant passage on top gives 1, whatever is missed
    """

    name = "umbrela_AP"

    def of(self, relevant: Sequence[bool]) -> float:
        return average_precision(relevant, self.k, sum(relevant[: self.k]))


@register
class UmbrelaAPJudged(_ByRelevance):
    """Average precision by UMBRELA grades, over all relevant ones that were retrieved.

    As ``AP`` and trec_eval's ``map_cut``: passages below k count as known, too.

    Formula: Σ over relevant ranks i ≤ k of P@i / relevant among all that were retrieved
    Misleads where: ignores what was not retrieved
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
    """

    name = "umbrela_MRR"

    of = staticmethod(reciprocal_rank)


@register
class UmbrelaNDCG(_ByGrades):
    """nDCG of the UMBRELA grades, ideal: the same passages in their best order.

    0 where all grades are 0, as trec_eval has it.

    Formula: DCG of the grades / DCG of their best order
    Misleads where: the ideal is made of what was retrieved, so it says nothing of what was missed
    """

    k: int | None = cutoff()
    gain: Literal["linear", "exp"] = param("linear", "linear (the grade) or exp (2^grade - 1)")

    name = "umbrela_nDCG"

    def value(self, passage_grades: Sequence[int]) -> float:
        gains = [2.0**g - 1 if self.gain == "exp" else float(g) for g in passage_grades]
        actual, best = (
            math.fsum(gain / math.log2(at + 2) for at, gain in enumerate(ranked[: self.k]))
            for ranked in (gains, sorted(gains, reverse=True))
        )
        return actual / best if best else 0.0
