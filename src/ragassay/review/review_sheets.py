"""A golden set as a sheet (XLSX, CSV) that people fill in, and what they decided read back.

Texts stay texts: nothing becomes a formula, and a formula that somebody wrote is refused, never
computed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from ragassay import files
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.golden import GoldenItem
from ragassay.review.review_store import ReviewStore, version_of

COLUMNS = (
    *("id", "version", "decision", "query", "references", "negative_references", "gold"),
    *("gold_text", "answerability", "type", "complexity", "tags", "status"),
)
"""``gold_text`` and ``status`` are for reading only."""

WIDTHS = (18, 8, 10, 44, 44, 44, 26, 44, 14, 14, 14, 18, 10)
LONGEST = 32_767
"""Characters of a cell, by Excel's limit."""
NONE = "(none)"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]|_x005F_")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""How a cell of a CSV file begins that a spreadsheet computes, and the mark that prevents it."""
_SPAN = re.compile(r"(?P<document>.+) (?P<start>\d+)-(?P<end>\d+)(?: grade (?P<grade>-?\d+))?")


def write_sheet(store: ReviewStore, path: Path) -> int:
    """Writes the items that nobody accepted or rejected yet.

    Args:
        store: of the golden set.
        path: ``.xlsx`` or ``.csv``.

    Returns:
        How many items were written.

    Raises:
        UsageError: the file is of another kind, cannot be written, or its package is missing.
        InputError: a text does not fit into a cell.
    """
    rows = [_cells(item) for item in store.golden().with_status("draft")]
    if path.suffix.casefold() == ".csv":
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        writer.writerows([_guarded(cell) for cell in row] for row in rows)
        # Excel takes a file without the mark for one in the encoding of its country.
        files.write_bytes(path, text.getvalue().encode("utf-8-sig"))
    elif path.suffix.casefold() == ".xlsx":
        files.write_bytes(path, _workbook(rows))
    else:
        raise UsageError(f"{path}: a sheet is .xlsx or .csv.")
    return len(rows)


def read_sheet(store: ReviewStore, path: Path, reviewer: str) -> tuple[int, list[str]]:
    """Takes the decisions of a sheet.

    Each row that is right is taken; each that is wrong, or whose item was changed since the sheet
    was written, is told and left. Reading a sheet again takes nothing twice.

    Args:
        store: of the golden set.
        path: ``.xlsx`` or ``.csv``.
        reviewer: whose decisions they are.

    Returns:
        How many rows were taken, and a sentence for each that was not.

    Raises:
        InputError: the file is no such sheet.
        UsageError: its package is missing.
    """
    if path.suffix.casefold() == ".csv":
        rows = _csv_rows(path)
    elif path.suffix.casefold() == ".xlsx":
        rows = _xlsx_rows(path)
    else:
        raise UsageError(f"{path}: a sheet is .xlsx or .csv.")
    head = next(rows, (0, []))[1]
    missing = {"id", "version", "decision"} - set(head)
    if missing:
        raise InputError(
            f"has no column {', '.join(sorted(missing))}", path=path, line=1,
            hint="Write a sheet with 'ragassay golden review DIR --xlsx FILE'.",
        )  # fmt: skip
    taken, troubles = 0, []
    for number, cells in rows:
        row = dict(zip(head, cells, strict=False))
        if not any(row.values()):
            continue
        try:
            taken += _take(store, row, reviewer)
        except _WrongCellError as error:
            troubles.append(f"row {number}, column {error.column}: {error}")
        except InputError as error:
            troubles.append(f"row {number}, column {error.field or 'id'}: {error.problem}.")
        except RagassayError as error:
            troubles.append(f"row {number}: {error}")
    return taken, troubles


class _WrongCellError(Exception):
    def __init__(self, column: str, problem: str) -> None:
        super().__init__(problem)
        self.column = column


