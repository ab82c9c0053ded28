"""``trecrag.csv``: one row a query, a group of columns for each run of it.

The columns are those of Open RAG Eval's metrics page: unprefixed for a single run, ``run_1_`` ...
where queries were run several times. The values are those of the page's formulas; where its tool
computes others, docs/open-rag-eval.md names both, and `ragassay.reports.tables.ore_files` writes
the tool's. A last column says what is unscored and why; an unscored value is an empty cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ragassay.engine.results import Result
from ragassay.reports.tables import tables
from ragassay.reports.tables.ore_values import COLUMNS, SpecValues, demand, judged_rows, texts
from ragassay.reports.tables.rows_by_sample import Rows, run_numbers, with_samples
from ragassay.samples import Identity, Sample

Line = dict[str, Any]


def has_metrics(result: Result) -> bool:
    """Whether the run computed something that these files hold."""
    return bool(judged_rows(result))


def write_trecrag(result: Result, path: str | Path) -> None:
    """Writes the columns of Open RAG Eval's page. Where the run holds several systems, the column
    ``system`` comes first.

    Args:
        result: of a run.
        path: of the file to write.

    Raises:
        UsageError: the run has none of the suite's metrics, or the file cannot be written.
    """
    demand(result)
    n_runs, number = _runs(result)
    several = len({system for _, system, _ in result.columns.identities}) > 1
    prefixes = [f"run_{at}_" for at in range(1, n_runs + 1)] if n_runs > 1 else [""]
    heads = ["system"] * several + ["query_id", "query"]
    beside = ("unscored", "judge")
    heads += [f"{prefix}{column}" for prefix in prefixes for column in (*COLUMNS, *beside)]
    lines = _lines(result, SpecValues(result), lambda identity: prefixes[number[identity] - 1])
    tables.write_lines(path, heads, ([line.get(head) for head in heads] for line in lines))


def _runs(result: Result) -> tuple[int, dict[Identity, int]]:
    """How many runs of a query there are at most, and which of them each sample is."""
    numbers = run_numbers(result.columns.identities)
    return max(numbers.values(), default=1), numbers


def _lines(result: Result, values: SpecValues, prefix: Callable[[Identity], str]) -> Iterator[Line]:
    """One line a system and query, as soon as its last run was seen."""
    left = Counter((system, name) for name, system, _ in result.columns.identities)
    begun: dict[tuple[str, str], Line] = {}
    for identity, sample, rows in with_samples(result):
        name, system, _ = identity
        line = begun.setdefault((system, name), {"query_id": name, "system": system})
        if sample is not None and sample.query is not None:
            line.setdefault("query", sample.query)
        line |= {f"{prefix(identity)}{key}": cell for key, cell in _cells(sample, rows, values)}
        left[system, name] -= 1
        if not left[system, name]:
            yield begun.pop((system, name))


def _cells(sample: Sample | None, rows: Rows, values: SpecValues) -> Iterable[tuple[str, Any]]:
    """The columns of one run of a query that have a value."""
    of_column = {**values.of(rows), **texts(sample, values)}
    for column in COLUMNS:
        if of_column.get(column) is not None:
            yield column, values.cell(of_column[column])
    reasons = "; ".join(f"{row.metric}: {row.reason}" for row in rows.values() if row.value is None)
    yield "unscored", reasons
    yield "judge", next((row.judge for row in rows.values() if row.judge), "")
