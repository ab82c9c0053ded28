"""The records that a JSON object holds: in a list, whose name says so or which is the only one in
it, or as a table that was written column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ragassay.formats.format_words import wrong
from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded
from ragassay.formats.records.texts_within import all_texts

_LISTS = ("results", "input_data", "data", "samples", "records", "examples", "rows", "traces")
"""Names of a list at the top of an object that holds the records, whatever stands around it."""

_AT_TOP = frozenset({"items", "entries", "runs", "questions", "queries", "dataset"})
"""Names of a list at the top of an object that say that it holds the records."""

_NEVER = frozenset(
    {"spans", "resource_spans", "scope_spans", "batches", "edges", "observations", "messages"}
    | {"choices", "steps", "chunks", "documents", "passages", "nodes", "hits", "given", "error"}
    | {"meta", "metadata", "info", "usage", "config", "stats", "summary", "params"}
)
"""Names that lead to no list of records, folded: of parts of one record, and of what describes
them."""

_ABOUT = frozenset(
    {"meta", "metadata", "info", "usage", "config", "stats", "summary", "params", "pagination"}
    | {"status", "object", "type", "kind", "version", "next", "previous", "cursor", "page", "code"}
    | {"message", "name", "title", "description", "id", "request_id", "url", "error", "source"}
    | {"created", "created_at", "timestamp", "generated_at", "project", "model", "author"}
    | {"license", "paging", "page_info"}
)
"""Names of what stands around a list of records, folded: their texts are none of a record."""

_FOUND = frozenset({"id", "passages", "passage_ids", "gold", "gold_ids"})
"""Fields of an item that is rather a passage than a record."""

_DEEPEST = 4
"""Objects around a list that are looked into."""

_OF_A_PART = frozenset({"text", "content", "value", "message", "type", "role"})
"""Names in an object that is a part of a record."""

_SINGLE = ("id", "query")
"""Fields that are no list of texts in a record of its own."""

Object = Mapping[str, Any]


def records_within(
    outer: Object, *, nested: bool, is_record: bool = False
) -> tuple[Iterable[dict[str, Any]], str] | None:
    """The records that an object holds, and words for objects with something around these; ``None``
    where it is a record itself.

    Args:
        outer: the object.
        nested: whether a list below its top counts, too.
        is_record: whether it is known to be a record, so that only a table counts.

    Raises:
        InputError: it holds several lists of records, or a table of columns of different lengths.
    """
    if not is_record and (name := _list_name(outer)) is not None:
        around = [repr(key) for key, one in outer.items() if key != name and one is not None]
        words = f"objects with {', '.join(around)} around a list of records" if around else ""
        return outer[name], words
    if (table := _table_rows(outer)) is not None:
        return table, ""
    way = _path_to_records(outer) if nested and not is_record else None
    if way is None:
        return None
    records: Any = outer
    for key in way:
        records = records[key]
    return records, f"objects with a list of records in {'.'.join(way)}"


def list_in(outer: Object) -> str | None:
    """The name of the only list of objects at the top of an object that is no record itself: beside
    the list stand no other lists, and no texts but those that describe a file. The list may have
    any name, so it is only a guess, for a hint."""
    names = [key for key, value in outer.items() if value and _are_objects(value)]
    if len(names) != 1 or FIELD_OF.get(folded(names[0])) is not None:
        return None
    others = [(folded(key), value) for key, value in outer.items() if key != names[0]]
    has_others = any(isinstance(value, str | list) and key not in _ABOUT for key, value in others)
    return None if has_others else names[0]


def _list_name(outer: Object) -> str | None:
    """The name among `_LISTS` under which an object that is no sample holds a list of records."""
    lists = ((name, outer.get(name)) for name in _LISTS)
    names = [
        name
        for name, one in lists
        if isinstance(one, list) and one and all(isinstance(item, dict) for item in one)
    ]
    if not names or any(FIELD_OF.get(folded(key)) in SUBSTANCE for key in outer):
        return None
    if len(names) > 1:
        raise wrong("several_lists", names=", ".join(map(repr, names)))
    return None if _holds_passages(outer, names[0]) else names[0]


def _holds_passages(outer: Object, name: str) -> bool:
    """Whether a list in an object holds what was retrieved for that object, and no records: its
    items have no other texts than ids and passages, and beside it stands a text of a record."""
    if _is_around(outer, (name,)):
        return False
    parts = [part for item in outer[name] for part in item.items()]
    fields_of = [(FIELD_OF.get(folded(key)), value) for key, value in parts]
    return any(field for field, _ in fields_of) and all(
        field in _FOUND if field else not any(all_texts(value)) for field, value in fields_of
    )


def _path_to_records(outer: Object) -> tuple[str, ...] | None:
    """The keys that lead to the only list of objects in an object that is no record itself. Nothing
    around the list may look like a part of a record: texts stand only under the names of what
    describes a file or a reply."""
    runs = outer.get("runs")
    if (
        "id" in outer
        and isinstance(runs, list)
        and all(isinstance(run, dict) and run.get("id") == outer["id"] for run in runs)
    ):
        return None  # a sample of ours that holds the runs of its query
    paths = list(_lists(outer, ()))
    if len(paths) != 1 or (len(paths[0]) == 1 and paths[0][0] not in _AT_TOP):
        return None
    return paths[0] if _is_around(outer, paths[0]) else None


def _lists(value: Object, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items():
        if folded(key) in _NEVER:
            continue
        if isinstance(inner, dict) and len(before) < _DEEPEST:
            yield from _lists(inner, (*before, key))
        elif _are_objects(inner):
            yield (*before, key)


def _are_objects(value: Any) -> bool:
    """Whether a value is a list of objects that hold more than an id: those with an id alone refer
    to something."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    return any(FIELD_OF.get(folded(name)) != "id" for one in value for name in one)