def _take(store: ReviewStore, row: dict[str, str], reviewer: str) -> bool:
    """Takes a row; says whether there was anything to take."""
    for column, cell in row.items():
        if cell.startswith(_IS_FORMULA):
            raise _WrongCellError(column, "holds a formula. Write the text itself.")
    item = next((one for one in store.golden().items if one.id == row["id"]), None)
    if item is None:
        raise _WrongCellError("id", f"there is no item {row['id']!r} in the set.")
    fields = {name: read(row[name]) for name, read in _READERS.items() if name in row}
    record = item.model_dump(mode="json")
    changed = {name for name, value in fields.items() if _bare(name, record[name]) != value}
    decision = row["decision"].strip().casefold()
    if not decision:
        if changed and row["version"] == version_of(item):
            what = f"the row changes {', '.join(sorted(changed))}, and decides nothing"
            raise _WrongCellError("decision", f"{what}. Write accept or reject.")
        return False
    if decision not in ("accept", "reject"):
        raise _WrongCellError(
            "decision", f"{row['decision']!r} is no decision. Write accept or reject."
        )
    status = {"accept": "accepted", "reject": "rejected"}[decision]
    if not changed and item.status == status and item.reviewer == reviewer:
        return False  # the sheet was read before
    mine = store.standing().of_item.get(item.id, {}).get(reviewer)
    if item.status == "draft" and mine is not None and row["version"] == version_of(item):
        before = mine.decision if mine.decision == "reject" else "accept"
        wanted = {name: pair[1] for name, pair in mine.changes.items()}
        if before == decision and {name: fields[name] for name in changed} == {
            name: _bare(name, value) for name, value in wanted.items()
        }:
            return False  # as before: others are waited for
    store.review(
        item.id,
        reviewer,
        "accept" if decision == "accept" else "reject",
        row["version"],
        fields={name: fields[name] for name in changed},
    )
    return True


def _bare(name: str, value: Any) -> Any:
    """A value of an item as a sheet says it: without what is found elsewhere."""
    if name == "gold" and value is not None:
        return [{key: one[key] for key in ("document", "start", "end", "grade")} for one in value]
    if name == "negative_references":
        return [{"text": one["text"], "kind": one["kind"]} for one in value]
    return value


def _cells(item: GoldenItem) -> list[str]:
    record = item.model_dump(mode="json")
    gold = _bare("gold", record["gold"])
    places = NONE if gold == [] else "\n".join(map(_place, gold or ()))
    negatives = _bare("negative_references", record["negative_references"])
    kinds = [(f"{one['kind']}: " if one["kind"] else "") + one["text"] for one in negatives]
    cells = [
        *(item.id, version_of(item), "", item.query),
        _listed(item.references, _texts),
        _listed(kinds, _negatives, negatives),
        places if _reads_as(_gold, places, gold) else _json(gold),
        "\n".join(one.text for one in item.gold or ()),
        item.answerability or "",
        *(item.type, item.complexity),
        _listed(item.tags, _texts),
        item.status,
    ]
    return [str(cell) for cell in cells]


def _listed(lines: Sequence[str], read: Callable[[str], Any], meant: Any = None) -> str:
    """Texts a line each; as JSON where that would read as something else."""
    text = "\n".join(lines)
    wanted = list(lines) if meant is None else meant
    return text if _reads_as(read, text, wanted) else _json(wanted)


def _reads_as(read: Callable[[str], Any], text: str, wanted: Any) -> bool:
    try:
        return bool(read(text) == wanted)
    except _WrongCellError:
        return False


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _place(one: dict[str, Any]) -> str:
    grade = "" if one["grade"] == 1 else f" grade {one['grade']}"
    return f"{one['document']} {one['start']}-{one['end']}{grade}"


def _parsed(column: str, cell: str, kind: type) -> list[Any] | None:
    """The list that a cell holds as JSON; ``None`` where it holds lines."""
    if not cell.startswith("["):
        return None
    try:
        found = orjson.loads(cell)
    except orjson.JSONDecodeError:
        return None  # a text that begins so
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        raise _WrongCellError(column, "is a list of other things than the column holds.")
    return found


def _texts(cell: str, column: str = "references") -> list[str]:
    found = _parsed(column, cell, str)
    return [line for line in cell.split("\n") if line.strip()] if found is None else found


