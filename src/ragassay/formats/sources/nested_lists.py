"""Where the records are, when a JSON object holds them in a list below its top: ``data.items``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded
from ragassay.formats.records.texts_within import all_texts

_DEEPEST = 4
"""Objects around a list that are looked into."""

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


def path_to_records(outer: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The keys that lead to the only list of objects in an object that is no record itself.

    Nothing around the list may look like a part of a record: texts stand only under the names of
    what describes a file or a reply (``status``, ``next``, ``description``).

    Args:
        outer: a JSON object.

    Returns:
        ``None`` where there is no such list, or several.
    """
    if _is_query_with_runs(outer):
        return None
    paths = list(_lists(outer, ()))
    if len(paths) != 1 or (len(paths[0]) == 1 and paths[0][0] not in _AT_TOP):
        return None
    return paths[0] if _is_around(outer, paths[0]) else None


def list_in(outer: Mapping[str, Any]) -> str | None:
    """The name of the only list of objects at the top of an object that is no record itself: beside
    the list stand no other lists, and no texts but those that describe a file. Unlike that of
    `path_to_records` the list may have any name, and objects under names of ours may stand beside
    it, so it is only a guess.

    Args:
        outer: a JSON object.
    """
    names = [key for key, value in outer.items() if value and _are_objects(value)]
    if len(names) != 1 or FIELD_OF.get(folded(names[0])) is not None:
        return None
    others = [(folded(key), value) for key, value in outer.items() if key != names[0]]
    has_others = any(isinstance(value, str | list) and key not in _ABOUT for key, value in others)
    return None if has_others else names[0]


_FOUND = frozenset({"id", "passages", "passage_ids", "gold", "gold_ids"})
"""Fields of an item that is rather a passage than a record."""


def holds_passages(outer: Mapping[str, Any], name: str) -> bool:
    """Whether a list in an object holds what was retrieved for that object, and no records: its
    items have no other texts than ids and passages, and beside it stands a text of a record.

    Args:
        outer: a JSON object.
        name: of a list of objects in it.
    """
    if _is_around(outer, (name,)):
        return False
    parts = [part for item in outer[name] for part in item.items()]
    fields_of = [(FIELD_OF.get(folded(key)), value) for key, value in parts]
    return any(field for field, _ in fields_of) and all(
        field in _FOUND if field else not any(all_texts(value)) for field, value in fields_of
    )


def _is_query_with_runs(record: Mapping[str, Any]) -> bool:
    """Whether a record is a sample of ours that holds the runs of its query, each with its id."""
    runs = record.get("runs")
    return (
        "id" in record
        and isinstance(runs, list)
        and all(isinstance(run, dict) and run.get("id") == record["id"] for run in runs)
    )


def _lists(value: Mapping[str, Any], before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
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
