"""Rows of JSON, CSV and Parquet files alike, for exports that come in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.formats.records import Mapper, field_values
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.traces.python_cells import opened
from ragassay.samples import Sample

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
            yield line, row | {name: opened(one, path, line, name) for name, one in read.items()}


def listed_cell(value: Any) -> Any:
    """What a column that is not opened (`UNREAD`) holds: the list in its text, where there is one.

    Args:
        value: what a record holds.
    """
    with suppress(InputError):
        return field_values.unpack(value, "")
    return value


def record_samples(
    listed: Iterable[tuple[int, dict[str, Any]]],
    made: Callable[[Mapping[str, Any]], tuple[dict[str, Any], dict[str, Any] | None]],
    tool: str,
    mapper: Mapper,
) -> Iterator[Sample]:
    """A sample for each record.

    Args:
        listed: the records, each with its line or number.
        made: makes our record of one, and what chosen columns may reach into beside it.
        tool: that wrote the records.
        mapper: makes the samples.

    Raises:
        InputError: a record cannot be read.
    """
    for line, row in listed:
        with opening.shaped(tool, mapper.path, line):
            record, beside = made(row)
        yield mapper.sample(record, line, beside)


def peeked_rows(path: Path, mapper: Mapper) -> tuple[dict[str, Any], Iterator[tuple[int, Any]]]:
    """The first record, which tells what a file holds, and all of them with their line or number.

    Args:
        path, mapper: as of `rows`.

    Returns:
        The first record is empty where there is none.

    Raises:
        InputError: the file cannot be read.
    """
    listed = rows(path, mapper)
    first = list(islice(listed, 1))
    return (first[0][1] if first else {}), chain(first, listed)
