"""What an answer holds: whether the system tried to answer (Open RAG Eval), and our own definitions
beside it. Metrics of one question agree with each other and cost one call."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score
from ragassay.judges.asking import Ask
from ragassay.judges.questions import AnswerAttempted, AnswerContent
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import conversation, register

_IN_WORDS = {
    "answer": "an answer",
    "part": "a part of an answer",
    "small_talk": "small talk, in reply to small talk",
    "nothing": "no part of an answer",
}


class _Content(JudgedMetric):
    """One question about an answer, whose reply is a label; an empty answer is not asked about."""

    needs = ("query", "answer")
    higher_is_better = None

    empty: ClassVar[str]

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        if not sample.answer_text.strip():
            return self.read(self.empty, "the answer is empty; the judge was not asked")
        return self.read(*await self.label(sample, ask))

    @abstractmethod
    async def label(self, sample: Sample, ask: Ask) -> tuple[str, str]:
        """The label of an answer, and an explanation."""

    @abstractmethod
    def read(self, label: str, why: str) -> Score:
        """The score of a label."""


class _Holds(_Content):
    family = "answer"
    uses = ("history",)
    asks = (AnswerContent,)
    empty = "nothing"

    async def label(self, sample: Sample, ask: Ask) -> tuple[str, str]:
        reply = await ask(AnswerContent(conversation(sample), sample.answer_text))
        return reply.holds, f"the response holds {_IN_WORDS[reply.holds]}"


@register
class Declines(_Holds):
    """Whether the answer holds no part of an answer.

    It differs from MT-RAG's ``idk_eval`` in two cases. Small talk is 1: it holds no part of an
    answer. "I do not have it, but here is a site" is 1, too: where to look is no part of an answer.

    Formula: 1 no part of an answer, 0.5 a part beside "I don't know", 0 an answer
    Misleads where: no quality by itself; right or wrong depends on the query
    Source: our own, after MT-RAG's idk_eval
    """

    name = "declines"

    def read(self, label: str, why: str) -> Score:
        return Score({"answer": 0.0, "part": 0.5}.get(label, 1.0), {"holds": label}, why)


@register
class Attempted(_Holds):
    """Share of queries that the system tried to answer.

    It differs from Open RAG Eval's ``no_answer`` and from ``answered`` in one case: small talk in
    reply to a query that is none is no attempt.

    Formula: 1 if an answer was tried, else 0; small talk is one to small talk alone
    Misleads where: answering everything makes 1
    Source: our own, after Open RAG Eval's no-answer metric
    """

    name = "attempted"
    says = "flag"

    def read(self, label: str, why: str) -> Score:
        return Score(label != "nothing", {"holds": label}, why)


class _Attempt(_Content):
    """Source: Open RAG Eval, metrics page (no-answer detection)"""

    family = "trecrag"
    asks = (AnswerAttempted,)
    version = 2
    empty = "no"

    async def label(self, sample: Sample, ask: Ask) -> tuple[str, str]:
        return (await ask(AnswerAttempted(sample.query_text, sample.answer_text))).answered, ""


@register
class NoAnswer(_Attempt):
    """Whether the system tried to answer: the label yes (it tried) or no.

    As published, small talk is an attempt; ``attempted`` takes it for none where the query is none.

    Formula: yes where an answer was tried, no where not
    Misleads where: no quality by itself
    """

    name = "no_answer"
    says = "label"

    def read(self, label: str, why: str) -> Score:
        return Score(label, {"query_answered": label}, why)


@register
class Answered(_Attempt):
    """Share of questions that the system tried to answer.

    A system that failed (``API_ERROR``) is unscored and counted as such; Open RAG Eval drops it and
    ``NO_ANSWER`` too, which makes the share look better than it is.

    Formula: 1 if an answer was tried, else 0
    Misleads where: answering everything makes 1
    """

    name = "answered"
    says = "flag"

    def read(self, label: str, why: str) -> Score:
        return Score(label == "yes", {}, why)
