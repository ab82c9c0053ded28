"""One or more questions of each kind, what of them is under judgment, and how to read fences."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from ragassay.judges.question import Question, Reply
from ragassay.judges.questions import answering as told, checklists as lists, grading as rated

QUERY = "When was the Aarwyk bridge opened?"
ANSWER = "The Aarwyk bridge was opened in 1968."
PASSAGE = "The bridge over the harbour of Aarwyk was opened in the spring of 1968."
OTHER = "Aarwyk has a tram line and a museum of ships."

EXAMPLES: list[Question[Any]] = [
    rated.RelevanceGrade(QUERY, PASSAGE), rated.RelevanceGrade(QUERY, PASSAGE, "few"),
    rated.RelevanceGrade("And when?", PASSAGE, earlier=("Who built the bridge?", "Who paid?")),
    told.AnswerAttempted(QUERY, ANSWER), told.SaysIdk(f"user: {QUERY}", ANSWER),
    told.AnswerContent(f"user: {QUERY}", ANSWER), told.SaysUnderspecified(f"user: {QUERY}", ANSWER),
    lists.ExtractNuggets(QUERY, (PASSAGE, OTHER)),
    lists.ExtractNuggets(QUERY, (PASSAGE, OTHER), ("bridge opened 1968", "bridge over harbour")),
    lists.ExtractNuggets(QUERY, (PASSAGE, OTHER), ("bridge opened 1968",), refined=True),
    lists.NuggetImportance(QUERY, ("bridge opened 1968", "tram line")),
    lists.AssignNuggets(QUERY, ANSWER, ("bridge opened 1968", "tram line")),
    lists.CitationSupport(ANSWER, PASSAGE), lists.ExtractClaims(f"user: {QUERY}", ANSWER),
    lists.ClaimSupport((ANSWER, "Aarwyk has a museum."), (PASSAGE, OTHER)),
    rated.ReferenceRating("", QUERY, "In 1968.", ANSWER, ()),
    rated.ReferenceRating("user: Hello\nagent: Hi!", QUERY, "In 1968.", ANSWER, (PASSAGE, OTHER)),
    rated.ReportOnContext(QUERY, (PASSAGE, OTHER)), rated.Contradiction((PASSAGE, OTHER), ANSWER),
    rated.Satisfaction(QUERY, ANSWER), rated.AnswerMatch(QUERY, ANSWER, ("In 1968.",)),
    rated.AnswerMatch(QUERY, ANSWER, ("In 1968.", "1968"), ("In 1986.",)),
    rated.AnswerMatch(QUERY, ANSWER, ("In 1968.",), (), "Judge as I do: {{ rule }} {% if %}"),
    rated.RubricGrade(
        "Is it clear?", 1, 3, ((1, "no"), (3, "yes")), (("query", QUERY), ("answer", "A"))),
    rated.RubricGrade("Is it kind?", 0, 1, (), (("answer", ANSWER),)),
    told.WriteQuery("a factual query", (PASSAGE,)),
    told.WriteQuery("a comparison", (PASSAGE, OTHER), f"user: {QUERY}\nagent: In 1968.", (QUERY,)),
    told.WriteAnswer(f"user: {QUERY}", (PASSAGE, OTHER)),
    told.WriteAnswer(f"user: {QUERY}", (PASSAGE,), "Address the user as you."),
    told.AnswerFromPassages(f"user: {QUERY}"),
    told.AnswerFromPassages(f"user: {QUERY}", (PASSAGE, OTHER)),
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
