"""Where the records are, when a JSON object holds them in a list below its top: ``data.items``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.formats.records import FIELD_OF, SUBSTANCE, folded

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
    found = list(_lists(outer, ()))
    if len(found) != 1 or (len(found[0]) == 1 and found[0][0] not in _AT_TOP):
        return None
    return found[0] if _is_around(outer, found[0]) else None


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
        elif isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner):
            yield (*before, key)


def _is_around(value: Any, path: tuple[str, ...]) -> bool:
    """Whether what stands beside a path says nothing that a record says."""
    for key in path:
        if any(FIELD_OF.get(folded(name)) in SUBSTANCE for name in value):
            return False
        others = [one for name, one in value.items() if name != key and folded(name) not in _ABOUT]
        if any(_holds_text(one) for one in others):
            return False
        value = value[key]
    return True


def _holds_text(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_holds_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and bool(value.strip())
