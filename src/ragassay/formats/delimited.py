"""Text tables: rows of CSV and TSV files, one by one.

Cells are text. An empty cell means that nothing was given (CSV has no other way to say it); lists
stand in a cell as JSON.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ragassay.errors import InputError
from ragassay.formats import files

Row = dict[str, str | None]


def rows(path: Path, delimiter: str | None = None) -> Iterator[tuple[int, Row]]:
    """Every row that is not blank, as column -> cell (``None`` where it is empty), with the line
    that it begins in.

    Args:
        path: the file.
        delimiter: what stands between cells; found from the header when ``None``.

    Raises:
        InputError: the header is unusable, a row has another number of cells, or the quotes do not
            match.
    """
    csv.field_size_limit(2**31 - 1)
    lines = files.text_lines(path)
    first = next(lines, "")
    between = delimiter or _delimiter(first)
    reader = csv.reader(
        _again(first, lines),
        delimiter=between,
        # A header with a blank after each delimiter is one that puts it before quotes as well.
        skipinitialspace=0 < first.count(between) == first.count(f"{between} "),
        strict=True,
    )
    number = 1
    try:
        columns = _checked(next(reader, []), path)
        width = len(columns)
        number = reader.line_num + 1
        for cells in reader:
            if len(cells) == width:
                yield number, {key: cell or None for key, cell in zip(columns, cells, strict=True)}
            elif cells:
                raise InputError(
                    f"the row has {len(cells)} cells, the header {width}",
                    path=path,
                    line=number,
                    hint='Put cells that hold a delimiter or a line break in "quotes".',
                )
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"this is no valid table ({error})",
            path=path,
            line=number,
            hint='Put cells with line breaks in "quotes", and double the quotes inside them.',
        ) from None


def header(path: Path) -> tuple[str, ...]:
    """The names in a table's header; empty where the first line is none."""
    lines = files.text_lines(path)
    try:
        first = next(lines, "")
        return tuple(next(csv.reader([first], delimiter=_delimiter(first)), []))
    except (InputError, csv.Error):
        return ()
    finally:
        lines.close()


def _delimiter(header_line: str) -> str:
    if "\t" in header_line:
        return "\t"
    return max(",;|", key=header_line.count)


def _checked(columns: list[str], path: Path) -> list[str]:
    names = [name.strip() for name in columns]
    twice = {name for name in names if names.count(name) > 1}
    if not any(names) or twice:
        raise InputError(
            f"the header names {', '.join(map(repr, sorted(twice)))} more than once"
            if twice
            else "there is no header",
            path=path,
            line=1,
            hint="The first line names the columns.",
        )
    return names


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
