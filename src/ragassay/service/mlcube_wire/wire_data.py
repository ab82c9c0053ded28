"""From the files that ML cube's client uploads to samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.records.field_values import identifier
from ragassay.service.store.projects import Task
from ragassay.service.store.records import read_batch

TEMPLATE: Sequence[Mapping[str, Any]] = (
    {"name": "id", "role": "id", "data_type": "string"},
    {"name": "timestamp", "role": "time_id", "data_type": "float"},
    {"name": "user_input", "role": "input", "subrole": "user_input", "data_type": "string"},
    {"name": "retrieved_context", "role": "input", "subrole": "retrieved_context",
     "data_type": "string"},
)  # fmt: skip
"""The columns of a task that has no data schema of its own."""

_FIELDS = {
    **{name: name for name in ("id", "user_input", "retrieved_context")},
    "time_id": "timestamp",
}
"""Our names for roles and subroles; other columns become metadata."""


def read_table(path: Path, file_type: str) -> list[dict[str, Any]]:
    """The rows of an uploaded table: ``csv``, ``json`` or ``parquet``."""
    import polars as pl

    try:
        if file_type == "csv":
            frame = pl.read_csv(path, infer_schema_length=0)
        elif file_type == "parquet":
            frame = pl.read_parquet(path)
        else:
            rows = orjson.loads(path.read_bytes())
            if not isinstance(rows, list):  # by column
                cells = zip(*map(_listed, rows.values()), strict=True)
                return [dict(zip(rows, values, strict=True)) for values in cells]
            return [dict(row) for row in rows]
    except (pl.exceptions.PolarsError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"the {file_type} file cannot be read ({str(error).replace(str(path), 'it')})"
        ) from error
    return frame.to_dicts()


def _listed(column: Any) -> list[Any]:
    return list(column.values()) if isinstance(column, Mapping) else list(column)


def samples_of(
    task: Task,
    columns: Sequence[Mapping[str, Any]],
    inputs: Sequence[Mapping[str, Any]],
    metadata: Sequence[Mapping[str, Any]],
    predictions: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[Sample]:
    """Samples of uploaded tables, joined by id: one for each row of inputs (queries and contexts)
    and each model (``MODEL@VERSION``), whose rows have the answers. Rows of no row of the inputs,
    two of one, and predictions without the column of their model are refused."""
    key = next(str(column["name"]) for column in columns if column.get("role") == "id")
    ids = {_id_of(row, key) for row in inputs}
    by_id = _by_id("the metadata", metadata, key, ids)
    answers = {}
    for model, rows in predictions.items():
        if rows and not any(model in row for row in rows):
            raise InputError(f"the predictions have no column {model!r}", field=model)
        predicted = _by_id(f"the predictions of {model}", rows, key, ids)
        answers[model] = {name: row.get(model) for name, row in predicted.items()}
    records = list(_records(columns, key, inputs, by_id, answers))
    # A published task needs a separator only where contexts have several chunks.
    return read_batch(records, task.options, "marks")


def _by_id(
    table: str, rows: Sequence[Mapping[str, Any]], key: str, ids: Set[str]
) -> dict[str, Mapping[str, Any]]:
    """The rows of a table by id; each belongs to one row of the inputs, whose ids are ``ids``."""
    by_id: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        name = _id_of(row, key)
        if name not in ids:
            raise InputError(f"{table} have a row {name!r}, and the inputs have none", field=key)
        if name in by_id:
            raise InputError(f"{table} have two rows {name!r}", field=key)
        by_id[name] = row
    return by_id


def _records(
    columns: Sequence[Mapping[str, Any]],
    key: str,
    inputs: Sequence[Mapping[str, Any]],
    metadata: Mapping[str, Mapping[str, Any]],
    answers: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    for row in inputs:
        name = _id_of(row, key)
        values = {**metadata.get(name, {}), **row}
        record: dict[str, Any] = {"metadata": {}}
        for column in columns:
            role = column.get("subrole") or column.get("role")
            value = values.get(str(column["name"]))
            if value is None:
                continue
            if role in _FIELDS:
                record[_FIELDS[role]] = value
            elif column.get("role") != "prediction":
                place = role if role in ("session_id", "turn_id") else str(column["name"])
                record["metadata"][place] = value
        record["id"] = name
        if not answers:
            yield record
        for model, by_id in answers.items():
            yield {**record, "system": model, "response": by_id.get(name)}


def _id_of(row: Mapping[str, Any], key: str) -> str:
    name = identifier(row.get(key), key)
    if not name:
        raise InputError(f"a row has no {key!r}", field=key, hint="Each row needs its id.")
    return name
