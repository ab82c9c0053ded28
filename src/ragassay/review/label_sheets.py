"""Questions about answers as a sheet that people fill in, and their labels read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ragassay.base.errors import InputError, RagassayError
from ragassay.judges import Question
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import (
    answer_of,
    label_text,
    needed_fields,
    optional_names,
    shown_question,
    word_of,
)
from ragassay.review.label_log import CANNOT_TELL
from ragassay.review.sheet_files import Choices, Row, Sheet


class LabelSheet(Sheet):
    """Questions about answers. People fill in ``answer`` and ``why``; ``labels`` shows others'
    labels to who settles them."""

    title = "Labels"
    columns: ClassVar = {
        "key": 8,
        "sample": 14,
        "question": 36,
        "values": 30,
        "answer": 16,
        "why": 24,
        "labels": 18,
        "texts": 60,
        "beside": 60,
    }
    filled = "answer"
    needed = ("key", "answer")
    hint = "Write a sheet with 'ragassay golden review DIR --answers ANSWERS --xlsx FILE'."

    def __init__(self, labels: AnswerLabels) -> None:
        self._labels = labels

    def _rows(self, reviewer: str, where: Sequence[str]) -> Iterator[tuple[list[str], Choices]]:
        """The questions that wait for a label; see `Sheet._rows`."""
        labels, standing = self._labels, self._labels.current()
        for thing in labels.things():
            if thing.state(reviewer, standing) not in ("todo", "disagreement"):
                continue
            question, sample = labels.question(thing.key)
            shown = shown_question(question, sample.query_text)
            needed = needed_fields(question)
            said = [
                f"{who}: {label_text(question, one)}".replace("\n", ", ")
                for who, one in labels.others(thing.key).items()
            ]
            row = [
                *(thing.key, sample.id, shown["ask"]),
                "\n".join(_values(field, len(needed) > 1) for field in needed),
                *("", "", "\n".join(said)),
                _texts(shown["texts"]),
                _texts(shown["beside"]),
            ]
            is_choice = len(needed) == 1 and needed[0]["form"] == "choice"
            values = list(map(word_of, needed[0]["values"])) if is_choice else []
            yield row, (*values, CANNOT_TELL) if values else ()

    def _is_taken(self, row: Row) -> bool:
        """Whether the label of a row is one that somebody gave; see `Sheet._is_taken`."""
        try:
            question, _ = self._labels.question(row["key"])
            answer = _answer(question, row)
        except RagassayError:
            return False
        entries = self._labels.current().all_of(row["key"])
        return any(_same(question, one.said.answer, answer) for one in entries)

    def _take(self, row: Row, reviewer: str) -> bool:
        """Takes a label. A row that shows what others said settles its question; see
        `Sheet._take`."""
        if not row["answer"].strip():
            if row.get("why", "").strip():
                raise InputError("the row says why, and has no answer", field="answer")
            return False
        key = row["key"]
        question, _ = self._labels.question(key)
        answer, before = _answer(question, row), self._labels.own_label(key, reviewer)
        if before is not None and _same(question, before, answer):
            return False  # the sheet was read before
        is_final = bool(row.get("labels", "").strip())
        self._labels.label(key, reviewer, answer, None, final=is_final)
        return True


def _answer(question: Question[Any], row: Row) -> Any:
    """What a row answers; ``None``: the person cannot tell."""
    text, why = row["answer"].strip(), row.get("why", "").strip()
    if text.casefold() in (CANNOT_TELL, "x"):
        return None
    optional = optional_names(question)
    if why and len(optional) != 1:
        hint = "Leave the cell empty."
        raise InputError("this question takes no reason", field="why", hint=hint)
    return answer_of(question, text) | ({optional[0]: why} if why else {})


def _same(question: Question[Any], before: Any, answer: Any) -> bool:
    def reasons(label: Any) -> set[str]:
        values = label if isinstance(label, dict) else {}
        return {values[name] for name in optional_names(question) if values.get(name)}

    same = label_text(question, before) == label_text(question, answer)
    return same and reasons(before) == reasons(answer)


def _values(field: dict[str, Any], with_name: bool) -> str:
    """What may be written, with what it means."""
    words = {
        "texts": "a text a line",
        "text": "a text",
        "numbers": "whole numbers, joined with commas",
        "number": f"a whole number from {field.get('low')} to {field.get('high')}",
    }
    values = words.get(field["form"], "")
    if not values:
        meanings = [field["meanings"].get(str(one).casefold()) for one in field["values"]]
        values = "\n".join(
            word_of(one) + (f": {meaning}" if meaning else "")
            for one, meaning in zip(field["values"], meanings, strict=True)
        )
    if field["form"] == "choices":
        items = "\n".join(f"{n}. {text}" for n, text in enumerate(field["items"], start=1))
        values = f"{values}\none a line for each of:\n{items}"
    return f"{field['name']}: {values}" if with_name else values


def _texts(parts: list[dict[str, Any]]) -> str:
    return "\n\n".join(
        f"{part['title'].capitalize()}: {text}" for part in parts for text in part["texts"]
    )
