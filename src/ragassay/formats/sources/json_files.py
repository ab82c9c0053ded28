"""The records of JSON files: of lines, of lists, and of objects that hold them in a list under one
of a few names, or as a table that was written column by column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded
from ragassay.formats.records.texts_within import all_texts
from ragassay.formats.sources.json_values import parse_json
from ragassay.formats.sources.opening import lines, opened, placed, read_all

_LISTS = (
    *("results", "input_data", "data", "samples", "records", "examples", "rows", "traces"),
    *("items", "entries", "runs", "questions", "queries", "dataset"),
)
"""Names of a list at the top of an object that holds the records."""

_ABOUT = frozenset(
    {"meta", "metadata", "info", "usage", "config", "stats", "summary", "params", "pagination"}
    | {"status", "object", "type", "kind", "version", "next", "previous", "cursor", "page", "code"}
    | {"message", "name", "title", "description", "id", "request_id", "url", "error", "source"}
    | {"created", "created_at", "timestamp", "generated_at", "project", "model", "author"}
    | {"license", "paging", "page_info", "batch"}
)
"""Names of what stands around a list of records, folded: their texts are none of a record."""


def json_records(
    path: Path,
    tell: Callable[..., None] = lambda kind, **facts: None,
    encoding: str | None = None,
    *,
    is_record: Callable[[dict[str, Any]], bool] = lambda record: False,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one (`records_within`).

    Each record comes with its line, in a document with its number. Where the first line holds a
    list of records (batches), every line may; their records are numbered consecutively.

    Args:
        path: the file.
        tell: takes a remark about what surrounds such a list (`Notes.tell`).
        encoding: of the file, where it is not UTF-8.
        is_record: whether an object is known to be a record, whatever lists it holds.

    Raises:
        InputError: something is not JSON, or not an object; or an object holds several lists of
            records.
    """
    stream = lines(path, encoding)
    first = next(stream, None)
    if first is None:
        raise InputError("the file holds only blank lines", path=path)
    if _is_document(first[1]):
        stream.close()
        value = parse_json(read_all(path, encoding), path)
        if isinstance(value, list):
            yield from ((index, _object(item, path, index)) for index, item in enumerate(value, 1))
            return
        objects = iter([(1, value)])
    else:
        raws = chain([first], stream)
        objects = ((line, _object(parse_json(raw, path, line), path, line)) for line, raw in raws)
    beginning = next(objects)
    objects = chain([beginning], objects)
    with placed(path):
        within = records_within(beginning[1], is_record=is_record(beginning[1]))
    if within is None:
        yield from objects
        return
    numbers = count(1)
    for _, outer in objects:
        with placed(path):
            records, around = records_within(outer, is_record=is_record(outer)) or ([outer], [])
        if around:
            tell("around_records", around=", ".join(map(repr, around)))
        for record in records:
            yield next(numbers), record


