"""Does an answer say what a reference says? datapizza's LLM judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices, Field
from typing_extensions import override

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply


class Match(Reply):
    """The reasoning first, then whether the answer matches."""

    # datapizza's own prompt names these two keys: it agrees with the schema where a user gives it
    # as ``instructions``. (Docstrings of replies are in the schema that judges read.)
    reasoning: str
    # ``match`` stands in label files written for version 1.
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
