"""Did the system try to answer? Open RAG Eval's no-answer metric, as a label and as a number."""

from __future__ import annotations

from typing import Literal

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score
from ragassay.judges.asking import Ask
from ragassay.judges.questions import AnswerAttempted
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import register

_EMPTY = "the answer is empty; the judge was not asked"


class _Attempt(JudgedMetric):
    family = "trecrag"
    source = "Open RAG Eval, metrics page (no-answer detection)"
    needs = ("query", "answer")
    higher_is_better = None
    asks = (AnswerAttempted,)

    async def _label(self, sample: Sample, ask: Ask) -> tuple[Literal["yes", "no"], str]:
        """The label of an answer, and its explanation."""
        if not sample.answer_text.strip():
            return "no", _EMPTY
        reply = await ask(AnswerAttempted(sample.query_text, sample.answer_text))
        return reply.answered, ""


@register
class NoAnswer(_Attempt):
    """``yes``: an answer was attempted, right or wrong; ``no``: the system said that it cannot
    answer, or said nothing. As published, small talk is an attempt; ``attempted`` takes it for none
    where the query is none."""

    name = "no_answer"
    version = 2
    says = "label"
    title = "Whether the system tried to answer: the label yes (it tried) or no"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        """The label, with the published object ``{"query_answered": ...}`` as parts."""
        label, why = await self._label(sample, ask)
        return Score(label, {"query_answered": label}, why)


@register
class Answered(_Attempt):
    """1 where the system tried to answer, else 0: the mean is the share of questions answered.

    A system that failed (``API_ERROR``) is unscored and counted as such; Open RAG Eval drops it and
    ``NO_ANSWER`` too, which makes the share look better than it is.
    """

    name = "answered"
    version = 2
    says = "flag"
    title = "Share of questions that the system tried to answer"
    recommended_for = "seeing whether a better score was bought with refusals"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        """1 where the system tried to answer, else 0."""
        label, why = await self._label(sample, ask)
        return Score(label == "yes", {}, why)