def _negatives(cell: str) -> list[dict[str, Any]]:
    found = _parsed("negative_references", cell, dict)
    if found is not None:
        return [{"text": str(one.get("text", "")), "kind": one.get("kind")} for one in found]
    made: list[dict[str, Any]] = []
    for line in cell.split("\n"):
        kind, colon, text = line.partition(": ")
        known = colon and kind in ("inaccurate", "incomplete", "off-style")
        if line.strip():
            made.append({"text": text if known else line, "kind": kind if known else None})
    return made


def _gold(cell: str) -> list[dict[str, Any]] | None:
    if not cell.strip():
        return None
    if cell.strip() == NONE:
        return []
    found = _parsed("gold", cell, dict)
    if found is not None:
        return found
    made: list[dict[str, Any]] = []
    for line in filter(str.strip, cell.split("\n")):
        span = _SPAN.fullmatch(line.strip())
        if span is None:
            raise _WrongCellError(
                "gold", f"{line!r} is no span. Write DOCUMENT START-END, or {NONE}."
            )
        start, end, grade = int(span["start"]), int(span["end"]), int(span["grade"] or 1)
        made.append({"document": span["document"], "start": start, "end": end, "grade": grade})
    return made


_READERS: dict[str, Callable[[str], Any]] = {
    "query": str,
    "references": _texts,
    "negative_references": _negatives,
    "gold": _gold,
    "answerability": lambda cell: cell.strip() or None,
    "type": str,
    "complexity": str,
    "tags": lambda cell: _texts(cell, "tags"),
}

_IS_FORMULA = "\0formula"
"""Begins a cell of a workbook that holds a formula; no text does."""


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not text in UTF-8 (byte {error.start})", path=path,
            hint="Save it as 'CSV UTF-8'.",
        ) from error  # fmt: skip
    # Where the program's country has a decimal comma, Excel writes semicolons.
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(2**31 - 1)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        for number, row in enumerate(rows, start=1):
            yield number, [_unguarded(cell) for cell in row]
    except csv.Error as error:
        raise InputError(f"is no CSV ({error})", path=path) from error


def _xlsx_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        import openpyxl
    except ImportError as error:
        raise UsageError(
            "Reading an Excel workbook needs its package: pip install 'ragassay[excel]'."
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=False)
        sheet = book.worksheets[0]
        for number, row in enumerate(sheet.iter_rows(), start=1):
            cells = []
            for cell in row:
                if cell.data_type == "f":
                    cells.append(_IS_FORMULA)
                else:
                    cells.append("" if cell.value is None else str(cell.value))
            yield number, cells
        book.close()
    except RagassayError:
        raise
    except OSError:
        raise
    except Exception as error:  # the library raises many
        raise InputError(f"is no Excel workbook ({error})", path=path) from error


def _workbook(rows: Sequence[Sequence[str]]) -> bytes:
    try:
        import xlsxwriter
    except ImportError as error:
        raise UsageError(
            "An Excel workbook needs its package: pip install 'ragassay[excel]'."
        ) from error
    for row in rows:
        for name, cell in zip(COLUMNS, row, strict=True):
            if len(cell) > LONGEST:
                problem = f"{row[0]!r} is longer than {LONGEST:,} characters"
            elif _CONTROL.search(cell):
                problem = f"{row[0]!r} holds characters that no workbook holds"
            else:
                continue
            raise InputError(problem, field=name, hint="Write a CSV file.")
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        head = book.add_format({"bold": True, "bottom": 1})
        text = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
        sheet = book.add_worksheet("Review")
        sheet.freeze_panes(1, 3)
        for column, (name, width) in enumerate(zip(COLUMNS, WIDTHS, strict=True)):
            sheet.set_column(column, column, width, text)
            sheet.write_string(0, column, name, head)
        for number, row in enumerate(rows, start=1):
            for column, cell in enumerate(row):
                sheet.write_string(number, column, cell, text)
        if rows:
            sheet.data_validation(
                1, 2, len(rows), 2, {"validate": "list", "source": ["accept", "reject"]}
            )
    return stream.getvalue()
