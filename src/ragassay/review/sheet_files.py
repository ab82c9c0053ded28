"""Sheets (XLSX, CSV) that people fill in: texts written, and read back.

Texts stay texts: nothing becomes a formula, and a formula that somebody wrote is refused, never
computed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ragassay.base import files
from ragassay.base.errors import InputError, UsageError
from ragassay.formats import table_files
from ragassay.formats.sources import delimited
from ragassay.golden.exchange.golden_export import workbook

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]|_x005F_")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""How a cell of a CSV file begins that a spreadsheet computes, and the mark that prevents it."""
_IS_FORMULA = "\0formula"
"""Begins a cell of a workbook that holds a formula; no text does."""

Row = dict[str, str]


def write_rows(
    path: Path, widths: Mapping[str, int], rows: Sequence[Sequence[str]], filled: str
) -> None:
    """Writes rows with columns of these widths, in characters; those up to the one that people fill
    in stay in sight."""
    if _is_csv(path):
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(widths)
        writer.writerows([_guarded(cell) for cell in row] for row in rows)
        # Excel takes a file without the mark for one in the encoding of its country.
        files.write_bytes(path, text.getvalue().encode("utf-8-sig"))
        return
    names = list(widths)
    for row in rows:
        for name, cell in zip(names, row, strict=True):
            if _CONTROL.search(cell):
                problem = f"{row[0]!r} holds characters that no workbook holds"
                raise InputError(problem, field=name, hint="Write a CSV file.")
    book = workbook(names, rows, "Review", list(widths.values()), names.index(filled))
    files.write_bytes(path, book)


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a file that hold something, with their numbers. Of a file that lacks a column
    that is needed, or a CSV file that was cut short, there is none."""
    rows = _csv_rows(path) if _is_csv(path) else _workbook_rows(path)
    head = next(rows, (0, []))[1]
    if missing := set(needed) - set(head):
        problem = f"has no column {', '.join(sorted(missing))}"
        hint = "Write a sheet with 'ragassay golden review DIR --xlsx FILE'."
        raise InputError(problem, path=path, line=1, hint=hint)
    for number, cells in rows:
        if any(cells):
            yield number, dict(zip(head, cells, strict=False))


def refuse_formulas(row: Row) -> None:
    """Raises where a cell holds a formula."""
    for column, cell in row.items():
        if cell.startswith(_IS_FORMULA):
            raise InputError("holds a formula", field=column, hint="Write the text itself.")


def _is_csv(path: Path) -> bool:
    end = path.suffix.casefold()
    if end not in (".csv", ".xlsx"):
        raise UsageError(f"{path}: a sheet is .xlsx or .csv.")
    return end == ".csv"


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    # All rows are read before one is taken: a file that was cut short may end in half a decision.
    try:
        rows: list[list[str | None]] = [list(row.values()) for _, row in delimited.rows(path)]
    except InputError as error:
        hint = "Nothing of the file was taken. Save it whole, as 'CSV UTF-8', and read it again."
        raise error.but(hint=hint) from error
    yield 1, list(delimited.beginning(path)[0])
    for number, cells in enumerate(rows, start=2):
        yield number, [_unguarded(cell or "") for cell in cells]


def _workbook_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    return table_files.guarded_rows(_xlsx_rows(path), path)


def _xlsx_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    book = table_files.load_workbook(path, values=False)
    for number, row in enumerate(book.worksheets[0].iter_rows(), start=1):
        cells = []
        for cell in row:
            if cell.data_type == "f":
                cells.append(_IS_FORMULA)
            else:
                cells.append("" if cell.value is None else str(cell.value))
        yield number, cells
    book.close()