def first_record(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The first record of `json_records`, or the whole document where that is an object; empty
    where there is none. Reads little of a JSON Lines file or a list."""
    with suppress(InputError), closing(lines(path, encoding)) as stream:
        _, raw = next(stream, (0, b""))
        if raw.lstrip()[:1] == b"[":
            record = _first_of_list(path, encoding)
        else:
            record = parse_json(read_all(path, encoding) if _is_document(raw) else raw)
        return record if isinstance(record, dict) else {}
    return {}


def records_within(
    outer: Mapping[str, Any], *, is_record: bool = False
) -> tuple[Iterable[dict[str, Any]], list[str]] | None:
    """The records that an object holds, and the names of what stands around them; ``None`` where it
    is a record itself.

    Args:
        outer: the object.
        is_record: whether it is known to be a record, so that only a table counts.

    Raises:
        InputError: it holds several lists of records, or a table of columns of different lengths.
    """
    own = {"id", "runs"} <= outer.keys()  # a sample of ours that holds the runs of its query
    names = [] if is_record or own else [one for one in _LISTS if are_objects(outer.get(one))]
    if names and _says_nothing(outer, names):
        if len(names) > 1:
            raise wrong("several_lists", names=", ".join(map(repr, names)))
        others = [key for key, one in outer.items() if key != names[0] and one is not None]
        return outer[names[0]], others
    table = _table_rows(outer)
    return None if table is None else (table, [])


def path_to_records(outer: Mapping[str, Any]) -> list[str]:
    """The keys that lead to the only list of objects in an object that is no record itself, under
    whatever names; empty where there is none. Only a guess, for a hint."""
    paths = list(_lists(outer, []))
    if len(paths) != 1 or FIELD_OF.get(folded(paths[0][-1])) is not None:
        return []
    for key in paths[0]:
        if not _says_nothing(outer, [key]):
            return []
        outer = outer[key]
    return paths[0]


def _lists(value: Mapping[str, Any], before: list[str]) -> Iterator[list[str]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _lists(inner, [*before, key])
        elif are_objects(inner):
            yield [*before, key]


def are_objects(value: Any) -> bool:
    """Whether a value is a list of objects that hold more than an id: those with an id alone refer
    to something."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    return any(FIELD_OF.get(folded(name)) != "id" for one in value for name in one)


def _says_nothing(value: Mapping[str, Any], lists: list[str]) -> bool:
    """Whether nothing beside lists in an object looks like a part of a record."""
    others = {folded(name): one for name, one in value.items() if name not in lists}
    return all(
        FIELD_OF.get(name) not in SUBSTANCE and (name in _ABOUT or not any(all_texts(one)))
        for name, one in others.items()
    )


def _table_rows(value: Mapping[str, Any]) -> Iterator[dict[str, Any]] | None:
    """The rows of a table as pandas writes it: ``{"question": ["a", "b"], ...}`` with a column of
    ids or queries, ``{"question": {"0": "a", "1": "b"}, ...}``, or ``{"columns": [...], "data":
    [[...], ...]}``; ``None`` where an object is none."""
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and names and data:
        rows_fit = all(isinstance(row, list) and len(row) == len(names) for row in data)
        if rows_fit and all(isinstance(name, str) for name in names):
            return (dict(zip(names, row, strict=True)) for row in data)
    if value and all(isinstance(one, dict) and one for one in value.values()):
        index, *others = {tuple(one) for one in value.values()}
        if others:
            return None
        columns = {key: [*one.values()] for key, one in value.items()}
        if not all(map(str.isdecimal, index)):  # names of rows: pandas leaves out what they are
            if len(value) == 1 or len(index) == 1 or not _OF_A_PART.isdisjoint(map(folded, index)):
                return None
            if all(FIELD_OF.get(folded(name)) != "id" for name in value):
                columns = {"id": list(index), **columns}
    elif value and all(isinstance(one, list) and one for one in value.values()):
        columns = dict(value)
        # An id or a query is no list in a record.
        single = [one for key, one in columns.items() if FIELD_OF.get(folded(key)) in _SINGLE]
        if not single or any(isinstance(item, dict | list) for one in single for item in one):
            return None
    else:
        return None
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise wrong("ragged_columns", counts=counts)
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


_OF_A_PART = frozenset({*FIELD_OF, "text", "content", "value", "message", "type", "role"})
"""Names in an object that is a part of a record, folded."""

_SINGLE = ("id", "query")
"""Fields that are no list of texts in a record of its own."""


def _is_document(first_line: bytes) -> bool:
    text = first_line.strip()
    return text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}")


def _first_of_list(path: Path, encoding: str | None) -> Any:
    with opened(path, encoding) as stream:
        start = stream.read(1 << 20).decode(errors="ignore")
    begin = re.compile(r"\s*\[\s*").match(start)
    try:
        return json.JSONDecoder().raw_decode(start, begin.end() if begin else 0)[0]
    except (ValueError, RecursionError):
        value = parse_json(read_all(path, encoding))
        return value[0] if isinstance(value, list) and value else None


def _object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise unexpected(value, "a record").at(path=path, line=line)
