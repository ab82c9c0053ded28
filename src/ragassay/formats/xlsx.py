"""Excel workbooks: the first sheet, by known column names. Needs the extra ``excel``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ragassay.base.errors import did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.format_words import wrong
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
    read one after the other."""
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
            facts = {"near": did_you_mean(mapper.sheet, names), "sheets": ", ".join(names)}
            raise wrong("no_such_sheet", path=path, sheet=mapper.sheet, **facts)
    if not with_content:
        raise wrong("no_sheet", path=path)
    chosen, *others = with_content
    for sheet in others:
        mapper.tell("further_sheets", sheet=sheet.title, chosen=chosen.title)

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
    """The number and the values of each row below the header. ``formulas`` are the rows of the
    sheet with their numbers, formulas in place of values; read only where a cell may hold a formula
    whose value was not saved."""
    header: list[str] | None = None
    above, at = _titles(sheet), 1
    for line, row in enumerate(sheet.iter_rows(), 1):
        cells = tuple(cell.value for cell in row)
        if not _filled(cells):
            continue
        if above:
            above -= 1
            mapper.tell("title", line, sheet=sheet.title)
            continue
        if header is None:
            header, at = _checked(cells, path, line), line
            texts = _ShownTexts(header, mapper)
            continue
        _tell_unsaved(row, line, header, formulas, mapper)
        with placed(path, line):
            if _filled(cell for cell, name in zip_longest(cells, header) if not name):
                raise wrong("unnamed_column", at=at, sheet=sheet.title)
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
        self._tell = mapper.tell
        self._columns = {name for name in header if mapper.columns.field_of(name) in _TEXTS}
        self._first: dict[str, Any] = {}

    def read(self, cell: Any, name: str, line: int) -> Any:
        """The value of a cell in a column and line: a date without a time as a date, and in columns
        of texts a percentage as the text that is shown."""
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
        first = self._first.setdefault(name, value)
        self._tell("no_text_cells", line, name=name, first=str(first))
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
            mapper.tell("unsaved_formula", line, name=name)


def _checked(cells: tuple[Any, ...], path: Path, line: int) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells[:_MOST_COLUMNS]]
    delimited.refuse_repeated([*filter(None, names)], path, line)
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
