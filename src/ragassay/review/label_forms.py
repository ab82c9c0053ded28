"""How a question is put to a person: its texts, and the fields of the answer."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from ragassay.base import packages
from ragassay.judges import Question, Reply
from ragassay.judges.questions import RubricGrade
from ragassay.judges.replay import label_of
from ragassay.review.answer_labels import CANNOT_TELL

_BESIDE = ("passage", "passages", "chunks", "reference", "references", "wrong")
"""Fields on the right: what the others are held against."""
_NOT_SHOWN = {"shots", "most", "words", "instructions", "temperature", "low", "high", "levels"}
_NOT_ASKED = {"intent"}
"""Fields of replies that make a model think before it answers."""
_TITLES = {
    "wrong": "wrong answer",
    "known": "known fact",
    "explanation": "why",
    "reasoning": "why",
    "supported": "support",
}
_MOST_BUTTONS = 11


def shown_question(question: Question[Any], query: str) -> dict[str, Any]:
    """A question for the page: its words (``ask``), what is judged (``texts``), what it is held
    against (``beside``), and the fields of the answer."""
    guide = guides().get(question.kind, {})
    items = getattr(type(question), "items", "")
    parts = [
        (name, texts)
        for name, texts in _parts(question)
        if name not in _NOT_SHOWN and name != items and any(texts)
    ]
    if not {"query", "conversation"} & {name for name, _ in parts}:
        parts = [("query", [query]), *parts]
    return {
        "kind": question.kind,
        "title": guide.get("title") or question.kind.replace("_", " "),
        "ask": guide.get("ask") or (type(question).__doc__ or "").partition("\n\n")[0],
        "texts": [_part(*part) for part in parts if part[0] not in _BESIDE],
        "beside": [_part(*part) for part in parts if part[0] in _BESIDE],
        "fields": answer_fields(question),
    }


def answer_fields(question: Question[Any]) -> list[dict[str, Any]]:
    """The fields of the answer that a person fills in: for each its ``form`` (``choice``,
    ``choices``: one for each of ``items``, ``number``, ``numbers``, ``texts``, ``text``) and what
    goes with it."""
    reply = type(question).reply
    specs = {
        name: spec
        for name, spec in _schema(reply)["properties"].items()
        if name in reply.fields() and name not in {*reply.implied, *_NOT_ASKED}
    }
    answered = []
    for name, spec in specs.items():
        spec = next((value for value in spec.get("anyOf", ()) if value.get("type") != "null"), spec)
        optional = spec.get("type") == "string" and "enum" not in spec and len(specs) > 1
        title = _TITLES.get(name, name.replace("_", " "))
        field = {"name": name, "title": title, "optional": optional, **_form(question, spec)}
        meanings = guides().get(question.kind, {}).get("meanings", {})
        if isinstance(question, RubricGrade):
            meanings = dict(question.levels)
        field["meanings"] = {str(value): text for value, text in meanings.items()}
        answered.append(field)
    return answered


def needed_fields(question: Question[Any]) -> list[dict[str, Any]]:
    """The fields of `answer_fields` that must have a value."""
    return [field for field in answer_fields(question) if not field["optional"]]


def answer_text(question: Question[Any], reply: Reply) -> str:
    """An answer as a person writes it: the value, or a line ``name: value`` a field."""
    needed = needed_fields(question)
    texts = {}
    for field in needed:
        value = getattr(reply, field["name"])
        several = value if isinstance(value, tuple | list) else (value,)
        texts[field["name"]] = ("\n" if len(needed) == 1 else ", ").join(map(word_of, several))
    if len(needed) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {text}" for name, text in texts.items())


def label_text(question: Question[Any], answer: Any) -> str:
    """The answer of a label, as `answer_text` writes it."""
    if answer is None or answer == CANNOT_TELL:
        return CANNOT_TELL
    _, reply = label_of({"question": question.kind, "data": question.data, "answer": answer})
    return CANNOT_TELL if reply is None else answer_text(question, reply)


def word_of(value: Any) -> str:
    """A value of a choice as a person writes it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@cache
def _schema(reply: type[Reply]) -> dict[str, Any]:
    return reply.model_json_schema()


def _form(question: Question[Any], spec: dict[str, Any]) -> dict[str, Any]:
    values = _values(question, spec)
    if values:
        return {"form": "choice", "values": values}
    if spec["type"] == "integer":
        return {"form": "number", "low": spec.get("minimum"), "high": spec.get("maximum")}
    if spec["type"] == "array":
        values = _values(question, spec["items"])
        items = getattr(type(question), "items", "")
        if values and items:
            return {"form": "choices", "values": values, "items": list(getattr(question, items))}
        return {"form": "numbers" if spec["items"]["type"] == "integer" else "texts"}
    return {"form": "text"}


def _values(question: Question[Any], spec: dict[str, Any]) -> list[Any]:
    """What may be chosen, where that is little enough for buttons."""
    if "enum" in spec:
        return list(spec["enum"])
    if spec.get("type") == "boolean":
        return [True, False]
    if spec.get("type") != "integer":
        return []
    low, high = spec.get("minimum"), spec.get("maximum")
    if isinstance(question, RubricGrade):
        low, high = question.low, question.high
    if low is None or high is None or high - low >= _MOST_BUTTONS:
        return []
    return list(range(low, high + 1))


def _parts(question: Question[Any]) -> list[tuple[str, list[str]]]:
    parts: list[tuple[str, list[str]]] = []
    for field in fields(question):
        value = getattr(question, field.name)
        if isinstance(value, str):
            parts.append((field.name, [value]))
        elif isinstance(value, tuple) and all(isinstance(part, str) for part in value):
            parts.append((field.name, list(value)))
        elif isinstance(question, RubricGrade) and field.name == "parts":
            parts += [(name, [text]) for name, text in question.parts]
    return parts


def _part(name: str, texts: list[str]) -> dict[str, Any]:
    title = _TITLES.get(name, name.replace("_", " "))
    return {"title": title.removesuffix("s") if len(texts) > 1 else title, "texts": texts}


def guides() -> dict[str, dict[str, Any]]:
    """What people read about each kind of question: ``title``, ``ask``, ``meanings``."""
    table: dict[str, dict[str, Any]] = packages.table("ragassay.review", "label_guides.yaml")
    return table
