"""datapizza's LLM judge: does the prediction answer the query as the reference answer does?"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.own_rubrics import JudgePrompt
from ragassay.judges.questions import AnswerMatch
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import not_applicable, register
from ragassay.metrics.core.metric_parameters import param


@register
class AnswerMatches(JudgedMetric):
    """Whether the answer says what a reference says, by a judge (datapizza).

    True where it agrees with at least one of several references. An answer that agrees with a
    negative reference (an answer known to be wrong) does not match. The judge's reasoning is the
    explanation. Where the judge fails, the sample is unscored; datapizza's example counts it as no
    match.

    A user's own instructions replace the judge's prompt with ``--judge-prompt FILE``: the result is
    a separate metric, named ``answer_match_`` and the file's name.

    Class attributes:
        prompt: the instructions, where they are not the built-in ones.

    Formula: 1 if the judge says that the answer agrees with a reference, else 0
    Misleads where: the judge decides; a lenient one passes answers that leave out half
    Source: datapizza-ai, docs/metrics.md (LLM-as-judge)
    """

    temperature: float | None = param(
        None, "sampling temperature of the judge (its own when left out)", minimum=0
    )

    prompt: ClassVar[JudgePrompt | None] = None
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
        "source": "a judge's instructions of one's own",
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
    items = (f"{one} (or: {' / '.join(others)})" if others else one for one, *others in groups)
    return ("; ".join(items),)


def _filled(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())
