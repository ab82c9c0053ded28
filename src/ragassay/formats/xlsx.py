"""Excel workbooks: the first sheet, by known column names. Needs the extra ``excel``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, time
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ragassay.base.errors import did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.format_words import wrong
from ragassay.formats.frames import plain
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, workbooks
from ragassay.formats.sources.opening import placed

_MOST_COLUMNS = 16_384
"""Of a sheet, by Excel's limit."""
_TEXTS = {"query", "answer", "references", "negative_references", "passages", "gold"}
"""Fields of texts, in which a number or a date was perhaps meant as the sheet shows it."""


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
    formulas: Iterator[tuple[int, Any]] | None = None
    header: list[str] | None = None
    texts: set[str] = set()
    first: dict[str, str] = {}
    for line, row in enumerate(chosen.iter_rows(), 1):
        cells = [cell.value for cell in row]
        if not _filled(cells):
            continue
        if header is None:
            header, at = _checked(cells, path, line), line
            texts = {name for name in header if mapper.columns.field_of(name) in _TEXTS}
            continue
        values = dict.fromkeys(filter(None, header))
        for name, cell in zip_longest(header, row):
            value = None if cell is None else cell.value
            if not name and value not in (None, ""):
                sheet = chosen.title
                raise wrong("unnamed_column", path=path, line=line, at=at, sheet=sheet)
            if value in (None, ""):
                continue
            if isinstance(value, datetime) and value.time() == time():
                value = value.date()
            with placed(path, line):
                values[name] = plain(value, name)
            is_text = isinstance(value, str | bool) or cell.number_format == "General"
            if name in texts and not is_text:
                shown = first.setdefault(name, str(values[name]))
                mapper.tell("no_text_cells", line, name=name, first=shown)
        # The cell of a formula whose value was not saved looks empty; a cell that was never
        # written has no format.
        if any(cell.value is None and cell.number_format is not None for cell in row):
            if formulas is None:
                again = workbooks.load(path, values=False)[chosen.title]
                formulas = enumerate(again.iter_rows(), 1)
            written = next((cells for number, cells in formulas if number == line), ())
            for name, cell, formula in zip(header, row, written, strict=False):
                if name and cell.value is None and formula.data_type == "f":
                    mapper.tell("unsaved_formula", line, name=name)
        yield line, values


def _filled(cells: Iterable[Any]) -> list[Any]:
    return [cell for cell in cells if cell not in (None, "")]


def _filled_rows(sheet: Any) -> Iterator[list[Any]]:
    """The cells that hold something, of each row with any."""
    return filter(None, map(_filled, sheet.iter_rows(values_only=True)))


def _checked(cells: list[Any], path: Path, line: int) -> list[str]:
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
