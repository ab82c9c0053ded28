"""Rows of data in memory: lists of mappings, frames, Arrow tables.

Frames are recognised by their methods, so neither pandas nor polars is ever imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.sources.json_files import cleaned, exact
from ragassay.formats.sources.kinds import kind, unexpected
from ragassay.formats.sources.opening import placed
from ragassay.formats.text_holders import fields_of, held, text_of

_SLICE = 2048
_HOW = "Give a list of dicts, a frame or samples."


def rows(records: Any, first: int = 1) -> Iterator[tuple[int, dict[str, Any] | Sample]]:
    """Each record with its number, as plain values.

    Arrays become lists, and every kind of missing value becomes ``None``.

    Args:
        records: mappings, samples, a frame of pandas or polars, or an Arrow table.
        first: the number of the first one.

    Raises:
        InputError: these are no records, or one holds an infinite number.
    """
    if isinstance(records, str | bytes):
        raise InputError(
            "a text was given where records are expected", hint="To read a file, use load."
        )
    for number, record in enumerate(_each(records), first):
        if isinstance(record, Sample):
            yield number, record
            continue
        record = fields_of(record)
        with placed(None, number):
            if not isinstance(record, Mapping):
                raise unexpected(record, "a record", hint=_HOW)
            row = {str(key): _cell(item, str(key)) for key, item in record.items()}
        yield number, row


def _cell(value: Any, key: str) -> Any:
    try:
        return plain(value, key)
    except RecursionError:
        raise InputError("the value is nested too deeply", field=key) from None


def _each(records: Any) -> Iterator[Any]:
    if hasattr(records, "collect_schema") and hasattr(records, "collect"):
        records = records.collect()  # a lazy frame of polars
    if hasattr(records, "iter_rows"):  # polars
        yield from records.iter_rows(named=True)
    elif hasattr(records, "iloc") and hasattr(records, "columns"):  # pandas
        index = [name for name in records.index.names if name is not None]
        names = _distinct([str(name) for name in (*index, *records.columns)])
        if index:  # it is often the id
            yield from _each(records.reset_index())
            return
        for start in range(0, len(records), _SLICE):
            for row in records.iloc[start : start + _SLICE].itertuples(index=False, name=None):
                yield dict(zip(names, row, strict=True))
    elif hasattr(records, "to_batches"):  # Arrow
        _distinct(records.schema.names)
        for batch in records.to_batches(max_chunksize=_SLICE):
            yield from batch.to_pylist()
    elif (
        isinstance(records, Mapping)
        and records
        and all(isinstance(column, list | tuple) for column in records.values())
    ):
        yield from _of_columns(records)
    elif isinstance(records, Mapping) or not hasattr(records, "__iter__"):
        raise InputError(f"{kind(records)} was given where records are expected", hint=_HOW)
    else:
        yield from records


def _of_columns(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        listed = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise InputError(
            f"the columns have different lengths ({listed})", hint="Give one value for each record."
        )
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


def _distinct(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"there is more than one column {name!r}",
                field=name,
                hint="Rename or drop all but one.",
            )
    return names


def _text(value: bytes, key: str) -> str:
    """The text in a column of bytes, as which some programs write texts into Parquet."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"{len(value):,} bytes that are no text in UTF-8 stand in the column",
            field=key,
            hint="Leave the column out, or write its texts as UTF-8.",
        ) from None


def plain(value: Any, key: str) -> Any:
    """A value of a frame as JSON has it: bytes in UTF-8, dates as texts; objects that hold a text
    (messages, documents and nodes of LangChain and LlamaIndex) by what they hold.

    Args:
        value: of a cell.
        key: its column.

    Raises:
        InputError: an infinite number, bytes that are no text, or an object that holds no text.
    """
    if value is None or type(value) is bool:
        return value
    if type(value) is int:
        return exact(value)
    if type(value) in (str, float):
        return cleaned(value, key)
    if isinstance(value, Enum):
        return plain(value.value, key)
    if isinstance(value, str):  # of a class of its own
        return cleaned(str(value), key)
    if isinstance(value, bytes):
        return _text(value, key)
    if isinstance(value, Mapping):
        return {str(name): plain(item, str(name)) for name, item in value.items()}
    if isinstance(value, Sequence | Set):
        return [plain(item if _is_plain(item) else held(item), key) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat() if value == value else None  # NaT differs from itself
    if hasattr(value, "tolist"):  # numpy
        return plain(value.tolist(), key)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, _WRITTEN):
        return str(value)
    found = text_of(value)
    if found is not value:
        return plain(found, key)
    raise InputError(
        f"an object of the class {type(value).__module__}.{type(value).__qualname__} stands where "
        "text or data is expected",
        field=key,
        hint="Give its text, or what it holds as a dict.",
    )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bytes | int | float | Mapping | Sequence)


_WRITTEN = (Decimal, UUID, PurePath, time, timedelta, complex)
"""Values that are written as they are shown."""
