"""JSON that holds a table: a list (or an object) for each column, or the columns and the rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded

_OF_A_PART = frozenset({"text", "content", "value", "message", "type", "role"})
"""Names in an object that is a part of a record."""

_SINGLE = ("id", "query")
"""Fields that are no list of texts in a record of its own."""


def rows(value: Mapping[str, Any]) -> Iterator[dict[str, Any]] | None:
    """The rows of a table; ``None`` where an object is none.

    A table is ``{"question": ["a", "b"], "answer": ["c", "d"]}`` (also with an object row -> value
    for each column, as pandas writes), or ``{"columns": [...], "data": [[...], ...]}``.

    Args:
        value: a JSON object.

    Raises:
        InputError: it is a table whose columns have different lengths.
    """
    split = _split(value)
    if split is not None:
        return split
    columns = {
        key: [*one.values()] if isinstance(one, dict) else one
        for key, one in value.items()
        if isinstance(one, dict | list)
    }
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        _refuse_if_ragged(value, lengths)
        return None
    if len(columns) < len(value) or not columns:
        return None
    if not _are_alike(value.values()) or not _says_table(columns):
        return None
    index = _index(value)
    if index is not None:
        columns = {"id": index, **columns}
    names = list(columns)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _refuse_if_ragged(value: Mapping[str, Any], lengths: Mapping[str, int]) -> None:
    """Refuses an object of lists alone, among them one of queries or ids: such a list is no part of
    a record."""
    lists = {key: one for key, one in value.items() if isinstance(one, list)}
    fields = {FIELD_OF.get(folded(key)) for key in lists}
    if (
        len(lists) == len(value)
        and all(lists.values())
        and fields.intersection(_SINGLE)
        and _says_table(lists)
    ):
        counts = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise InputError(
            f"the columns have different lengths: {counts}",
            hint="Give each column a value (or null) for every row.",
        )


def _index(value: Mapping[str, Any]) -> list[str] | None:
    """The names of the rows, where they are more than their numbers and no column holds ids: pandas
    leaves out what the index is called."""
    rows = list(next(iter(value.values())))
    if not all(isinstance(one, dict) for one in value.values()) or all(map(str.isdecimal, rows)):
        return None
    return None if any(FIELD_OF.get(folded(name)) == "id" for name in value) else rows


def _split(value: Mapping[str, Any]) -> Iterator[dict[str, Any]] | None:
    names, data = value.get("columns"), value.get("data")
    if not (isinstance(names, list) and isinstance(data, list) and data):
        return None
    if not (names and all(isinstance(name, str) for name in names)):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in data):
        return None
    return (dict(zip(names, row, strict=True)) for row in data)


def _are_alike(values: Collection[Any]) -> bool:
    """Whether all columns are lists, or all are objects with the same rows: by their numbers, or at
    least two by names that are none of parts of a record (``{"text": ...}``)."""
    kinds = {type(value) for value in values}
    if kinds == {dict}:
        first, *others = {tuple(value) for value in values}
        if others or all(map(str.isdecimal, first)):
            return not others
        names = {folded(name) for name in first}
        return len(first) > 1 and names.isdisjoint(FIELD_OF) and names.isdisjoint(_OF_A_PART)
    return kinds == {list}


def _says_table(columns: Mapping[str, list[Any]]) -> bool:
    """Whether the names say that each list is a column: an id or a query is no list in a record."""
    fields = {key: FIELD_OF.get(folded(key)) for key in columns}
    single = [key for key, field in fields.items() if field in _SINGLE]
    if single:
        return all(not isinstance(item, dict | list) for key in single for item in columns[key])
    if any(field in SUBSTANCE for field in fields.values()):
        return False
    # Names that nobody knows: a list of objects may be one of records.
    plain = [
        column
        for column in columns.values()
        if column and all(not isinstance(item, dict | list) for item in column)
    ]
    return len(columns) > 1 and bool(plain)
