"""Text tables: rows of CSV and TSV files, one by one. Cells are text; an empty one means that
nothing was given; lists are JSON in a cell."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from pathlib import Path

from ragassay.base.errors import InputError
from ragassay.formats.format_words import wrong
from ragassay.formats.sources import opening

Row = dict[str, str | None]
_EXCEL = re.compile(r"""(?i)"?sep=([^\w"'\r\n])"?\s*""")
"""Excel's first line: it names the delimiter and is not part of the table."""


def rows(
    path: Path, encoding: str | None = None, delimiter: str | None = None, *, repeated: bool = False
) -> Generator[tuple[int, Row]]:
    """Every row with a cell that is not empty (others are ``None``), with the line that it begins
    in. A delimiter that is not given is found from the header, or named by a line ``sep=;`` above
    it. With ``repeated``, a name that the header repeats is one of its own: ``Score#7``."""
    csv.field_size_limit(min(2**31 - 1, opening.MOST.get()))
    lines = opening.text_lines(path, encoding)
    first, declared = _opening(lines)
    above = int(declared is not None)
    between = delimiter or declared or _delimiter(first)
    reader = csv.reader(
        chain([first], lines),
        delimiter=between,
        # A header with a blank after each delimiter is one that puts it before quotes as well.
        skipinitialspace=0 < first.count(between) == first.count(f"{between} "),
        strict=True,
    )
    number = 1 + above
    try:
        names = next(reader, [])
        if repeated:
            places = enumerate(names)
            names = [f"{name}#{at}" if name in names[:at] else name for at, name in places]
        columns = [name.strip() for name in names]
        refuse_repeated(columns, path, number)
        if not any(columns):
            raise wrong("no_header", path=path, line=number)
        width = len(columns)
        number = reader.line_num + 1 + above
        for cells in reader:
            if len(cells) == width:
                # Rows of delimiters alone are what spreadsheets leave at the end.
                if any(cells):
                    row = {key: cell or None for key, cell in zip(columns, cells, strict=True)}
                    if (row.get("") or "").isdecimal():  # pandas writes the index of a frame so
                        del row[""]
                    yield number, row
            elif cells:
                raise wrong("row_width", path=path, line=number, n=len(cells), width=width)
            number = reader.line_num + 1 + above
    except csv.Error as error:
        raise wrong("no_table", path=path, line=number, why=error) from None


def beginning(path: Path, encoding: str | None = None) -> tuple[tuple[str, ...], Row]:
    """The names in a table's header, none where the first line is no header; and its first row,
    empty where there is none or it cannot be read."""
    columns: tuple[str, ...] = ()
    with suppress(InputError, csv.Error):
        with closing(opening.text_lines(path, encoding)) as lines:
            first, declared = _opening(lines)
            header = chain([first], islice(lines, 99))  # a name may have line ends
            columns = tuple(next(csv.reader(header, delimiter=declared or _delimiter(first)), []))
        with closing(rows(path, encoding)) as listed:
            return columns, next(listed, (0, Row()))[1]
    return columns, {}


def _opening(lines: Iterator[str]) -> tuple[str, str | None]:
    """The header's line, and the delimiter where a line above it names one."""
    first = next(lines, "")
    declared = _EXCEL.fullmatch(first)
    return (next(lines, ""), declared[1]) if declared else (first, None)


def _delimiter(header_line: str) -> str:
    if "\t" in header_line:
        return "\t"
    return max(",;|", key=header_line.count)


def refuse_repeated(names: Sequence[str], path: Path, line: int) -> None:
    """Refuses a header that names a column twice."""
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise wrong("repeated_names", path=path, line=line, names=", ".join(map(repr, repeated)))
