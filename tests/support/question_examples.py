"""One or more questions of each kind, what of them is under judgment, and how to read fences."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from ragassay.judges.question import Question, Reply
from ragassay.judges.questions import ExtractClaims, ExtractNuggets, NuggetImportance
from ragassay.judges.questions.answering import (
    AnswerAttempted,
    AnswerContent,
    AnswerFromPassages,
    SaysIdk,
    SaysUnderspecified,
    WriteAnswer,
    WriteQuery,
)
from ragassay.judges.questions.checklists import AssignNuggets, CitationSupport, ClaimSupport
from ragassay.judges.questions.grading import (
    AnswerMatch,
    Contradiction,
    ReferenceRating,
    RelevanceGrade,
    ReportOnContext,
    RubricGrade,
    Satisfaction,
)

QUERY = "When was the Aarwyk bridge opened?"
ANSWER = "The Aarwyk bridge was opened in 1968."
PASSAGE = "The bridge over the harbour of Aarwyk was opened in the spring of 1968."
OTHER = "Aarwyk has a tram line and a museum of ships."

EXAMPLES: list[Question[Any]] = [
    RelevanceGrade(QUERY, PASSAGE), RelevanceGrade(QUERY, PASSAGE, "few"),
    AnswerAttempted(QUERY, ANSWER), SaysIdk(f"user: {QUERY}", ANSWER),
    AnswerContent(f"user: {QUERY}", ANSWER), SaysUnderspecified(f"user: {QUERY}", ANSWER),
    ExtractNuggets(QUERY, (PASSAGE, OTHER)),
    ExtractNuggets(QUERY, (PASSAGE, OTHER), ("bridge opened 1968", "bridge over harbour")),
    ExtractNuggets(QUERY, (PASSAGE, OTHER), ("bridge opened 1968",), refined=True),
    NuggetImportance(QUERY, ("bridge opened 1968", "tram line")),
    AssignNuggets(QUERY, ANSWER, ("bridge opened 1968", "tram line")),
    CitationSupport(ANSWER, PASSAGE), ExtractClaims(f"user: {QUERY}", ANSWER),
    ClaimSupport((ANSWER, "Aarwyk has a museum."), (PASSAGE, OTHER)),
    ReferenceRating("", QUERY, "In 1968.", ANSWER, ()),
    ReferenceRating("user: Hello\nagent: Hi!", QUERY, "In 1968.", ANSWER, (PASSAGE, OTHER)),
    ReportOnContext(QUERY, (PASSAGE, OTHER)), Contradiction((PASSAGE, OTHER), ANSWER),
    Satisfaction(QUERY, ANSWER), AnswerMatch(QUERY, ANSWER, ("In 1968.",)),
    AnswerMatch(QUERY, ANSWER, ("In 1968.", "1968"), ("In 1986.",)),
    AnswerMatch(QUERY, ANSWER, ("In 1968.",), instructions="Judge as I do: {{ rule }} {% if %}"),
    RubricGrade("Is it clear?", 1, 3, ((1, "no"), (3, "yes")), (("query", QUERY), ("answer", "A"))),
    RubricGrade("Is it kind?", 0, 1, (), (("answer", ANSWER),)),
    WriteQuery("a factual query", (PASSAGE,)),
    WriteQuery("a comparison", (PASSAGE, OTHER), f"user: {QUERY}\nagent: In 1968.", (QUERY,)),
    WriteAnswer(f"user: {QUERY}", (PASSAGE, OTHER)),
    WriteAnswer(f"user: {QUERY}", (PASSAGE,), "Address the user as you."),
    AnswerFromPassages(f"user: {QUERY}"), AnswerFromPassages(f"user: {QUERY}", (PASSAGE, OTHER)),
]  # fmt: skip

MODELS = ("gpt-4o", "openai/gpt-oss-20b", "Qwen3-32B")

TRUSTED = {"shots", "most", "words", "refined", "instructions", "temperature"} | {
    "criteria", "low", "high",
}  # fmt: skip
"""Fields that come from whoever evaluates, never from what is evaluated."""


def as_sent(question: Question[Any], reply: Reply) -> dict[str, Any]:
    """A reply in the form in which a model gives it."""
    body = reply.model_dump(mode="json")
    if question.form is None:
        return body
    (values,) = body.values()
    (name,) = question.schema()["properties"]["verdicts"]["items"]["properties"].keys() - {
        "number",
        "reason",
    }
    entries = enumerate(values, start=1)
    return {"verdicts": [{"number": at, "reason": "so", name: one} for at, one in entries]}


def name_of(question: Question[Any]) -> str:
    """A readable id for a parametrised test."""
    at = [one.kind for one in EXAMPLES[: EXAMPLES.index(question)]].count(question.kind)
    return f"{question.kind}{f'-{at + 1}' if at else ''}"


def with_text(question: Question[Any], text: str) -> Iterator[tuple[str, Question[Any]]]:
    """The question with a text in place of each piece that is under judgment, one at a time."""
    for field in dataclasses.fields(question):
        value = getattr(question, field.name)
        if field.name in TRUSTED or field.name == "levels":
            continue
        if isinstance(value, str):
            yield field.name, dataclasses.replace(question, **{field.name: text})
            continue
        for at, item in enumerate(value):
            new = (item[0], text) if isinstance(item, tuple) else text
            items = (*value[:at], new, *value[at + 1 :])
            yield f"{field.name}[{at}]", dataclasses.replace(question, **{field.name: items})


FENCE = re.compile(
    r"^<data (?P<code>[0-9a-f]{12}) (?P<name>[^<>\n]*)>\n(?P<text>.*?)\n</data (?P=code)>",
    re.MULTILINE | re.DOTALL,
)


def fences(content: str) -> list[tuple[str, str]]:
    """Name and text of each fence of a message, as a reader who keeps to the rule finds them."""
    return [(match["name"], match["text"]) for match in FENCE.finditer(content)]


def outside(content: str) -> str:
    """The message with each fence reduced to its name."""
    return FENCE.sub(lambda match: f"[{match['name']}]", content)
