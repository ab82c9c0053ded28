"""The smallest and the largest valid answer to a question."""

from typing import Any

from ragassay.judges.question import Question


def smallest(question: Question[Any]) -> Any:
    """Lowest numbers and labels, empty lists."""
    return question.stand_in(largest=False)


def largest(question: Question[Any]) -> Any:
    """Highest numbers and labels, full lists."""
    return question.stand_in(largest=True)
