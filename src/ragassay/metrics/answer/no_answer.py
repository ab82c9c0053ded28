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
    """Source: Open RAG Eval, metrics page (no-answer detection)"""

    family = "trecrag"
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
    """Whether the system tried to answer: the label yes (it tried) or no.

    As published, small talk is an attempt; ``attempted`` takes it for none where the query is none.

    Formula: yes where an answer was tried, no where not
    Misleads where: no quality by itself
    """

    name = "no_answer"
    version = 2
    says = "label"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        label, why = await self._label(sample, ask)
        return Score(label, {"query_answered": label}, why)


@register
class Answered(_Attempt):
    """Share of questions that the system tried to answer.

    A system that failed (``API_ERROR``) is unscored and counted as such; Open RAG Eval drops it and
    ``NO_ANSWER`` too, which makes the share look better than it is.

    Formula: 1 if an answer was tried, else 0
    Misleads where: answering everything makes 1
    Good for: seeing whether a better score was bought with refusals
    """

    name = "answered"
    version = 2
    says = "flag"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        label, why = await self._label(sample, ask)
        return Score(label == "yes", {}, why)
