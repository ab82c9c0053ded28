"""Parts of a sample that are read from a record by its keys alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.sample import GoldPassage, Passage
from ragassay.formats.format_words import wrong
from ragassay.formats.records import aliases
from ragassay.formats.records.aliases import ALIASES
from ragassay.formats.records.column_plans import Keys
from ragassay.formats.records.values import answer_values, field_values, passages
from ragassay.formats.records.values.times import timestamp

_READ: Mapping[str, Callable[[Any, str], Any]] = {
    "id": field_values.identifier,
    "system": field_values.identifier,
    "repeat": field_values.whole_number,
    "query_run": field_values.whole_number,
    "negative_references": lambda value, key: answer_values.references(value, key)[0],
    "timestamp": timestamp,
    "language": lambda value, key: (value.strip() or None) if isinstance(value, str) else None,
    "failure": field_values.failure,
    "passages_prescribed": field_values.flag,
}
"""How fields are read that need no other."""

WITH_IDS: Mapping[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "passages": ("passage_ids", passages.passages, passages.with_ids),
    "gold": ("gold_ids", passages.gold, passages.gold_with_ids),
}
"""The field of the ids of passages, how passages are read, and how they get those ids."""

_DOTTED = [(name, *name.split(".", 1)) for name in aliases.FIELD_OF if "." in name]
_ROOTS = frozenset(root for _, root, _ in _DOTTED)


def with_dotted(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with those nested values at the top that have a name of their own
    (``inputs.question``)."""
    if _ROOTS.isdisjoint(record):
        return record
    flat = dict(record)
    for name, root, key in _DOTTED:
        inner = flat.get(root)
        if name not in record and isinstance(inner, dict) and key in inner:
            flat[name] = inner[key]
            flat[root] = {other: value for other, value in inner.items() if other != key}
            if not flat[root]:
                del flat[root]
    return flat


def are_runs(value: Any) -> bool:
    """Whether a value is what our own writer puts under ``runs``: a list of full records that have
    only fields of ours."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(run, dict) and isinstance(run.get("id"), str) for run in value)
        and all(run.keys() <= ALIASES.keys() for run in value)
    )


def own_parts(record: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Those parts of a sample that need nothing but their own values, by their fields. What the
    record does not have is left out."""
    parts = {field: _READ[field](record[key], key) for field, key in keys.items() if field in _READ}
    if "repeat" in keys or "query_run" in keys:
        parts["repeat"] = _repeat(parts.get("repeat"), parts.pop("query_run", None), keys)
    for field in ("references", "reference_groups"):
        if field in keys:
            listed, groups = answer_values.references(record[keys[field]], keys[field])
            parts["references"] = parts.get("references") or listed
            parts["reference_groups"] = groups
    return parts


def _repeat(repeat: int | None, run: int | None, keys: Keys) -> int:
    """The number of a repetition, from 0, by the record's own number or its run, from 1."""
    if run is None:
        return repeat or 0
    if run < 1:
        raise wrong("run_below_1", field=keys["query_run"], run=run)
    if repeat not in (None, run - 1):
        facts = {"run": run, "key": keys["repeat"], "repeat": repeat}
        raise wrong("run_and_repeat", field=keys["query_run"], **facts)
    return run - 1


def add_embeddings(parts: dict[str, Any], record: Mapping[str, Any], keys: Keys) -> None:
    """Puts vectors under ``given`` of the parts of a sample. Where the record has no texts, each
    vector makes a chunk."""
    chunks = (("passages", Passage()), ("gold", GoldPassage(text="")))
    for name, (field, chunk) in zip(aliases.EMBEDDINGS, chunks, strict=True):
        key = keys.get(name)
        if key is None or record[key] is None:
            continue
        rows = field_values.vectors(record[key], key)
        parts["given"] = {name: rows, **parts.get("given", {})}
        if parts.get(field) is None:
            parts[field] = (chunk,) * len(rows)
