"""Sheets of a golden set and of questions about answers, which people fill in, and what they
decided read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import orjson

from ragassay.base.errors import InputError
from ragassay.base.sample import Answerability
from ragassay.golden.golden_item import GoldenItem, nearly, negatives_in, tags_in, unplaced
from ragassay.judges import Question
from ragassay.review.answer_labels import CANNOT_TELL, AnswerLabels
from ragassay.review.label_forms import (
    answer_of,
    label_text,
    needed_fields,
    optional_names,
    shown_question,
    word_of,
)
from ragassay.review.review_store import Review, ReviewStore, version_of
from ragassay.review.sheet_files import Row, Sheet

NONE = "(none)"
_DECIDE = "Write accept or reject."
_SPAN = re.compile(r"(?P<document>.+) (?P<start>\d+)-(?P<end>\d+)(?: grade (?P<grade>-?\d+))?")


def _decided(review: Review) -> str:
    return "reject" if review.decision == "reject" else "accept"


def _refuse_emptied(answerability: str | None) -> None:
    """Refuses to accept an item that has lost its references, unless nothing answers its query."""
    if answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL, None):
        it = f"the item is {answerability}" if answerability else "no answerability is given"
        raise InputError(
            f"the cell is empty, and {it}",
            field="references",
            hint="Write an answer a line, write unanswerable into answerability, or reject the "
            "item.",
        )


def _bare(name: str, value: Any) -> Any:
    """A value of an item as a sheet says it: without what is found elsewhere."""
    if name == "gold" and value is not None:
        parts = ("document", "start", "end", "grade")
        return [{key: one[key] for key in parts if key in one} for one in value]
    if name == "negative_references":
        return [{"text": str(one.get("text", "")), "kind": one.get("kind")} for one in value]
    return value


def _spans(cell: str) -> list[dict[str, Any]] | None:
    """The gold spans of a cell, a line each; none judged, where it is empty."""
    if not cell.strip():
        return None
    spans: list[dict[str, Any]] = []
    for line in filter(str.strip, cell.split("\n") if cell.strip() != NONE else ()):
        span = _SPAN.fullmatch(line.strip())
        if span is None:
            hint = f"Write DOCUMENT START-END, or {NONE}."
            raise InputError(f"{line!r} is no span", field="gold", hint=hint)
        start, end, grade = int(span["start"]), int(span["end"]), int(span["grade"] or 1)
        spans.append({"document": span["document"], "start": start, "end": end, "grade": grade})
    return spans


def _span_line(one: Mapping[str, Any]) -> str:
    grade = "" if one["grade"] == 1 else f" grade {one['grade']}"
    return f"{one['document']} {one['start']}-{one['end']}{grade}"


def _wrong_line(one: Mapping[str, Any]) -> str:
    return (f"{one['kind']}: " if one["kind"] else "") + str(one["text"])


@dataclass(frozen=True)
class _Column:
    """Width in characters, the cell of an item, and how a cell is read back; without ``read`` it is
    for reading only."""

    width: int
    cell: Callable[[GoldenItem], str]
    read: Callable[[str], Any] | None = None


def _text(name: str, width: int) -> _Column:
    return _Column(width, lambda item: str(getattr(item, name) or ""), str)


def _list(
    name: str, width: int, kind: type, line: Callable[[Any], str], lines: Callable[[str], Any]
) -> _Column:
    """A list, an entry a line; as JSON where its lines would read as something else."""

    def read(cell: str) -> Any:
        try:
            parsed = orjson.loads(cell) if cell.startswith("[") else None
        except orjson.JSONDecodeError:
            parsed = None  # a text that begins so
        if parsed is None:
            return lines(cell)
        if not isinstance(parsed, list) or not all(isinstance(one, kind) for one in parsed):
            raise InputError("is a list of other things than the column holds", field=name)
        return _bare(name, parsed)

    def reads_as(text: str, wanted: Any) -> bool:
        try:
            return bool(read(text) == wanted)
        except InputError:
            return False

    def cell(item: GoldenItem) -> str:
        wanted = _bare(name, item.model_dump(mode="json")[name])
        texts = ("\n".join(map(line, wanted or ())), NONE)
        return next((one for one in texts if reads_as(one, wanted)), orjson.dumps(wanted).decode())

    return _Column(width, cell, read)


_COLUMNS = {
    "id": _Column(18, lambda item: item.id),
    "version": _Column(8, version_of),
    "decision": _Column(10, lambda _: ""),
    "query": _text("query", 44),
    "references": _list(
        "references", 44, str, str, lambda cell: list(filter(str.strip, cell.split("\n")))
    ),
    "negative_references": _list("negative_references", 44, dict, _wrong_line, negatives_in),
    "gold": _list("gold", 26, dict, _span_line, _spans),
    "gold_text": _Column(44, lambda item: "\n".join(one.text for one in item.gold or ())),
    "nearly": _Column(44, lambda item: "\n".join(one.text for one in nearly(item))),
    "unplaced": _Column(
        44,
        lambda item: "\n".join(
            str(one.get("text") or one.get("document") or "") for one in unplaced(item)
        ),
    ),
    "answerability": replace(_text("answerability", 14), read=lambda cell: cell.strip() or None),
    "type": _text("type", 14),
    "complexity": _text("complexity", 14),
    "style": _text("style", 14),
    "language": _text("language", 10),
    "tags": _list("tags", 18, str, str, tags_in),
    "status": _Column(10, lambda item: item.status),
}
_WIDTHS = {name: one.width for name, one in _COLUMNS.items()}
_READERS = {name: one.read for name, one in _COLUMNS.items() if one.read is not None}


class ItemSheet(Sheet):
    """The items that nobody accepted or rejected yet. ``gold_text``, ``nearly`` (what almost
    answers an unanswerable query), ``unplaced`` (gold that has no place in the documents) and
    ``status`` are for reading only."""

    title = "Review"
    columns = _WIDTHS
    filled = "decision"
    needed = ("id", "version", "decision")
    hint = "Write a sheet with 'ragassay golden review DIR --xlsx FILE'."

    def __init__(self, store: ReviewStore) -> None:
        self._store = store

    def _rows(self, reviewer: str, where: Sequence[str]) -> Iterator[list[str]]:
        for item in self._store.golden().with_status("draft", where=where):
            yield [one.cell(item) for one in _COLUMNS.values()]

    def _take(self, row: Row, reviewer: str) -> bool:
        store = self._store
        item = store.golden().item(row["id"])
        if item is None:
            raise InputError(f"there is no item {row['id']!r} in the set", field="id")
        fields = {name: read(row[name]) for name, read in _READERS.items() if name in row}
        record = item.model_dump(mode="json")
        changed = {name for name, value in fields.items() if _bare(name, record[name]) != value}
        decision = row["decision"].strip().casefold()
        if not decision:
            if changed and row["version"] == version_of(item):
                problem = f"the row changes {', '.join(sorted(changed))}, and decides nothing"
                raise InputError(problem, field="decision", hint=_DECIDE)
            return False
        if decision not in ("accept", "reject"):
            problem = f"{row['decision']!r} is no decision"
            raise InputError(problem, field="decision", hint=_DECIDE)
        if (
            decision == "accept"
            and "references" in changed
            and not any(map(str.strip, fields["references"]))
        ):
            _refuse_emptied(fields.get("answerability", item.answerability))
        status = {"accept": "accepted", "reject": "rejected"}[decision]
        mine = store.current().own(item.id, reviewer)
        if mine is not None and _decided(mine) == decision:
            wanted = {} if mine.applied else {name: new for name, (_, new) in mine.changes.items()}
            is_as_before = all(
                _bare(name, wanted.get(name, record[name])) == value
                for name, value in fields.items()
            )
            # What waits for others is a draft.
            if is_as_before and item.status in {status, status if mine.applied else "draft"}:
                return False
        store.review(
            item.id,
            reviewer,
            "accept" if decision == "accept" else "reject",
            row["version"],
            fields={name: fields[name] for name in changed},
        )
        return True


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

    def _rows(self, reviewer: str, where: Sequence[str]) -> Iterator[list[str]]:
        labels, standing = self._labels, self._labels.current()
        for thing in labels.things():
            if thing.state(reviewer, standing) not in ("todo", "disagreement"):
                continue
            question, query, sample = labels.question(thing.key)
            shown = shown_question(question, query)
            needed = needed_fields(question)
            said = [
                f"{who}: {label_text(question, one)}".replace("\n", ", ")
                for who, one in labels.others(thing.key).items()
            ]
            yield [
                *(thing.key, sample, shown["ask"]),
                "\n".join(_values(field, len(needed) > 1) for field in needed),
                *("", "", "\n".join(said)),
                _texts(shown["texts"]),
                _texts(shown["beside"]),
            ]

    def _take(self, row: Row, reviewer: str) -> bool:
        """Takes a label. A row that shows what others said settles its question; see
        `Sheet._take`."""
        if not row["answer"].strip():
            if row.get("why", "").strip():
                raise InputError("the row says why, and has no answer", field="answer")
            return False
        key = row["key"]
        question = self._labels.question(key).question
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
