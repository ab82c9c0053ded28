"""Rows of JSON, CSV and Parquet files alike, for exports that come in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.traces import python_cells

UNREAD = frozenset({"events", "serialized", "tags", "links", "child_run_ids", "parent_run_ids"})
"""Columns that no format reads, so that whatever they hold is no error."""


def rows(path: Path, mapper: Mapper) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each record with its line or number. Cells of CSV that hold lists or objects are opened.

    Args:
        path: the file.
        mapper: knows the encoding, and takes the notes.

    Raises:
        InputError: the file or a cell cannot be read.
    """
    with opening.opened(path, mapper.encoding) as stream:
        start = stream.read(4)
    if start == b"PAR1":
        from ragassay.formats.parquet import table_rows

        yield from table_rows(path)
    elif opening.is_json(path, mapper.encoding):
        yield from json_files.json_records(path, mapper.note, mapper.encoding, nested=True)
    else:
        for line, row in delimited.rows(path, mapper.encoding):
            read = {name: cell for name, cell in row.items() if name not in UNREAD}
            with opening.placed(path, line):
                opened = {name: python_cells.opened(cell, name) for name, cell in read.items()}
            yield line, row | opened


def first_of(row: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these names under which a record holds something; else ``None``.

    Args:
        row: the record.
        names: tried in this order; an empty text counts as nothing.
    """
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)
