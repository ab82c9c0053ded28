"""Answers, references and labels from their shapes in files; ``field`` is their name there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.base.sample import Answer, Answerability, Statement
from ragassay.formats.format_words import kind, unexpected, wrong
from ragassay.formats.records.aliases import pick
from ragassay.formats.records.values.cells import opened, refuse_object
from ragassay.formats.records.values.field_values import (
    is_number,
    needed_identifier,
    not_a_list,
    text,
)

_ANSWER_PARTS = (("text", "response", "answer", "content", "output"), ("statements", "parts"))


def answer(value: Any, field: str) -> Answer | None:
    """An answer from a text, from statements with citations, or from an object with either.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The answer; ``None`` where there is none.

    Raises:
        InputError: the value has another shape.
    """
    if type(value) is str:
        refuse_object(value, field)
        return Answer(value)
    if value is None:
        return None
    if is_number(value):
        return Answer(text(value, field) or "")
    if isinstance(value, dict):
        text_key, parts_key = pick(tuple(value), _ANSWER_PARTS)
        if text_key is None and parts_key is None:
            raise wrong("answer_without_text", field=field, names=", ".join(map(repr, value)))
        words = text(value[text_key], field) if text_key else None
        parts = value[parts_key] if parts_key else None
        if words is None and parts is None:
            return None
        if parts is None and value.get("citations"):
            parts = [{"text": words, "citations": value["citations"]}]
        stated = _statements(parts, field)
        return Answer(_joined(stated) if words is None else words, stated)
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        stated = _statements(value, field)
        return Answer(_joined(stated), stated)
    raise unexpected(value, "an answer", field)


def with_statements(cell: str) -> Any:
    """The answer with statements and citations, as our own records have it, that the text of a cell
    holds; any other text, also JSON, unchanged: a system may have answered so."""
    if not _STATED.match(cell):
        return cell
    parsed = opened(cell)
    if isinstance(parsed, dict) and parsed.keys() == {"text", "statements"}:
        return parsed
    of_parts = isinstance(parsed, list) and all(
        isinstance(one, dict) and one.keys() == {"text", "citations"} for one in parsed
    )
    return parsed if of_parts else cell


_STATED = re.compile(r"\s*(?:\{|\[\s*\{)\s*[\"'](?:text|statements|citations)[\"']\s*:")


def unknown(value: Any) -> list[str]:
    """The keys of an answer and its statements that `answer` does not read."""
    keys: set[str] = set()
    parts: Any = value
    if isinstance(value, dict):
        text_key, parts_key = pick(tuple(value), _ANSWER_PARTS)
        keys |= value.keys() - {text_key, parts_key, "citations", "speaker"}
        parts = value[parts_key] if parts_key else None
    return sorted(keys.union(*(item.keys() - {"text", "citations"} for item in parts or ())))


def references(value: Any, field: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Reference answers and, where they came as a list of lists, their groups. A single text is one
    reference."""
    if value is None:
        return (), ()
    if isinstance(value, str):
        refuse_object(value, field)
        return (value,), ()
    if isinstance(value, dict) or is_number(value):
        value = [value]
    if not isinstance(value, list):
        raise not_a_list(value, field)
    if list not in map(type, value):
        return tuple([_reference(item, field) for item in value]), ()
    if {*map(type, value)} != {list}:
        raise wrong("mixed_references", field=field)
    groups = tuple(tuple(_reference(one, field) for one in group) for group in value)
    return tuple(one for group in groups for one in group), groups


def answerability(value: Any, field: str) -> Answerability | None:
    """A label from its name in any case, alone or in a list of one, or from a flag; ``None`` where
    there is none."""
    if isinstance(value, list):
        labels = {answerability(item, field) for item in value} - {None}
        if len(labels) > 1:
            raise wrong("several_labels", field=field, labels=", ".join(map(str, value)))
        return next(iter(labels), None)
    if value is None or value == "" or value != value:
        return None
    label = _LABELS.get(str(value).strip().casefold().replace(" ", "_"))
    if label is None:
        labels_known = ", ".join(item.name for item in Answerability)
        raise wrong("no_label", field=field, value=kind(value), labels=labels_known)
    return label


_LABELS: Mapping[str, Answerability] = {
    **{str(label): label for label in Answerability},
    "partially_answerable": Answerability.PARTIAL,
    "true": Answerability.ANSWERABLE,
    "false": Answerability.UNANSWERABLE,
}


def _statements(value: Any, field: str) -> tuple[Statement, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise not_a_list(value, field, "statements")
    statements = []
    for item in value:
        words = text(item.get("text"), f"{field}.text") if isinstance(item, dict) else None
        if words is None:
            raise wrong("statement_without_text", field=field)
        cited = item.get("citations") or []
        if not isinstance(cited, list):
            raise not_a_list(cited, f"{field}.citations", "passage ids")
        statements.append(Statement(words, tuple(needed_identifier(one, field) for one in cited)))
    return tuple(statements)


def _joined(statements: Sequence[Statement]) -> str:
    return " ".join(statement.text for statement in statements)


def _reference(item: Any, field: str) -> str:
    if isinstance(item, dict):
        (key,) = pick(tuple(item), (("text", "content", "answer"),))
        item = item[key] if key else item
    words = text(item, field)
    if words is None:
        raise wrong("null_reference", field=field)
    return words
