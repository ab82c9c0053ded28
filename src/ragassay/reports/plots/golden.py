"""Result files of the golden-answer evaluator: tables with its metrics, one row a query.

Columns go by our names (``factual_correctness.f1``) or by the published ones
(``factual_correctness_f1``), whatever stands before these (``run_1_...``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ragassay import suites
from ragassay.engine.results import Result
from ragassay.engine.summarise import describe
from ragassay.errors import InputError
from ragassay.metrics import naming
from ragassay.reports.plots.tabled import BY_FILE, LEVEL, UNKNOWN, Cell, Collected, header, rows

TITLES = {
    "answer_similarity": "Semantic similarity",
    "factual_correctness.precision": "Factual precision",
    "factual_correctness.recall": "Factual recall",
    "factual_correctness.f1": "Factual F1",
}
DEFAULT = tuple(TITLES)
"""What is drawn where nobody says otherwise: the whole suite."""

_RUN = re.compile(r"(?:run_(\d+)_)?(.+)")


def columns_of(heads: Iterable[str]) -> dict[int, dict[str, str]]:
    """For each run (1 where the file has no prefix), our metric names and the file's columns."""
    names = {name: name for name in DEFAULT} | dict(suites.get("golden").aliases)
    found: dict[int, dict[str, str]] = {}
    for head in heads:
        match = _RUN.fullmatch(head)
        assert match is not None  # any text has that form
        for said, name in names.items():
            if match[2] in (said, f"{said}_score") or match[2].endswith(f"_{said}"):
                found.setdefault(int(match[1] or 1), {})[name] = head
    return dict(sorted(found.items()))


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
    for line, row, query, system in rows(path):
        one = systems.setdefault(system, Collected(system))
        for run, columns in runs.items():
            cells = {name: Cell(path, line, head, row[head]) for name, head in columns.items()}
            if run == min(runs) or any(row[head] is not None for head in columns.values()):
                values = {name: cell.number(cell.json()) for name, cell in cells.items()}
                one.add((query, system, run - 1), values)
    there = {name for columns in runs.values() for name in columns}
    metrics = [
        describe(name, naming.parse(name), LEVEL, signature=f"{BY_FILE}|{UNKNOWN}")
        for name in DEFAULT
        if name in there
    ]
    return [one.result(path.stem, metrics, "golden") for one in systems.values()]