def _is_around(value: Any, path: tuple[str, ...]) -> bool:
    """Whether nothing beside the lists of a path looks like a part of a record."""
    for key in path:
        if any(FIELD_OF.get(folded(name)) in SUBSTANCE for name in value):
            return False
        others = [one for name, one in value.items() if name != key and folded(name) not in _ABOUT]
        if any(any(all_texts(one)) for one in others):
            return False
        value = value[key]
    return True


def _table_rows(value: Object) -> Iterator[dict[str, Any]] | None:
    """The rows of a table: ``{"question": ["a", "b"], "answer": ["c", "d"]}`` (also with an object
    row -> value for each column, as pandas writes), or ``{"columns": [...], "data": [[...],
    ...]}``; ``None`` where an object is none. Columns of different lengths are an error."""
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and names and data:
        rows_fit = all(isinstance(row, list) and len(row) == len(names) for row in data)
        if rows_fit and all(isinstance(name, str) for name in names):
            return (dict(zip(names, row, strict=True)) for row in data)
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
    if (index := _index(value)) is not None:
        columns = {"id": index, **columns}
    rows = zip(*columns.values(), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in rows)


def _refuse_if_ragged(value: Object, lengths: Mapping[str, int]) -> None:
    """Refuses an object of lists alone, among them one of queries or ids: such a list is no part of
    a record."""
    lists = {key: one for key, one in value.items() if isinstance(one, list)}
    fields = {FIELD_OF.get(folded(key)) for key in lists}
    alone = len(lists) == len(value) and all(lists.values())
    if alone and fields.intersection(_SINGLE) and _says_table(lists):
        counts = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise wrong("ragged_columns", counts=counts)


def _index(value: Object) -> list[str] | None:
    """The names of the rows, where they are more than their numbers and no column holds ids: pandas
    leaves out what the index is called."""
    rows = list(next(iter(value.values())))
    if not all(isinstance(one, dict) for one in value.values()) or all(map(str.isdecimal, rows)):
        return None
    return None if any(FIELD_OF.get(folded(name)) == "id" for name in value) else rows


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
    plain = (
        not any(isinstance(item, dict | list) for item in one) for one in columns.values() if one
    )
    return len(columns) > 1 and any(plain)
