"""Does the answer answer at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ragassay.judges.question import Question
from ragassay.judges.reply import WORD, Reply


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
