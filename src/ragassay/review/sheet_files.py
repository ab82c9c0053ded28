"""Sheets (XLSX, CSV) that people fill in: texts written, and read back.

Texts stay texts: nothing becomes a formula, and a formula that somebody wrote is refused, never
computed.
"""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from ragassay.base import files
from ragassay.base.errors import InputError, RagassayError, UsageError
from ragassay.formats import table_files
from ragassay.formats.sources import delimited
from ragassay.golden.exchange.golden_export import workbook

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]|_x005F_")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""How a cell of a CSV file begins that a spreadsheet computes, and the mark that prevents it."""
_IS_FORMULA = "\0formula"
"""Begins a cell of a workbook that holds a formula; no text does."""

Row = dict[str, str]


class Sheet(ABC):
    """What waits for a decision, a row each, to be filled in by people.

    Attributes:
        columns: name and width of each, in characters.
        filled: the column that people fill in; those up to it stay in sight.
        needed: columns without which nothing can be taken.
        hint: how such a sheet is written, for errors.
    """

    title: ClassVar[str]
    columns: ClassVar[dict[str, int]]
    filled: ClassVar[str]
    needed: ClassVar[tuple[str, ...]]
    hint: ClassVar[str]

    @abstractmethod
    def _rows(self, reviewer: str, where: Sequence[str]) -> Iterator[list[str]]:
        """What is written: a text for each column."""

    @abstractmethod
    def _take(self, row: Row, reviewer: str) -> bool:
        """Takes a row; says whether there was anything to take, so that reading a sheet again takes
        nothing twice."""

    def write(
        self,
        path: Path,
        reviewer: str = "",
        *,
        overwrite: bool = False,
        where: Sequence[str] = (),
    ) -> int:
        """Writes what waits for a decision; gives the number of rows. A file that is there may hold
        what somebody filled in."""
        if path.exists() and not overwrite:
            raise UsageError(f"{path} is there. Choose another name, or replace it: --overwrite.")
        rows = list(self._rows(reviewer, where))
        if _is_csv(path):
            text = io.StringIO()
            writer = csv.writer(text)
            writer.writerow(self.columns)
            writer.writerows([_guarded(cell) for cell in row] for row in rows)
            # Excel takes a file without the mark for one in the encoding of its country.
            files.write_bytes(path, text.getvalue().encode("utf-8-sig"))
        else:
            files.write_bytes(path, self._workbook(rows))
        return len(rows)

    def read(self, path: Path, reviewer: str) -> tuple[int, list[str]]:
        """Takes what people filled in, row by row: how many rows were taken, and a sentence for
        each that is wrong. Of a file that is no such sheet, or a CSV file that was cut short,
        nothing is taken."""
        n_taken, troubles = 0, []
        for number, row in self._read_rows(path):
            try:
                for column, cell in row.items():
                    if cell.startswith(_IS_FORMULA):
                        hint = "Write the text itself."
                        raise InputError("holds a formula", field=column, hint=hint)
                n_taken += self._take(row, reviewer)
            except InputError as error:
                hint = f" {error.hint}" if error.hint else ""
                troubles.append(
                    f"row {number}, column {error.field or self.needed[0]}: "
                    f"{error.problem.rstrip('.')}.{hint}"
                )
            except RagassayError as error:
                troubles.append(f"row {number}: {error}")
        return n_taken, troubles

    def _read_rows(self, path: Path) -> Iterator[tuple[int, Row]]:
        """The rows of a file that hold something, with their numbers."""
        rows = _rows(path)
        head = next(rows, (0, []))[1]
        if missing := set(self.needed) - set(head):
            problem = f"has no column {', '.join(sorted(missing))}"
            raise InputError(problem, path=path, line=1, hint=self.hint)
        for number, cells in rows:
            if any(cells):
                yield number, dict(zip(head, cells, strict=False))

    def _workbook(self, rows: Sequence[Sequence[str]]) -> bytes:
        names = list(self.columns)
        for row in rows:
            for name, cell in zip(names, row, strict=True):
                if _CONTROL.search(cell):
                    problem = f"{row[0]!r} holds characters that no workbook holds"
                    raise InputError(problem, field=name, hint="Write a CSV file.")
        widths, filled = list(self.columns.values()), names.index(self.filled)
        return workbook(names, rows, self.title, widths, filled)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    return _csv_rows(path) if _is_csv(path) else table_files.guarded_rows(_xlsx_rows(path), path)


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
    yield 1, list(delimited.header(path))
    for number, cells in enumerate(rows, start=2):
        yield number, [_unguarded(cell or "") for cell in cells]


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
