"""What a judge says of an answer: whether it answers the query, and whether the system tried to."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any, ClassVar

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.own_prompts import JudgePrompt
from ragassay.judges.questions import AnswerAttempted, AnswerContent, AnswerMatch
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import conversation, not_applicable, param, register


@register
class AnswerMatches(JudgedMetric):
    """Whether the answer says what a reference says (datapizza).

    True where it agrees with at least one of several references, and with no negative reference (an
    answer known to be wrong). Where the judge fails, the sample is unscored; datapizza's example
    counts it as no match. With ``--judge-prompt FILE`` a user's own instructions are a separate
    metric, named ``answer_match_`` and the file's name.

    Formula: 1 if the judge says that the answer agrees with a reference, else 0
    Misleads where: the judge decides; a lenient one passes answers that leave out half
    Source: datapizza-ai, docs/metrics.md (LLM-as-judge)
    """

    temperature: float | None = param(
        None, "sampling temperature of the judge (its own when left out)", minimum=0
    )

    prompt: ClassVar[JudgePrompt | None] = None
    """A user's instructions."""
    name = "answer_match"
    says = "flag"
    family = "answer"
    needs = ("query", "answer", "references")
    aliases: ClassVar = {"is_matching": "answer_match", "llm_as_judge": "answer_match"}
    asks: ClassVar[tuple[type[Question[Any]], ...]] = (AnswerMatch,)

    @property
    def signature(self) -> str:
        """Holds a hash of the user's instructions, where there are any."""
        extra = "" if self.prompt is None else f"|prompt={self.prompt.digest}"
        return f"{super().signature}{extra}"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank."""
        return super().lacks(sample) or blank_references(sample)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        temperature = self.temperature
        if temperature is None and self.prompt is not None:
            temperature = self.prompt.temperature
        question = AnswerMatch(
            query=sample.query_text,
            answer=sample.answer_text,
            references=accepted(sample),
            wrong=_filled(sample.negative_references),
            instructions="" if self.prompt is None else self.prompt.instructions,
            temperature=temperature,
        )
        reply = await ask(question)
        parts = {"references": len(question.references), "negative_references": len(question.wrong)}
        return Score(reply.is_matching, parts, reply.reasoning)


def with_prompt(prompt: JudgePrompt) -> AnswerMatches:
    """``answer_match`` with a user's instructions; registers it under the prompt's name."""
    return naming.register(_class_with(prompt))()


@cache
def _class_with(prompt: JudgePrompt) -> type[AnswerMatches]:
    body: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": AnswerMatches.__doc__,
        "prompt": prompt,
        "name": prompt.name,
        "title": prompt.title or f"{AnswerMatches.title}, by the instructions {prompt.name}",
        "source": "your own instructions for a judge",
        "aliases": {},
    }
    return type(prompt.name, (AnswerMatches,), body)


def blank_references(sample: Sample) -> Unscored | None:
    """`Unscored` where no reference answer says anything."""
    if _filled(sample.references):
        return None
    return not_applicable("the reference answers are empty")


def accepted(sample: Sample) -> tuple[str, ...]:
    """The reference answers, of which any one is right.

    References that came as groups are items that are all required, each in one of its spellings:
    several of them are one reference answer.
    """
    groups = [group for group in map(_filled, sample.reference_groups) if group]
    if len(groups) < 2:
        return _filled(sample.references)
    items = (f"{text} (or: {' / '.join(others)})" if others else text for text, *others in groups)
    return ("; ".join(items),)


def _filled(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())


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
    answer. "I do not have it, but here is a site" is 1, too: it is not part of an answer.

    Formula: 1 no part of an answer, 0.5 a part beside "I don't know", 0 an answer
    Misleads where: not quality by itself; right or wrong depends on the query
    Source: our own, after MT-RAG's idk_eval
    """

    name = "declines"

    def read(self, label: str, why: str) -> Score:
        return Score({"answer": 0.0, "part": 0.5}.get(label, 1.0), {"holds": label}, why)


@register
class Attempted(_Holds):
    """Share of queries that the system tried to answer.

    It differs from Open RAG Eval's ``no_answer`` and from ``answered`` in one case: small talk in
    reply to a real query is not an attempt.

    Formula: 1 if an answer was tried, else 0; small talk counts only in reply to small talk
    Misleads where: a system that answers everything scores 1
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

    As published, small talk is an attempt; ``attempted`` counts it only in reply to small talk.

    Formula: yes if an answer was tried, else no
    Misleads where: not quality by itself
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
    Misleads where: a system that answers everything scores 1
    """

    name = "answered"
    says = "flag"

    def read(self, label: str, why: str) -> Score:
        return Score(label == "yes", {}, why)
