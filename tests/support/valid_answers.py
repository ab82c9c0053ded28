"""The smallest and the largest valid answer to a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragassay.judges.question import Question

_STARS = ({"explanation": "", "stars": 1}, {"explanation": "", "stars": 5})


def smallest(question: Question[Any]) -> Any:
    """Lowest numbers and labels, empty lists."""
    return _answer(question, 0)


def largest(question: Question[Any]) -> Any:
    """Highest numbers and labels, full lists."""
    return _answer(question, 1)


def _answer(question: Question[Any], end: int) -> Any:
    return question.reply(**_ends(question)[end])


def _ends(asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    match asked.kind:
        case "relevance_grade":
            return _pair((0, 3), lambda n: {"match": n, "trust": n, "grade": n})
        case "answer_attempted":
            return {"answered": "no"}, {"answered": "yes"}
        case "answer_content":
            return {"holds": "nothing"}, {"holds": "answer"}
        case "says_idk":
            return {"says_idk": "no"}, {"says_idk": "yes"}
        case "says_underspecified":
            return {"asks": "no"}, {"asks": "yes"}
        case "report_on_context":
            return _report(1, 0, ()), _report(5, 100, tuple(range(1, len(asked.chunks) + 1)))
        case "contradiction" | "satisfaction":
            return _STARS
        case "answer_match":
            return _pair((False, True), lambda one: {"reasoning": "", "is_matching": one})
        case "extract_nuggets":
            begin, room = len(asked.known), max(1, asked.most - len(asked.known))
            return {"nuggets": ()}, {"nuggets": tuple(f"fact-{begin + at}" for at in range(room))}
        case "nugget_importance":
            return _pair(("okay", "vital"), lambda one: {"labels": (one,) * len(asked.nuggets)})
        case "assign_nuggets":
            labels = ("not_support", "support")
            return _pair(labels, lambda one: {"labels": (one,) * len(asked.nuggets)})
        case "reference_rating":
            return _pair((1, 10), lambda one: {"explanation": "", "rating": one})
        case "rubric_grade":
            scores = (asked.low, asked.high)
            return _pair(scores, lambda one: {"explanation": "", "score": one})
        case "citation_support":
            return {"support": "none"}, {"support": "full"}
        case "extract_claims":
            n = len(asked.answer.split()) // 12 + 1
            claims = tuple(f"claim number {at} of this answer" for at in range(n))
            return {"claims": ()}, {"claims": claims}
        case "claim_support":
            return _pair((False, True), lambda one: {"supported": (one,) * len(asked.claims)})
        case "write_query":
            return _pair(("", "When?"), lambda one: {"query": one})
        case "answer_from_passages":
            return _pair(("", "In 1968."), lambda one: {"answer": one})
        case "write_answer":
            texts = ("answer", "inaccurate", "incomplete")
            empty = dict.fromkeys(texts, "") | {"quotes": ()}
            return empty, dict.fromkeys(texts, "In 1968.") | {"quotes": ("spring of 1968",)}
    raise AssertionError(f"no valid answers are known to {asked.kind}")


def _pair(
    values: tuple[Any, Any], answer: Callable[[Any], dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    return answer(values[0]), answer(values[1])


def _report(stars: int, percent: int, chunks: tuple[int, ...]) -> dict[str, Any]:
    names = ("relevance", "usefulness", "utilization", "attribution")
    values: dict[str, Any] = dict(zip(names, (stars, stars, percent, chunks), strict=True))
    return values | {f"{name}_explanation": "" for name in names}
