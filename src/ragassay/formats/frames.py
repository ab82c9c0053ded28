"""Rows of data in memory: lists of mappings, frames, Arrow tables.

Frames are recognised by their methods, so neither pandas nor polars is ever imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from ragassay.errors import InputError
from ragassay.formats.records import cleaned, kind, placed
from ragassay.samples import Sample

_SLICE = 2048


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
        elif isinstance(record, Mapping):
            with placed(None, number):
                row = {str(key): _plain(item, str(key)) for key, item in record.items()}
            yield number, row
        else:
            raise InputError(
                f"{kind(record)} stands where a record is expected",
                line=number,
                hint="Give a list of dicts, a frame or samples.",
            )


def _each(records: Any) -> Iterator[Any]:
    if hasattr(records, "collect_schema") and hasattr(records, "collect"):
        records = records.collect()  # a lazy frame of polars
    if hasattr(records, "iter_rows"):  # polars
        yield from records.iter_rows(named=True)
    elif hasattr(records, "iloc") and hasattr(records, "columns"):  # pandas
        names = _distinct([str(name) for name in records.columns])
        if any(name is not None for name in records.index.names):
            yield from _each(_with_index(records, names))
            return
        for start in range(0, len(records), _SLICE):
            for row in records.iloc[start : start + _SLICE].itertuples(index=False, name=None):
                yield dict(zip(names, row, strict=True))
    elif hasattr(records, "to_batches"):  # Arrow
        _distinct(records.schema.names)
        for batch in records.to_batches(max_chunksize=_SLICE):
            yield from batch.to_pylist()
    elif isinstance(records, Mapping) or not hasattr(records, "__iter__"):
        raise InputError(
            f"{kind(records)} was given where records are expected",
            hint="Give a list of dicts, a frame or samples.",
        )
    else:
        yield from records


def _with_index(frame: Any, names: list[str]) -> Any:
    """A frame of pandas with its named index as columns: it is often the id."""
    index = [str(name) for name in frame.index.names if name is not None]
    _distinct([*index, *names])
    return frame.reset_index()


def _distinct(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"there is more than one column {name!r}",
                field=name,
                hint="Rename or drop all but one.",
            )
    return names


def _plain(value: Any, key: str) -> Any:
    if value is None or type(value) in (int, bool):
        return value
    if type(value) in (str, float):
        return cleaned(value, key)
    if isinstance(value, Mapping):
        return {str(name): _plain(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, key) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat() if value == value else None  # NaT differs from itself
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist(), key)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value)
