"""Rows of data in memory: lists of mappings, frames, Arrow tables, and objects that hold a text (of
LangChain, LlamaIndex and the like), recognised by their methods and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ragassay.base.sample import Sample
from ragassay.formats.format_words import kind, wrong
from ragassay.formats.sources.json_files import cleaned, exact, rows_of
from ragassay.formats.sources.opening import placed

_SLICE = 2048


def rows(records: Any, first: int = 1) -> Iterator[tuple[int, dict[str, Any] | Sample]]:
    """Each record with its number, from ``first`` on, as plain values: arrays become lists, and
    every kind of missing value becomes ``None``."""
    if isinstance(records, str | bytes):
        raise wrong("text_for_records")
    for number, record in enumerate(_each(records), first):
        if isinstance(record, Sample):
            yield number, record
            continue
        record = _fields_of(record)
        with placed(None, number):
            if not isinstance(record, Mapping):
                raise wrong("no_record", kind=kind(record))
            row = {}
            for key, item in record.items():
                try:
                    row[str(key)] = plain(item, str(key))
                except RecursionError:
                    raise wrong("deep_value", field=str(key)) from None
        yield number, row


def _each(records: Any) -> Iterator[Any]:
    if hasattr(records, "collect_schema") and hasattr(records, "collect"):
        records = records.collect()  # a lazy frame of polars
    columns = records.values() if isinstance(records, Mapping) else ()
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
    elif columns and all(isinstance(column, list | tuple) for column in columns):
        yield from rows_of(records)
    elif isinstance(records, Mapping) or not hasattr(records, "__iter__"):
        raise wrong("no_records", kind=kind(records))
    else:
        yield from records


def _distinct(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise wrong("column_twice", field=name, name=name)
    return names


def plain(value: Any, key: str) -> Any:
    """A value of a frame as JSON has it: bytes in UTF-8, dates as texts; objects that hold a text
    (messages, documents and nodes) by what they hold. Infinite numbers, bytes that are no text and
    objects that hold none are errors."""
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
    if isinstance(value, bytes):  # as some programs write texts into Parquet
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise wrong("bytes", field=key, n=len(value)) from None
    if isinstance(value, Mapping):
        return {str(name): plain(item, str(name)) for name, item in value.items()}
    if isinstance(value, Sequence | Set):
        held = (item if isinstance(item, _PLAIN) else _held(item) for item in value)
        return [plain(item, key) for item in held]
    if isinstance(value, datetime | date):
        return value.isoformat() if value == value else None  # NaT differs from itself
    if hasattr(value, "tolist"):  # numpy
        return plain(value.tolist(), key)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, _WRITTEN) or type(value).__name__ in ("Interval", "Period"):  # of pandas
        return str(value)
    message = _message(value)  # whose role says nothing: it is an answer or a query
    found = message["content"] if message else _held(value)
    if found is not value:
        return plain(found, key)
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    raise wrong("unknown_object", field=key, name=name)


_PLAIN = (type(None), str, bytes, int, float, Mapping, Sequence)
_WRITTEN = (Decimal, UUID, PurePath, time, timedelta, complex)
"""Values that are written as they are shown."""


def _fields_of(value: Any) -> Any:
    """An object of a data class or of pydantic as a mapping; any other value unchanged."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="python")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value


def _held(value: Any) -> Any:
    """What an object holds: a document or node its text, metadata, id and score; a message its role
    or type and its content; a data class its fields. Any other value is returned unchanged."""
    return _message(value) or _document(value) or _fields_of(value)


def _document(value: Any) -> dict[str, Any] | None:
    node = getattr(value, "node", value)
    if isinstance(getattr(value, "page_content", None), str):
        text = value.page_content
    elif callable(getattr(node, "get_content", None)):
        text = node.get_content()
    else:
        text = _first(value, "text", "content")
    if not isinstance(text, str):
        return None
    name = _first(value, "id", "doc_id", "document_id") or _first(node, "node_id")
    metadata, score = _first(node, "metadata", "meta"), _first(value, "score")
    parts = {"text": str(text), "id": name, "metadata": metadata, "score": score}
    return {key: part for key, part in parts.items() if part not in (None, {})}


def _first(value: Any, *names: str) -> Any:
    """The first of these attributes that an object has; ``None`` where it has none."""
    return next((item for name in names if (item := getattr(value, name, None)) is not None), None)


def _message(value: Any) -> dict[str, Any] | None:
    content = getattr(value, "content", None)
    role = _first(value, "role", "type")
    if isinstance(content, list):  # parts of a message
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        content = "".join(text for text in texts if isinstance(text, str))
    if role is None or not isinstance(content, str) or callable(_first(value, "get_content")):
        return None
    return {"content": content, "role": str(getattr(role, "value", role))}
