"""ML cube's RAG report: six metrics over user input, context and response; those of the same two
components share one question. The lowest value of a missing component is marked (`assumed`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored, Value
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.questions import ContextReport, ReportOnContext
from ragassay.judges.questions.grading import Contradiction, Satisfaction
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import (
    Window,
    param,
    passage_texts,
    register,
    scored,
    textless_passage,
)

Component = Literal["user input", "context", "response"]

HIGH, LOW = 4, 2
"""Relevance is high from the first value on; usefulness is low up to the second."""

ON_TOPIC_ONLY = "on_topic_only"
"""Key in the parts of a usefulness score: the context is on the topic and lacks the answer."""

_ON_TOPIC_ONLY = (
    "High relevance with low usefulness: the context talks about the topic of the user input but "
    "does not hold the information that answers it."
)
_SUMMED = (
    "Samples whose context has a high relevance and a low usefulness: {n}. It is on the topic but "
    "does not hold the answer; see the explanations of usefulness."
)


@dataclass(frozen=True)
class ReportMetric(JudgedMetric):
    """Base of the six metrics.

    Class attributes:
        components: what the value is about; without one of them there is nothing to judge.
        lowest: the value that the specification gives then.

    Source: ML cube Platform, RAG evaluation
    """

    missing: Literal["lowest", "unscored"] = param(
        "lowest",
        "what a sample without one of the components gets: the lowest value, as published, or none",
    )

    components: ClassVar[tuple[Component, ...]]
    lowest: ClassVar[Value] = 1
    family = "ragreport"
    low: ClassVar[float | None] = 1.0
    high: ClassVar[float | None] = 5.0

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored where a component is missing (unless that gives the lowest value) or a chunk has
        no text."""
        absent = missing_components(sample, self.components)
        if absent and self.missing == "unscored":
            return Unscored(Reason.MISSING_INPUT, f"{_sentence(absent)}.")
        if absent or "context" not in self.components:
            return None
        return textless_passage(sample, "chunk {} of the context has no text")

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        absent = missing_components(sample, self.components)
        if absent:
            why = f"{_sentence(absent)}, so the lowest value is given."
            return Score(self.lowest, self.lowest_parts(absent), why, assumed=True)
        return await self.report(sample, ask)

    def lowest_parts(self, absent: Mapping[Component, str]) -> Mapping[str, Any]:
        """The parts of a lowest value: which components are missing."""
        return {"missing": list(absent)}

    @abstractmethod
    async def report(self, sample: Sample, ask: Ask) -> Outcome:
        """The outcome for a sample that has all components."""


class _OnContext(ReportMetric):
    """A metric about user input and context, whose value is the field ``part`` of their common
    report."""

    part: ClassVar[str]
    components = ("user input", "context")
    needs = ("query", "passages")
    asks: ClassVar[tuple[type[Question[Any]], ...]] = (ReportOnContext,)

    async def report(self, sample: Sample, ask: Ask) -> Outcome:
        report = await ask(ReportOnContext(sample.query_text, passage_texts(sample)))
        value = getattr(report, self.part)
        if value is None:
            lost = report.lost[self.part]
            return Unscored(lost.reason, f"the judge's report has no {self.part}: {lost.detail}")
        return self.read(value, getattr(report, f"{self.part}_explanation") or "", report, sample)

    def read(self, value: Any, explanation: str, report: ContextReport, sample: Sample) -> Outcome:
        """The outcome for a value in the judge's report."""
        return scored(value, explanation)


@register
class ReportRelevance(_OnContext):
    """How far the context is about the user input's topic (ML cube).

    Formula: judge, 1 to 5
    Misleads where: a context on the topic is relevant, even without the answer; see
        ragreport_usefulness
    """

    name = "ragreport_relevance"
    part = "relevance"


