"""What a golden set is written and checked with: queries, answers, answers from passages alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply


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
