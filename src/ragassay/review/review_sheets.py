"""Sheets of a golden set (Excel workbooks), which people fill in, and what they decided read back.
Nothing becomes a formula, and a formula is refused, never computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from ragassay.base import files
from ragassay.base.errors import InputError, RagassayError, UsageError
from ragassay.base.sample import Answerability
from ragassay.formats import table_files
from ragassay.golden.golden_export import workbook
from ragassay.golden.golden_item import GoldenItem, nearly, negatives_in, tags_in, unplaced
from ragassay.review.review_store import ReviewStore, version_of

NONE = "(none)"
_DECIDE = "Write accept or reject."
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]|_x005F_")
_FORMULA = "\0formula"
"""In place of a cell that holds a formula; no text of a workbook is this."""
_SPAN = re.compile(r"(?P<document>.+) (?P<start>\d+)-(?P<end>\d+)(?: grade (?P<grade>-?\d+))?")


def _bare(name: str, value: Any) -> Any:
    """A value of an item as a sheet says it: without what is found elsewhere."""
    if name == "gold" and value is not None:
        parts = ("document", "start", "end", "grade")
        return [{key: item[key] for key in parts if key in item} for item in value]
    if name == "negative_references":
        return [{"text": str(item.get("text", "")), "kind": item.get("kind")} for item in value]
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
            raise InputError(f"{line!r} is not a span", field="gold", hint=hint)
        start, end, grade = int(span["start"]), int(span["end"]), int(span["grade"] or 1)
        spans.append({"document": span["document"], "start": start, "end": end, "grade": grade})
    return spans


def _span_line(record: Mapping[str, Any]) -> str:
    grade = "" if record["grade"] == 1 else f" grade {record['grade']}"
    return f"{record['document']} {record['start']}-{record['end']}{grade}"


def _wrong_line(record: Mapping[str, Any]) -> str:
    return (f"{record['kind']}: " if record["kind"] else "") + str(record["text"])


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
        if not isinstance(parsed, list) or not all(isinstance(value, kind) for value in parsed):
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
        return next(
            (text for text in texts if reads_as(text, wanted)), orjson.dumps(wanted).decode()
        )

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
    "gold_text": _Column(44, lambda item: "\n".join(span.text for span in item.gold or ())),
    "nearly": _Column(44, lambda item: "\n".join(span.text for span in nearly(item))),
    "unplaced": _Column(
        44,
        lambda item: "\n".join(
            str(record.get("text") or record.get("document") or "") for record in unplaced(item)
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


def write_sheet(
    store: ReviewStore, path: Path, *, overwrite: bool = False, where: Sequence[str] = ()
) -> int:
    """Writes the items that nobody accepted or rejected yet; gives the number of rows. A file that
    is there may hold what somebody filled in, and is kept unless ``overwrite``."""
    if path.suffix.casefold() != ".xlsx":
        raise UsageError(f"{path}: give the sheet a name that ends in .xlsx.")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists. Choose another name, or replace it: --overwrite.")
    items = store.golden().with_status("draft", where=where)
    rows = [[column.cell(item) for column in _COLUMNS.values()] for item in items]
    names = list(_COLUMNS)
    for row in rows:
        for name, cell in zip(names, row, strict=True):
            if _CONTROL.search(cell):
                problem = f"{row[0]!r} holds characters that no workbook holds"
                raise InputError(problem, field=name, hint="Review this item on the page.")
    widths = [column.width for column in _COLUMNS.values()]
    book = workbook(names, rows, "Review", widths, names.index("decision"))
    files.write_bytes(path, book)
    return len(rows)


def read_sheet(store: ReviewStore, path: Path, reviewer: str) -> tuple[int, list[str]]:
    """Takes what people filled in, row by row: how many rows were taken, and a sentence for each
    that is wrong. Nothing is taken from a file that is no such sheet."""
    n_taken, troubles = 0, []
    for number, row in _rows(path):
        try:
            n_taken += _take(store, row, reviewer)
        except InputError as error:
            hint = f" {error.hint}" if error.hint else ""
            place, problem = error.field or "id", error.problem.rstrip(".")
            troubles.append(f"row {number}, column {place}: {problem}.{hint}")
        except RagassayError as error:
            troubles.append(f"row {number}: {error}")
    return n_taken, troubles


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet that hold something, with their numbers."""
    rows = table_files.guarded_rows(cells_of(path), path)
    head = next(rows, (0, []))[1]
    if missing := {"id", "version", "decision"} - set(head):
        problem = f"has no column {', '.join(sorted(missing))}"
        hint = "Write a sheet with 'ragassay golden review DIR --xlsx FILE'."
        raise InputError(problem, path=path, line=1, hint=hint)
    for number, cells in rows:
        if any(cells):
            yield number, dict(zip(head, cells, strict=False))


def cells_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a workbook, with its number."""
    book = table_files.load_workbook(path, values=False)
    for number, row in enumerate(book.worksheets[0].iter_rows(), start=1):
        texts = ["" if cell.value is None else str(cell.value) for cell in row]
        is_formula = [cell.data_type == "f" for cell in row]
        yield (
            number,
            [_FORMULA if value else text for value, text in zip(is_formula, texts, strict=True)],
        )
    book.close()


def _take(store: ReviewStore, row: Mapping[str, str], reviewer: str) -> bool:
    """Takes a row; says whether there was anything to take, so that reading a sheet again takes
    nothing twice."""
    for column, cell in row.items():
        if cell == _FORMULA:
            raise InputError("holds a formula", field=column, hint="Write the text itself.")
    item = store.golden().item(row["id"])
    if item is None:
        raise InputError(f"there is no item {row['id']!r} in the set", field="id")
    readers = {
        name: element.read for name, element in _COLUMNS.items() if element.read and name in row
    }
    fields = {name: read(row[name]) for name, read in readers.items()}
    record = item.model_dump(mode="json")
    changed = {name for name, value in fields.items() if _bare(name, record[name]) != value}
    decision = row["decision"].strip().casefold()
    if not decision:
        if changed and row["version"] == version_of(item):
            problem = f"the row changes {', '.join(sorted(changed))}, and decides nothing"
            raise InputError(problem, field="decision", hint=_DECIDE)
        return False
    if decision not in ("accept", "reject"):
        problem = f"{row['decision']!r} is not a decision"
        raise InputError(problem, field="decision", hint=_DECIDE)
    answerability = fields.get("answerability", item.answerability)
    if (
        decision == "accept"
        and "references" in changed
        and not any(map(str.strip, fields["references"]))
        and answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL, None)
    ):
        it = f"the item is {answerability}" if answerability else "no answerability is given"
        raise InputError(
            f"the cell is empty, and {it}",
            field="references",
            hint="Write one answer per line, write unanswerable into answerability, or reject the "
            "item.",
        )
    mine = store.current().own(item.id, reviewer)
    if mine is not None and (mine.decision == "reject") == (decision == "reject"):
        wanted = {} if mine.applied else {name: new for name, (_, new) in mine.changes.items()}
        is_as_before = all(
            _bare(name, wanted.get(name, record[name])) == value for name, value in fields.items()
        )
        # What waits for others is a draft.
        if is_as_before and item.status in {mine.status, mine.status if mine.applied else "draft"}:
            return False
    store.review(
        item.id,
        reviewer,
        "accept" if decision == "accept" else "reject",
        row["version"],
        fields={name: fields[name] for name in changed},
    )
    return True
