"""A rubric of the user's own as a question."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply

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
