"""Result files of the golden-answer evaluator: tables with its metrics, one row a query.

Columns go by our names (``factual_correctness.f1``) or by the published ones
(``factual_correctness_f1``), whatever stands before these (``run_1_...``).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragassay import suites
from ragassay.engine.results import Result, describe
from ragassay.errors import InputError
from ragassay.metrics.core import naming
from ragassay.reports.plots.tabled import (
    BY_FILE,
    LEVEL,
    ROUNDING,
    UNKNOWN,
    Cell,
    Collected,
    Columns,
    answers,
    by_run,
    header,
)

TITLES = {
    "answer_similarity": "Semantic similarity",
    "factual_correctness.precision": "Factual precision",
    "factual_correctness.recall": "Factual recall",
    "factual_correctness.f1": "Factual F1",
}
DEFAULT = tuple(TITLES)
"""The metrics that are drawn by default: all of the suite."""


def columns_of(heads: Iterable[str]) -> Columns:
    """The columns of each run, by our names of the metrics."""
    return by_run(heads, _named)


def _named(column: str) -> str | None:
    names = {name: name for name in DEFAULT} | dict(suites.get("golden").aliases)
    for title, name in names.items():
        if column in (title, f"{title}_score") or column.endswith(f"_{title}"):
            return name
    return None


def read(path: Path) -> list[Result]:
    """One result a system, in order of first appearance.

    Raises:
        InputError: the file is of another kind, or a cell holds what it should not; the message has
            line and column.
    """
    runs = columns_of(header(path))
    if not runs:
        raise InputError("has no column of the golden-answer evaluator", path=path)
    systems: dict[str, Collected] = {}
    for identity, cells in answers(path, runs):
        one = systems.setdefault(identity[1], Collected(identity[1]))
        one.add(identity, {name: _number(cell, name) for name, cell in cells.items()})
    there = {name for columns in runs.values() for name in columns}
    metrics = [
        describe(name, naming.parse(name), LEVEL, signature=f"{BY_FILE}|{UNKNOWN}")
        for name in DEFAULT
        if name in there
    ]
    return [one.result(path.stem, metrics, "golden") for one in systems.values()]


def _number(cell: Cell, name: str) -> float | None:
    """A score, which must lie in its metric's range but for rounding (of the tool's cosines)."""
    value, metric = cell.number(cell.json()), naming.parse(name)
    low, high = metric.low, metric.high
    assert low is not None and high is not None
    if value is None or low - ROUNDING <= value <= high + ROUNDING:
        return value
    raise cell.wrong(f"{name} is {value:g}, which lies beyond {low:g} to {high:g}")
