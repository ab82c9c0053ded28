"""UMBRELA: an LLM's grade for each retrieved passage, 0 to 3, and their mean.

Metrics of the ranking by these grades are in `ragassay.metrics.relevance.umbrela_ranking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges.asking import Ask
from ragassay.judges.questions import RelevanceGrade
from ragassay.metrics.citation.citable import passage_keys
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import passage_texts, register
from ragassay.metrics.core.metric_parameters import param

Shots = Literal["zero", "few"]
SHOTS_DOC = "the prompt: zero-shot, or few-shot with graded examples"


async def grades(
    ask: Ask, query: str, texts: tuple[str, ...], shots: Shots, earlier: tuple[str, ...] = ()
) -> Mapping[str, int]:
    """The grade of each distinct text, 0 to 3; for `Ask.once`.

    Args:
        ask: asks the judge.
        query: the query.
        texts: texts of passages; copies are asked about once.
        shots: the prompt, zero-shot or few-shot.
        earlier: what the user said in earlier turns (`earlier_queries`).

    Raises:
        Unanswered: a text has no grade; the message says how many have none.
    """
    distinct = list(dict.fromkeys(texts))
    answers = await ask.each([RelevanceGrade(query, text, shots, earlier) for text in distinct])
    return {text: one.grade for text, one in zip(distinct, answers, strict=True)}


def textless(sample: Sample) -> Unscored | None:
    """`Unscored` where a passage has no text, so that it cannot be graded."""
    bare = [at for at, passage in enumerate(sample.passages or ()) if passage.text is None]
    if not bare:
        return None
    key = passage_keys(sample.passages or ())[bare[0]]
    return Unscored(
        Reason.MISSING_INPUT,
        f"{share(len(bare), len(sample.passages or ()), 'passage')} "
        f"{either(len(bare), 'has', 'have')} no text (the first: {key})",
    )


def earlier_queries(sample: Sample) -> tuple[str, ...]:
    """What the user said in the turns before the query, oldest first."""
    return tuple(turn.text for turn in sample.history if turn.speaker == "user")


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
        return super().lacks(sample) or textless(sample)

    async def graded(self, sample: Sample, ask: Ask, depth: int | None = None) -> list[int]:
        """The grades of the passages, in rank order.

        Args:
            sample: lacks nothing.
            ask: asks the judge.
            depth: how many passages are graded; ``None`` for all.
        """
        texts = passage_texts(sample)[:depth]
        earlier = earlier_queries(sample)
        by_text = await ask.once(grades, sample.query_text, texts, self.shots, earlier)
        return [by_text[text] for text in texts]


@register
class Umbrela(GradesMetric):
    """Mean UMBRELA grade of the retrieved passages, 0 to 3.

    0 not related to the query, 1 related, 2 some answer, 3 the exact answer. The grades are the
    part ``grades``, by passage id (or rank), in rank order. A passage that occurs twice is asked
    about once and counts twice. Where nothing was retrieved there is no mean; the metrics of the
    ranking are 0 then. UMBRELA's prompts show the query alone; the offline rules and human judges
    may also read the user's earlier turns. Where the judge fails to grade one passage, the sample
    is unscored: a mean over the rest would describe another sample.

    Formula: mean grade of the passages, 0 to 3
    Misleads where: the mean falls with the number of passages; a judge's relevance is not people's
    Good for: how relevant what was retrieved is, without gold passages
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
