"""How good is something? Grades, ratings, stars and matches of passages and answers."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, Field
from typing_extensions import override

from ragassay.judges.question import Question, Reply, ReplyInParts, whole_number


class Relevance(Reply):
    """UMBRELA's steps: what the searcher wants, in a sentence; content match, trustworthiness and
    final grade, each 0 to 3."""

    implied: ClassVar[Mapping[str, str]] = {"match": "grade", "trust": "grade"}
    intent: str = ""
    match: Annotated[int, *whole_number(0, 3)]
    trust: Annotated[int, *whole_number(0, 3)]
    grade: Annotated[int, *whole_number(0, 3)]


@dataclass(frozen=True)
class RelevanceGrade(Question[Relevance]):
    """UMBRELA (Upadhyay et al. 2024): 0 nothing to do with the query, 1 related but no answer,
    2 some answer, unclear or hidden, 3 dedicated to the query and holds the exact answer.

    ``shots`` chooses the zero-shot or the few-shot prompt. Models of the GPT-OSS and Qwen families
    are asked in a shape of their own (Open RAG Eval). ``earlier`` are the user's earlier turns in
    the conversation, oldest first; without them the prompts are UMBRELA's, which knows none.
    """

    query: str
    passage: str
    shots: Literal["zero", "few"] = "zero"
    earlier: tuple[str, ...] = ()

    kind = "relevance_grade"
    version = 2
    reply = Relevance
    parameters: ClassVar[Mapping[str, Any]] = {
        "temperature": 0.0,
        "top_p": 1.0,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.0,
        "seed": 42,
    }
    output_tokens = 80
    later = frozenset({"earlier"})

    @override
    def template(self, model: str) -> str:
        plain = any(family in model.casefold() for family in ("gpt-oss", "qwen"))
        return f"relevance_grade{'_few' if self.shots == 'few' else ''}{'_plain' if plain else ''}"


class Rating(Reply):
    """A short explanation first, then the rating from 1 to 10."""

    explanation: str
    rating: Annotated[int, *whole_number(1, 10)]


@dataclass(frozen=True)
class ReferenceRating(Question[Rating]):
    """Faithfulness, appropriateness and completeness of an answer, as one rating.

    ``history`` holds the earlier turns as lines ``speaker: text``, and may be empty.
    """

    history: str
    query: str
    reference: str
    answer: str
    passages: tuple[str, ...]

    kind = "reference_rating"
    reply = Rating
    output_tokens = 200


class Match(Reply):
    """The reasoning first, then whether the answer matches."""

    # datapizza's own prompt names these two keys: it agrees with the schema where a user gives it
    # as ``instructions``. (Docstrings of replies are in the schema that judges read.)
    reasoning: str
    # Label files written for version 1 have ``match``.
    is_matching: Annotated[bool, Field(validation_alias=AliasChoices("is_matching", "match"))]


@dataclass(frozen=True)
class AnswerMatch(Question[Match]):
    """Does the prediction answer the query as at least one of the references does, and as none of
    the ``wrong`` answers does?

    ``instructions`` take the place of the built-in system prompt, and ``temperature`` of 0, where
    given.
    """

    query: str
    answer: str
    references: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    instructions: str = ""
    temperature: float | None = None

    kind = "answer_match"
    version = 2
    reply = Match
    output_tokens = 150

    @override
    def sampling(self) -> Mapping[str, Any]:
        return {} if self.temperature is None else {"temperature": self.temperature}


Parts = tuple[tuple[str, str], ...]
"""What a rubric sees, in order: ``(("query", "..."), ("answer", "..."))``."""


class Graded(Reply):
    """The explanation first, then the score on the rubric's scale."""

    explanation: str
    score: int


@dataclass(frozen=True)
class RubricGrade(Question[Graded]):
    """How well does the material meet the criteria?

    ``levels`` describes each score, lowest first, as ``((1, "unusable"), ...)``; the scores of the
    scale run from ``low`` to ``high``.
    """

    criteria: str
    low: int
    high: int
    levels: tuple[tuple[int, str], ...]
    parts: Parts

    kind = "rubric_grade"
    reply = Graded
    output_tokens = 150

    @override
    def bounded_schema(self) -> dict[str, Any]:
        schema = deepcopy(self.schema())
        schema["properties"]["score"] |= {"minimum": self.low, "maximum": self.high}
        return schema

    @override
    def check(self, reply: Graded) -> Graded:
        if not self.low <= reply.score <= self.high:
            raise ValueError(f"score must be from {self.low} to {self.high}, not {reply.score}")
        return reply


class ContextReport(ReplyInParts):
    """Relevance and usefulness 1 to 5, utilization 0 to 100 (percent), attribution: 1-based chunks;
    each with an explanation."""

    relevance_explanation: str | None = None
    relevance: Annotated[int, *whole_number(1, 5)] | None = None
    usefulness_explanation: str | None = None
    usefulness: Annotated[int, *whole_number(1, 5)] | None = None
    utilization_explanation: str | None = None
    utilization: Annotated[int, *whole_number(0, 100)] | None = None
    attribution_explanation: str | None = None
    attribution: tuple[Annotated[int, *whole_number(1, 1_000_000)], ...] | None = None


@dataclass(frozen=True)
class ReportOnContext(Question[ContextReport]):
    """What the retrieved chunks are worth to the query (ML cube, retrieval evaluation)."""

    query: str
    chunks: tuple[str, ...]

    kind = "report_on_context"
    reply = ContextReport
    output_tokens = 400

    @override
    def faults(self, reply: ContextReport) -> dict[str, str]:
        faults = super().faults(reply)
        chunks = reply.attribution or ()
        beyond = [index for index in chunks if index > len(self.chunks)]
        if beyond:
            faults["attribution"] = f"there is no chunk {beyond[0]}, there are {len(self.chunks)}"
        elif len(set(chunks)) < len(chunks):
            faults["attribution"] = "a chunk is named twice"
        return faults

    @override
    def bounded_schema(self) -> dict[str, Any]:
        schema = deepcopy(self.schema())
        schema["properties"]["attribution"]["items"]["maximum"] = len(self.chunks)
        return schema


class Stars(Reply):
    """An explanation, then 1 (lowest) to 5 (highest)."""

    explanation: str
    stars: Annotated[int, *whole_number(1, 5)]


class _StarsQuestion(Question[Stars]):
    reply = Stars
    output_tokens = 120


@dataclass(frozen=True)
class Contradiction(_StarsQuestion):
    """How far does the response contradict the context (ML cube's faithfulness)?

    5: nothing contradicts it, even where nothing supports it; 1: it contradicts it outright.
    """

    chunks: tuple[str, ...]
    answer: str

    kind = "contradiction"


@dataclass(frozen=True)
class Satisfaction(_StarsQuestion):
    """How satisfied would the user be with the response (ML cube)?"""

    query: str
    answer: str

    kind = "satisfaction"
