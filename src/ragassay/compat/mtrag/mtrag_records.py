"""MT-RAG's records as JSON objects: joined with their tasks, extended by metrics (in ``metrics``, a
list for each field). Everything else in a record stays unchanged, and floats keep all digits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.score import Outcome, Unscored
from ragassay.formats.sources import json_files, opening
from ragassay.metrics.mtrag.mtrag_conditioning import METRICS_RULE

Record = dict[str, Any]

METRICS = "metrics"
UNSCORED = "metrics_unscored"
"""Beside ``metrics``: why a field is null, as ``{"BertKPrec": "not_applicable: ..."}``."""

JUDGE = "metrics_judge"
"""Beside ``metrics``: who was asked for a field, as ``{"RL_F": "offline-lexical/1"}``."""


def extended(
    record: Mapping[str, Any],
    outcomes: Mapping[str, Outcome],
    judged_by: Mapping[str, str] | None = None,
    rule: str | None = None,
) -> Record:
    """The record with outcomes among its metrics: as lists, null where there is no score. An
    empty label of ``judged_by``, or an empty rule of IDK conditioning, removes the record's own."""
    metrics, unscored = _object(record, METRICS), _object(record, UNSCORED)
    judges = {**_object(record, JUDGE), **(judged_by or {})}
    for field, outcome in outcomes.items():
        unscored.pop(field, None)
        if isinstance(outcome, Unscored):
            metrics[field] = None
            unscored[field] = outcome.words
        else:
            metrics[field] = list(outcome.parts.get("values") or [outcome.value])
    beside: Record = {
        UNSCORED: unscored,
        JUDGE: {name: who for name, who in judges.items() if who},
        METRICS_RULE: record.get(METRICS_RULE) if rule is None else rule,
    }
    others = {key: value for key, value in record.items() if key not in beside}
    return {**others, METRICS: metrics, **{key: value for key, value in beside.items() if value}}


def _object(record: Mapping[str, Any], key: str) -> Record:
    value = record.get(key)
    if value is None or isinstance(value, dict):
        return dict(value or {})
    raise InputError("an object of metrics is expected", field=key, hint="Rename that field.")


class Tasks:
    """A file of tasks, JSON Lines with a ``task_id`` in each record, kept in memory by id. An
    `InputError` where a record has no id, or two have the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tasks: dict[str, Record] = {}
        self._used: set[str] = set()
        lines: dict[str, int] = {}
        for line, record in json_files.json_records(path):
            with opening.placed(path, line):
                name = task_id(record)
                if name in lines:
                    raise InputError(
                        f"the task {record['task_id']!r} was already given in line {lines[name]}",
                        field="task_id",
                    )
            self._tasks[name], lines[name] = record, line

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def unused(self) -> int:
        """The number of tasks that no record was joined with so far."""
        return len(self._tasks) - len(self._used)

    def join(self, record: Record, path: Path, line: int) -> Record:
        """The task, extended by the record, whose values win except where they are null. An
        `InputError` where there is no such task, or record and task differ in what a task is."""
        with opening.placed(path, line):
            name = task_id(record)
            task = self._tasks.get(name)
            if task is None:
                raise InputError(
                    f"the task {record['task_id']!r} is not in {self.path}",
                    field="task_id",
                    hint="Name the file of tasks that the predictions were made for.",
                )
            for key in ("input", "targets"):  # the same texts, where a prediction repeats them
                if task.get(key) and record.get(key) and _texts(task[key]) != _texts(record[key]):
                    raise InputError(
                        f"the record's texts differ from those of its task in {self.path}",
                        field=key,
                        hint="Leave them out of one of the two files.",
                    )
        self._used.add(name)
        own_values = {key: value for key, value in record.items() if value is not None}
        return {**record, **task, **own_values}


def task_id(record: Mapping[str, Any]) -> str:
    """The id of a record's task, as ``C::T`` (a record may spell it ``C<::>T``); an `InputError`
    where it has none."""
    name = record.get("task_id")
    if not isinstance(name, str | int) or name == "":
        raise InputError("the record has no task_id", field="task_id")
    return str(name).replace("<::>", "::")


def _texts(turns: Any) -> list[Any]:
    return [turn.get("text") if isinstance(turn, dict) else turn for turn in turns]
