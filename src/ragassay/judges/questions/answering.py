"""Does the answer answer at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ragassay.judges.question import Question
from ragassay.judges.reply import WORD, Reply


class Attempt(Reply):
    """Yes: an answer was attempted, right or wrong; no: the system said that it cannot answer.

    Small talk is an answer to small talk, and to nothing else.
    """

    answered: Annotated[Literal["yes", "no"], WORD]


@dataclass(frozen=True)
class AnswerAttempted(Question[Attempt]):
    """Did the system attempt to answer the query (Open RAG Eval's no-answer metric)?"""

    query: str
    answer: str

    kind = "answer_attempted"
    reply = Attempt
    output_tokens = 15


class Idk(Reply):
    """Yes: no part of an answer, only "I don't know" or only small talk; partial: an answer beside
    an "I don't know" about the rest; no: an answer, be it a negation about the world or hedged.
    """

    # Small talk alone is *yes* because MT-RAG's table scores a CONVERSATIONAL turn 1 for *yes* and
    # 0 for all else, and its published values for "You're welcome!" are 1.
    says_idk: Annotated[Literal["yes", "partial", "no"], WORD]


@dataclass(frozen=True)
class SaysIdk(Question[Idk]):
    """Does the response say that it does not know the answer (MT-RAG's IDK judge)?

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    answer: str

    kind = "says_idk"
    reply = Idk
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
