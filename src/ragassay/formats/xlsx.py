"""Excel workbooks: the first sheet, by known column names. Needs the extra ``excel``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.frames import plain
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, workbooks
from ragassay.formats.sources.opening import placed

_MOST_TITLES = 10
"""Rows in which a header is looked for."""
_MOST_COLUMNS = 16_384
"""Of a sheet, by Excel's limit."""
_TEXTS = {"query", "answer", "references", "negative_references", "passages", "gold"}
"""Fields of texts, in which a number or a date was perhaps meant as the sheet shows it."""
_AS_IT_IS = ("General", "0", "@")
"""Formats in which a sheet shows a number as it is read."""
_PERCENT = re.compile(r"0(?:\.(?P<places>0+))?(?P<blank> ?)%")


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of the first sheet with records, or of the one that is named, one a row. Rows are
    read one after the other.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read.
        UsageError: openpyxl is not installed.
    """
    mapper.cells = True
    for line, row in workbooks.guarded(_records(path, mapper), path):
        yield mapper.sample(row, line)


def _records(path: Path, mapper: Mapper) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the values of each row of the chosen sheet."""
    book = workbooks.load(path, values=True)
    # More than a header.
    with_content = [one for one in book.worksheets if len(list(islice(_filled_rows(one), 2))) == 2]
    if mapper.sheet is not None:
        with_content = [sheet for sheet in with_content if sheet.title == mapper.sheet]
        if not with_content:
            names = [sheet.title for sheet in book.worksheets]
            raise InputError(
                f"no sheet {mapper.sheet!r} holds a header and a row",
                path=path,
                hint=f"{did_you_mean(mapper.sheet, names)} Sheets: {', '.join(names)}.",
            )
    if not with_content:
        raise InputError("no sheet holds a header and a row", path=path)
    chosen, *others = with_content
    for sheet in others:
        mapper.note(
            f"further sheets ({sheet.title!r})",
            f"They were left out: {chosen.title!r} is read, the first one with records. --sheet "
            "names another one.",
        )

    def formulas() -> Iterator[tuple[int, tuple[Any, ...]]]:
        yield from enumerate(workbooks.load(path, values=False)[chosen.title].iter_rows(), 1)

    yield from _rows(chosen, path, mapper, formulas())


def _filled(cells: Iterable[Any]) -> list[Any]:
    return [cell for cell in cells if cell not in (None, "")]


def _filled_rows(sheet: Any) -> Iterator[list[Any]]:
    """The cells that hold something, of each row with any."""
    return filter(None, map(_filled, sheet.iter_rows(values_only=True)))


def _titles(sheet: Any) -> int:
    """How many rows with one cell, which names no field, stand above a row of several texts, which
    then is the header: a title, a date."""
    for count, row in enumerate(islice(_filled_rows(sheet), _MOST_TITLES)):
        if len(row) > 1:
            return count if all(isinstance(cell, str) for cell in row) else 0
        if isinstance(row[0], str) and folded(row[0]) in FIELD_OF:
            return 0
    return 0


def _rows(
    sheet: Any, path: Path, mapper: Mapper, formulas: Iterator[tuple[int, tuple[Any, ...]]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the values of each row below the header.

    Args:
        formulas: the rows of the sheet with their numbers, formulas in place of values; read only
            where a cell may hold a formula whose value was not saved.
    """
    header: list[str] | None = None
    above, at = _titles(sheet), 1
    for line, row in enumerate(sheet.iter_rows(), 1):
        cells = tuple(cell.value for cell in row)
        if not _filled(cells):
            continue
        if above:
            above -= 1
            mapper.note(
                f"rows with one cell above the header of the sheet {sheet.title!r}",
                "They were left out, as a title.",
                line,
            )
            continue
        if header is None:
            header, at = _checked(cells, path, line), line
            texts = _ShownTexts(header, mapper)
            continue
        _tell_unsaved(row, line, header, formulas, mapper)
        with placed(path, line):
            if _filled(cell for cell, name in zip_longest(cells, header) if not name):
                raise InputError(
                    "a cell stands in a column without a name",
                    hint=f"Name the column in the header, line {at} of the sheet {sheet.title!r}. "
                    "If that is no header, delete the rows above it.",
                )
            values = dict.fromkeys(filter(None, header))
            for name, cell in zip(header, row, strict=False):
                if name and cell.value not in (None, ""):
                    values[name] = plain(texts.read(cell, name, line), name)
        yield line, values


class _ShownTexts:
    """Reads cells as the sheet shows them, as far as their format does not depend on a language.

    Args:
        header: the names of the columns.
        mapper: knows their fields, and takes a note for each column of texts that holds anything
            else.
    """

    def __init__(self, header: Iterable[str], mapper: Mapper) -> None:
        self._note = mapper.note
        self._columns = {name for name in header if mapper.columns.field_of(name) in _TEXTS}
        self._consequences: dict[str, str] = {}

    def read(self, cell: Any, name: str, line: int) -> Any:
        """The value of a cell: a date without a time as a date, and in columns of texts a
        percentage as the text that is shown.

        Args:
            cell: that holds something.
            name: of its column.
            line: of its row.
        """
        value = cell.value
        if isinstance(value, datetime) and value.time() == time():
            value = value.date()
        if name not in self._columns or isinstance(value, str | bool):
            return value
        if isinstance(value, int | float):
            if cell.number_format in _AS_IT_IS:
                return value
            if (percent := _PERCENT.fullmatch(cell.number_format)) is not None:
                places = len(percent["places"] or "")
                value = f"{value * 100:.{places}f}{percent['blank']}%"
        elif not isinstance(value, date | time | timedelta):
            return value
        consequence = self._consequences.setdefault(
            name,
            f"The first one is read as '{value}'. Where the sheet shows anything else, format the "
            "cells as text and write what you mean.",
        )
        self._note(
            f"cells of {name!r} that hold a number or a date, and no text", consequence, line
        )
        return value


def _tell_unsaved(
    row: tuple[Any, ...],
    line: int,
    header: Sequence[str],
    formulas: Iterator[tuple[int, tuple[Any, ...]]],
    mapper: Mapper,
) -> None:
    """Notes the formulas in a row whose values were not saved: their cells look empty. Rows are
    given in their order; ``formulas`` is as of `_rows`."""
    # A cell that was never written has no format.
    if all(cell.value is not None or cell.number_format is None for cell in row):
        return
    written = next((cells for at, cells in formulas if at == line), ())
    for name, cell, formula in zip(header, row, written, strict=False):
        if name and cell.value is None and formula.data_type == "f":
            mapper.note(
                f"cells of {name!r} with a formula whose value was not saved",
                "They count as empty. Open the workbook in a spreadsheet program and save it.",
                line,
            )


def _checked(cells: tuple[Any, ...], path: Path, line: int) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells[:_MOST_COLUMNS]]
    hint = "The first row names the columns."
    delimited.refuse_repeated([*filter(None, names)], path, line, hint)
    return names


def _sniff(head: Head) -> int:
    return SURE if head.container == "archive" and head.suffix != ".eval" else NO


FORMAT = Format(
    name="xlsx",
    title="Excel workbook with known column names in its first sheet (extra 'excel')",
    suffixes=(".xlsx", ".xlsm"),
    sniff=_sniff,
    read=read,
)
