"""InspectorRAGet's JSON: tasks, documents, models and evaluations in one object.

Each evaluation is a sample: one model's response to one task. Values computed by an algorithm
become given metrics; people's labels become ``metadata['annotations']``, by metric and annotator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import json_files, opening

_Table = Mapping[str, dict[str, Any]]
_COMPUTED = ("system", "composite")
_CONDITIONED = {"rb_agg": "rb_agg_idk", "rb_llm": "rb_llm_idk", "rl_f": "rl_f_idk"}
"""MT-RAG's analytics call values after IDK conditioning by the names of the raw metrics."""


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of the file, one an evaluation. The file is read into memory, because its tables
    refer to each other.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file cannot be read, or an evaluation refers to a missing task or document.
    """
    content = json_files.whole_object(path, mapper.encoding)
    with opening.placed(path):
        documents = _by(content, "documents", "document_id")
        tasks = _by(content, "tasks", "task_id")
        evaluations = _rows(content, "evaluations")
    for number, evaluation in enumerate(evaluations, 1):
        with opening.placed(path, number):
            record = _record(evaluation, tasks, documents)
        yield mapper.sample(record, number)


def _record(evaluation: dict[str, Any], tasks: _Table, documents: _Table) -> dict[str, Any]:
    task = tasks.get(str(evaluation.get("task_id")))
    if task is None:
        raise InputError(
            f"the evaluation is of the task {evaluation.get('task_id')!r}, which is not there",
            field="evaluations.task_id",
        )
    computed: dict[str, Any] = {}
    annotations: dict[str, Any] = deepcopy(task.get("annotations") or {})
    for metric, by_author in (evaluation.get("annotations") or {}).items():
        if not isinstance(by_author, dict):
            raise InputError(
                f"the annotation {metric!r} is no object of annotators",
                field="evaluations.annotations",
            )
        for author, entry in by_author.items():
            value = entry.get("value") if isinstance(entry, dict) else entry
            if author in _COMPUTED:
                computed[_CONDITIONED.get(metric, metric)] = value
            else:
                annotations.setdefault(metric, {})[author] = value
    record = {key: value for key, value in task.items() if key not in ("annotations", "contexts")}
    contexts = task.get("contexts")
    if contexts is not None:
        record["contexts"] = [_context(item, documents) for item in contexts]
    # They belong to the task, so that all models have the same.
    record["passages_prescribed"] = True
    record["model_id"] = evaluation.get("model_id")
    record["model_response"] = evaluation.get("model_response")
    record["metrics"] = computed
    if annotations:
        record["metadata"] = {**(task.get("metadata") or {}), "annotations": annotations}
    return record


def _context(item: Any, documents: _Table) -> dict[str, Any]:
    if isinstance(item, dict) and "text" in item:
        return item
    name = str(item.get("document_id") if isinstance(item, dict) else item)
    if name not in documents:
        raise InputError(
            f"the task has the document {name!r}, which is not there", field="tasks.contexts"
        )
    return {**documents[name], **(item if isinstance(item, dict) else {})}


def _by(content: dict[str, Any], table: str, key: str) -> _Table:
    entries: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    for number, row in enumerate(_rows(content, table), 1):
        if row.get(key) is None:
            raise InputError(
                f"entry {number} of the {table} has no {key}", line=number, field=f"{table}.{key}"
            )
        name = str(row[key])
        if name in entries:
            raise InputError(
                f"the {key} {name!r} stands in two of the {table}, {lines[name]} and {number}",
                line=number,
                field=f"{table}.{key}",
                hint="Give each its own id, or remove one.",
            )
        entries[name], lines[name] = row, number
    return entries


def _rows(content: dict[str, Any], table: str) -> list[dict[str, Any]]:
    rows = content.get(table)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("there is no list of objects", field=table)
    return rows


def _sniff(head: Head) -> int:
    return SURE if head.has("models", "tasks", "evaluations") else NO


FORMAT = Format(
    name="inspectorraget",
    title="InspectorRAGet analytics (JSON with tasks, models and evaluations)",
    suffixes=(".json",),
    sniff=_sniff,
    read=read,
)
