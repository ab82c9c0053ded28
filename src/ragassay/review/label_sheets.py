"""Questions about answers as a sheet that people fill in, and their labels read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, RagassayError
from ragassay.judges import Question
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import (
    CANNOT_TELL,
    answer_of,
    label_text,
    needed_fields,
    optional_names,
    shown_question,
    word_of,
)
from ragassay.review.sheet_files import Row, Sheet

SHEET = Sheet(
    "Labels",
    {
        "key": 8,
        "sample": 14,
        "question": 36,
        "values": 30,
        "answer": 16,
        "why": 24,
        "labels": 18,
        "texts": 60,
        "beside": 60,
    },
    filled="answer",
    needed=("key", "answer"),
    hint="Write a sheet with 'ragassay golden review DIR --answers ANSWERS --xlsx FILE'.",
)
"""People fill in ``answer`` and ``why``; ``labels`` shows others' labels to who settles them."""


def write_label_sheet(
    labels: AnswerLabels, path: Path, reviewer: str = "", *, overwrite: bool = False
) -> int:
    """Writes the questions that wait for a label.

    Args:
        labels: the questions.
        path: ``.xlsx`` or ``.csv``.
        reviewer: whose questions; those that wait for anybody where left out.
        overwrite: whether a sheet that somebody has filled in is written over.

    Returns:
        How many questions were written.

    Raises:
        UsageError: the file is of another kind, cannot be written, or its package is missing; or it
            is there and filled in.
        InputError: a text does not fit into a cell.
    """
    if not overwrite:
        SHEET.refuse_filled(path, lambda row: _is_taken(labels, row))
    rows, choices = [], []
    for one in labels.entries(reviewer):
        if one["calibration"] or one["state"] not in ("todo", "disagreement"):
            continue
        question, sample = labels.question(one["key"])
        shown = shown_question(question, sample.query_text)
        needed = needed_fields(question)
        others = labels.others(one["key"]).items()
        rows.append(
            [
                *(one["key"], sample.id, shown["ask"]),
                "\n".join(_values(field, len(needed) > 1) for field in needed),
                *("", ""),
                "\n".join(
                    f"{who}: {label_text(question, one)}".replace("\n", ", ") for who, one in others
                ),
                _texts(shown["texts"]),
                _texts(shown["beside"]),
            ]
        )
        is_choice = len(needed) == 1 and needed[0]["form"] == "choice"
        values = list(map(word_of, needed[0]["values"])) if is_choice else []
        choices.append((*values, CANNOT_TELL) if values else ())
    SHEET.write(path, rows, choices)
    return len(rows)


def read_label_sheet(labels: AnswerLabels, path: Path, reviewer: str) -> tuple[int, list[str]]:
    """Takes the labels of a sheet.

    A row that is wrong, or whose question is no longer asked, is reported and left out. Reading a
    sheet again takes nothing twice. A row that shows what others said settles its question.

    Args:
        labels: the questions.
        path: ``.xlsx`` or ``.csv``.
        reviewer: whose labels they are.

    Returns:
        How many labels were taken, and a sentence for each row that was not.

    Raises:
        InputError: the file is no such sheet.
        UsageError: its package is missing.
    """
    return SHEET.take(path, lambda row: _take(labels, row, reviewer))


def _is_taken(labels: AnswerLabels, row: Row) -> bool:
    """Whether the label of a row is one that somebody gave."""
    try:
        question, _ = labels.question(row["key"])
        answer = _answer(question, row)
    except RagassayError:
        return False
    return any(_same(question, one, answer) for one in labels.all_labels(row["key"]))


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


def _take(labels: AnswerLabels, row: Row, reviewer: str) -> bool:
    """Takes a row; says whether there was anything to take."""
    if not row["answer"].strip():
        if row.get("why", "").strip():
            raise InputError("the row says why, and has no answer", field="answer")
        return False
    question, _ = labels.question(row["key"])
    answer = _answer(question, row)
    before = labels.own_label(row["key"], reviewer)
    if before is not None and _same(question, before, answer):
        return False  # the sheet was read before
    labels.label(row["key"], reviewer, answer, None, final=bool(row.get("labels", "").strip()))
    return True


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