@register
class ReportUsefulness(_OnContext):
    """How far the context holds what answers the user input (ML cube).

    The explanation says what a high relevance (4 or 5) with a low usefulness (1 or 2) means.

    Formula: judge, 1 to 5
    Misleads where: says nothing about whether the response used it
    """

    name = "ragreport_usefulness"
    part = "usefulness"

    def read(self, value: Any, explanation: str, report: ContextReport, sample: Sample) -> Outcome:
        """The value, with a note where the context is on the topic but lacks the answer."""
        if report.relevance is None or report.relevance < HIGH or value > LOW:
            return scored(value, explanation)
        parts = {ON_TOPIC_ONLY: True, "relevance": report.relevance}
        return Score(value, parts, f"{explanation} {_ON_TOPIC_ONLY}".strip())

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many samples are on the topic only."""
        outcomes = window.outcomes(self)
        n = sum(
            isinstance(outcome, Score) and ON_TOPIC_ONLY in outcome.parts for outcome in outcomes
        )
        return [CountedFact(_SUMMED, n)]


@register
class ReportUtilization(_OnContext):
    """Percentage of the context that holds information for the response (ML cube).

    Formula: percentage of the context that holds information for the response
    Misleads where: large chunks lower it
    """

    name = "ragreport_utilization"
    lowest = 0
    low = 0.0
    high = 100.0
    part = "utilization"


@register
class ReportAttribution(_OnContext):
    """Numbers of the chunks that the response can be made from (ML cube).

    The value is a list of their numbers, the first chunk having 1: ``[1, 3]``. They count the
    chunks as they were given, empty ones included. ``parts["chunks"]`` holds the same.

    Formula: numbers of the chunks that the response can be made from
    Misleads where: a list, not quality
    """

    name = "ragreport_attribution"
    says = "label"
    version = 2
    lowest: ClassVar[Value] = []
    low = None
    high = None
    higher_is_better = None
    part = "attribution"

    def read(self, value: Any, explanation: str, report: ContextReport, sample: Sample) -> Outcome:
        """The chunk numbers, ascending."""
        chunks = sorted(value)
        return Score(chunks, {"chunks": chunks}, explanation)

    def lowest_parts(self, absent: Mapping[Component, str]) -> Mapping[str, Any]:
        """No chunks."""
        return {"chunks": [], **super().lowest_parts(absent)}


@register
class ReportAttributionShare(_OnContext):
    """Share of the chunks that the response can be made from.

    Formula: attributed chunks / chunks
    Misleads where: one good chunk among ten makes 0.1 for a perfect response
    Source: our own, from ML cube's attribution
    """

    name = "ragreport_attribution_share"
    lowest = 0.0
    low = 0.0
    high = 1.0
    part = "attribution"

    def read(self, value: Any, explanation: str, report: ContextReport, sample: Sample) -> Outcome:
        """Attributed chunks over all chunks."""
        used, n = len(value), len(sample.passages or ())
        return scored(used / n, explanation, attributed=used, chunks=n)


@register
class ReportFaithfulness(ReportMetric):
    """Absence of contradiction, not support, of the response by the context (ML cube).

    The offline judge leaves it unscored: words alone do not show a contradiction.

    Formula: judge, from 5 (no contradiction) to 1 (outright)
    Misleads where: what the context does not mention contradicts nothing, so an invented response
        gets 5; see faithfulness
    """

    name = "ragreport_faithfulness"
    components = ("context", "response")
    needs = ("passages", "answer")
    asks: ClassVar[tuple[type[Question[Any]], ...]] = (Contradiction,)

    async def report(self, sample: Sample, ask: Ask) -> Outcome:
        reply = await ask(Contradiction(passage_texts(sample), sample.answer_text))
        return scored(reply.stars, reply.explanation)


@register
class ReportSatisfaction(ReportMetric):
    """How far the response addresses and answers the user input (ML cube).

    Formula: judge, 1 to 5
    Misleads where: the judge sees no context, so a wrong answer may satisfy
    """

    name = "ragreport_satisfaction"
    components = ("user input", "response")
    needs = ("query", "answer")
    asks: ClassVar[tuple[type[Question[Any]], ...]] = (Satisfaction,)

    async def report(self, sample: Sample, ask: Ask) -> Outcome:
        reply = await ask(Satisfaction(sample.query_text, sample.answer_text))
        return scored(reply.stars, reply.explanation)


def missing_components(sample: Sample, needed: Sequence[Component]) -> Mapping[Component, str]:
    """Which components the sample lacks, each with the reason where one is known.

    A component without any text is missing.
    """
    failed = f"the system failed: {sample.failure}" if sample.failure else ""
    of_context = "no chunk has a text" if sample.passages else "nothing was retrieved"
    texts: Mapping[Component, tuple[str, str]] = {
        "user input": (sample.query_text, "" if sample.query is None else "it is empty"),
        "context": ("".join(passage_texts(sample)), "" if sample.passages is None else of_context),
        "response": (sample.answer_text, failed if sample.answer is None else "it is empty"),
    }
    return {text: texts[text][1] for text in needed if not texts[text][0].strip()}


def _sentence(absent: Mapping[Component, str]) -> str:
    """``The context (nothing was retrieved) and the response are missing``."""
    names = [f"the {name} ({why})" if why else f"the {name}" for name, why in absent.items()]
    sentence = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing"
    return sentence[0].upper() + sentence[1:]
