"""How good is an answer beside a reference? RAD-Bench's rating, as MT-RAG uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply, whole_number


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
