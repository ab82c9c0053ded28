"""Does the answer answer at all?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from ragassay.judges.question import WORD, Question, Reply


class Attempt(Reply):
    """Yes: an answer was attempted, right or wrong; no: the system said that it cannot answer."""

    answered: Annotated[Literal["yes", "no"], WORD]


@dataclass(frozen=True)
class AnswerAttempted(Question[Attempt]):
    """Did the system attempt to answer the query (Open RAG Eval's no-answer metric)?"""

    query: str
    answer: str

    kind = "answer_attempted"
    version = 2
    reply = Attempt
    output_tokens = 15


class Idk(Reply):
    """Yes: information is said to be missing, and nothing is given; partial: it is said to be
    missing, and a part, something near it or a place to find it is given; no: nothing is said to be
    missing (small talk, too), or the answer is given all the same."""

    says_idk: Annotated[Literal["yes", "partial", "no"], WORD]


@dataclass(frozen=True)
class SaysIdk(Question[Idk]):
    """Does the response say that information is missing (MT-RAG's IDK judge, as published)?

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    answer: str

    kind = "says_idk"
    version = 2
    reply = Idk
    output_tokens = 15


class Content(Reply):
    """What a response holds of an answer: all that it can tell, a part beside an "I don't know",
    small talk in reply to small talk, or nothing."""

    holds: Annotated[Literal["answer", "part", "small_talk", "nothing"], WORD]


@dataclass(frozen=True)
class AnswerContent(Question[Content]):
    """What does the response hold of an answer to the query?

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    answer: str

    kind = "answer_content"
    reply = Content
    output_tokens = 15


class Clarification(Reply):
    """Whether the response says that the query leaves something open and asks for it."""

    asks: Annotated[Literal["yes", "no"], WORD]


@dataclass(frozen=True)
class SaysUnderspecified(Question[Clarification]):
    """Does the response say that the query is underspecified, or ask back (MT-RAG, 2026)?"""

    conversation: str
    answer: str

    kind = "says_underspecified"
    reply = Clarification
    output_tokens = 15


class WrittenQuery(Reply):
    """A query that somebody could ask."""

    query: str


@dataclass(frozen=True)
class WriteQuery(Question[WrittenQuery]):
    """Write a query about passages of a collection.

    ``instructions`` say what kind of query is wanted. ``history`` holds earlier turns, as lines
    ``speaker: text``: the query goes on from them. ``examples`` are good queries about other
    passages.
    """

    instructions: str
    passages: tuple[str, ...]
    history: str = ""
    examples: tuple[str, ...] = ()

    kind = "write_query"
    reply = WrittenQuery
    parameters: ClassVar[Mapping[str, Any]] = {"temperature": 0.7}
    output_tokens = 80


class WrittenAnswer(Reply):
    """The answer, the texts that it rests on, and two wrong answers (empty where there is none)."""

    answer: str
    quotes: tuple[str, ...]
    inaccurate: str
    incomplete: str


@dataclass(frozen=True)
class WriteAnswer(Question[WrittenAnswer]):
    """Answer a query from passages, with quotes; and write wrong answers to it.

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    ``instructions`` say how answers are to be written.
    """

    conversation: str
    passages: tuple[str, ...]
    instructions: str = ""

    kind = "write_answer"
    reply = WrittenAnswer
    output_tokens = 400


class FoundAnswer(Reply):
    """The answer; empty where there is none."""

    answer: str


@dataclass(frozen=True)
class AnswerFromPassages(Question[FoundAnswer]):
    """Answer a query from passages alone or, where there is no passage, from memory.

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    passages: tuple[str, ...] = ()

    kind = "answer_from_passages"
    reply = FoundAnswer
    output_tokens = 200
