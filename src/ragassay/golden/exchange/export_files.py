"""Records as the bytes of files: JSON Lines, JSON, CSV, Parquet and Excel workbooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import orjson

from ragassay.base.errors import InputError, extra_needed

Record = dict[str, Any]
Rows = Sequence[Sequence[str]]

LONGEST_CELL = 32_767
"""Characters that Excel holds in a cell."""


def json_lines(records: Iterable[Record]) -> bytes:
    """A line for each record."""
    return b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in records)


def json_file(value: Any) -> bytes:
    """One value, indented."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def table(records: Sequence[Record], write: Callable[[Sequence[str], Rows], bytes]) -> bytes:
    """A table with a row for each record; lists and objects are JSON in their cells."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return write(names, [[_cell(record.get(name)) for name in names] for record in records])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def delimited(names: Sequence[str], rows: Rows, delimiter: str = ",") -> bytes:
    """A table as text."""
    text = io.StringIO()
    plain = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(text, csv.unix_dialect, delimiter=delimiter)
    for row in (names, *rows):
        # Before Python 3.13, a carriage return alone is not quoted, and ends a line.
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return text.getvalue().encode()


def parquet(names: Sequence[str], rows: Rows) -> bytes:
    """A Parquet file of texts; an empty cell is null."""
    import polars as pl

    stream = io.BytesIO()
    columns = {name: [row[at] or None for row in rows] for at, name in enumerate(names)}
    pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).write_parquet(stream)
    return stream.getvalue()


def workbook(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str = "queries",
    widths: Sequence[int] = (),
    filled: int = 0,
    choices: Sequence[Sequence[str]] = (),
) -> bytes:
    """An Excel workbook of texts.

    Args:
        widths: of the columns, in characters; then texts are wrapped.
        filled: the column that people fill in; those up to it stay in sight.
        choices: for each row what may be written into that column; empty: any text.
    """
    with extra_needed("An Excel workbook needs its package", "excel"):
        import xlsxwriter
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        head = book.add_format({"bold": True, "bottom": 1})
        text = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
        text = text if widths else None
        sheet = book.add_worksheet(title)
        sheet.freeze_panes(1, filled + 1)
        for column, width in enumerate(widths or [24] * len(names)):
            sheet.set_column(column, column, width, text)
        for place, row in enumerate([names, *rows]):
            for column, cell in enumerate(row):
                if len(cell) > LONGEST_CELL:
                    raise InputError(
                        f"the item {row[0]!r} has more than {LONGEST_CELL:,} characters, which no "
                        "cell of a workbook holds",
                        field=names[column],
                        hint="Write a CSV file.",
                    )
                # As text, also where it looks like a formula or an address.
                sheet.write_string(place, column, cell, text if place else head)
        number = 1
        for values, group in groupby(choices):
            last = number + sum(1 for _ in group) - 1
            if values:
                allowed = {"validate": "list", "source": list(values)}
                sheet.data_validation(number, filled, last, filled, allowed)
            number = last + 1
    return stream.getvalue()
