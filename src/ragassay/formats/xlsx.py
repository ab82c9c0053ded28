"""Excel workbooks: the first sheet, through the aliases. Needs the extra ``excel``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ragassay.errors import InputError, did_you_mean, extra_needed
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.frames import plain
from ragassay.formats.records import FIELD_OF, Mapper, folded
from ragassay.formats.sources import opening, placed, standard_input
from ragassay.samples import Sample

_MOST_PACKED = 100
_LARGE = 1 << 26
"""Bytes that fit any memory."""
_MOST_TITLES = 10
"""Rows in which a header is looked for."""
_MOST_COLUMNS = 16_384
"""Of a sheet, by Excel's limit."""


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
    with extra_needed("To read XLSX, install the extra 'excel'", "excel"):
        import openpyxl
    mapper.cells = True
    with opening.opened(path):
        pass  # says at once what is wrong with the file as such
    _check_size(path)
    try:
        book = openpyxl.load_workbook(
            standard_input.on_disk(path).open("rb"), read_only=True, data_only=True
        )
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InputError(f"this is no readable XLSX file ({error})", path=path) from None
    for sheet in book.worksheets:
        # Some programs write a size that is too small, beyond which nothing would be read.
        sheet.reset_dimensions()
    # More than a header.
    with_content = [one for one in book.worksheets if len(list(islice(_told(one), 2))) == 2]
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
    yield from (mapper.sample(row, line) for line, row in _rows(chosen, path, mapper))


def _check_size(path: Path) -> None:
    """Refuses an archive that unpacks to far more than it is: it may fill the memory."""
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(standard_input.on_disk(path)) as archive:
        parts = archive.infolist()
        size = sum(part.file_size for part in parts)
        if size > max(_LARGE, _MOST_PACKED * sum(part.compress_size for part in parts)):
            raise InputError(
                f"the workbook unpacks to more than {_MOST_PACKED} times its size",
                path=path,
                hint="It is damaged, or made to fill the memory: save it as CSV and look.",
            )


def _filled(cells: Iterable[Any]) -> list[Any]:
    return [cell for cell in cells if cell not in (None, "")]


def _told(sheet: Any) -> Iterator[list[Any]]:
    """The cells that hold something, of each row with any."""
    return filter(None, map(_filled, sheet.iter_rows(values_only=True)))


def _titles(sheet: Any) -> int:
    """How many rows with one cell, which names no field, stand above a row of several texts, which
    then is the header: a title, a date."""
    for count, row in enumerate(islice(_told(sheet), _MOST_TITLES)):
        if len(row) > 1:
            return count if all(isinstance(cell, str) for cell in row) else 0
        if isinstance(row[0], str) and folded(row[0]) in FIELD_OF:
            return 0
    return 0


def _rows(sheet: Any, path: Path, mapper: Mapper) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] | None = None
    above, at = _titles(sheet), 1
    for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
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
            continue
        with placed(path, line):
            if _filled(cell for cell, name in zip_longest(cells, header) if not name):
                raise InputError(
                    "a cell stands in a column without a name",
                    hint=f"Name the column in the header, line {at} of the sheet {sheet.title!r}. "
                    "If that is no header, delete the rows above it.",
                )
            values = {
                name: plain(cell, name)
                for name, cell in zip(header, (*cells, *[None] * len(header)), strict=False)
                if name
            }
        yield line, {name: None if value == "" else value for name, value in values.items()}


def _checked(cells: tuple[Any, ...], path: Path, line: int) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells[:_MOST_COLUMNS]]
    while names and not names[-1]:
        names.pop()
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise InputError(
            f"the header names {', '.join(map(repr, twice))} more than once",
            path=path,
            line=line,
            hint="The first row names the columns.",
        )
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
