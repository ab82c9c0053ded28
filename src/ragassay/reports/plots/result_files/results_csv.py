"""Reads evaluators' tables (CSV) into results, as if the runs were in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.base.errors import InputError
from ragassay.base.sample import Identity
from ragassay.base.score import Reason, Score, Unscored
from ragassay.engine.results import Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summarising import IntervalOptions, averaged_over, summarise
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.formats.sources import delimited, opening
from ragassay.formats.sources.delimited import Row
from ragassay.reports.plots.result_files.evaluator_tables import (
    BY_FILE,
    LEVEL,
    OF_PAGE,
    PAGE,
    RUN_COLUMN,
    TOOL,
    UNKNOWN,
    Columns,
    Tables,
    by_two_formulas,
)
from ragassay.reports.plots.result_files.results_cell import Cell
from ragassay.reports.tables.ore_values import COLUMNS

ROUNDING = 1e-6
"""How far a cosine or a BERTScore of equal texts may lie beyond its range."""

Scored = tuple[Identity, Mapping[str, float | None], Mapping[str, Reason]]
"""A run of a query: its values by metric, and why others are missing."""


def read(path: Path, tables: Tables, signatures: Mapping[str, str] | None = None) -> list[Result]:
    """Reads the scores in a table, with means and intervals that the engine computes as for a run.

    Args:
        path: of a results file.
        tables: the evaluator that wrote it.
        signatures: how the values were computed, by column, where a run folder says it.

    Returns:
        One result a system, in order of first appearance.

    Raises:
        InputError: the file is of another kind, or a cell holds what it should not; the message has
            line and column.
    """
    heads = header(path)
    columns = tables.columns_of(heads)
    if not columns:
        raise InputError(f"has no column of the {tables.evaluator} evaluator", path=path)
    metrics: dict[str, MetricSummary] = {}
    for names in columns.values():
        _values(tables, {name: Cell(path, 1, head, None) for name, head in names.items()}, metrics)
    runs: dict[str, list[Scored]] = {}
    judges: dict[str, set[str]] = {}
    for identity, cells in _answers(path, columns):
        missing = _reasons(cells.get("unscored"))
        scored = (identity, _values(tables, cells, metrics), missing)
        runs.setdefault(identity[1], []).append(scored)
        if (cell := cells.get("judge")) is not None and cell.text:
            judges.setdefault(identity[1], set()).add(cell.text)
    without_run = {match[2] for match in filter(None, map(RUN_COLUMN.fullmatch, heads))}
    formula = PAGE if without_run & {*OF_PAGE} or {*heads} & {*COLUMNS} else TOOL
    signed = {name: (signatures or {}).get(columns[min(columns)].get(name, "")) for name in metrics}
    results = []
    for system, scores in runs.items():
        judge = ", ".join(sorted(judges.get(system, ())))
        described = []
        for name in sorted(metrics, key=tables.rank):
            by = [f"judge={judge}" if judge else UNKNOWN] if tables.judged(name) else []
            by_columns = "|".join([BY_FILE, *by, *([formula] if by_two_formulas(name) else [])])
            signature = signed[name] or by_columns
            described.append(replace(metrics[name], signature=signature, judge=judge if by else ""))
        results.append(_result(path.stem, tables.suite, system, scores, described))
    return results


def _values(
    tables: Tables, cells: Mapping[str, Cell], metrics: dict[str, MetricSummary]
) -> dict[str, float | None]:
    """The scores of a run, each within the range of its metric but for rounding; describes metrics
    that are new."""
    values: dict[str, float | None] = {}
    for column, cell in cells.items():
        for name, value in () if column in tables.fact_columns else tables.values(column, cell):
            if name not in metrics:
                metrics[name] = tables.described(name)
            low, high = metrics[name].bounds
            if value is not None and low is not None and value < low - ROUNDING:
                raise cell.error(
                    f"{tables.value_name(name)} is {value:g}, which lies below {low:g}"
                )
            if value is not None and high is not None and value > high + ROUNDING:
                raise cell.error(
                    f"{tables.value_name(name)} is {value:g}, which lies above {high:g}"
                )
            values.setdefault(name, value)
    return values


def _reasons(cell: Cell | None) -> dict[str, Reason]:
    """Why metrics are unscored, by the column in which we say it: ``hhem: needs_extra; ...``."""
    pairs = (one.rpartition(": ") for one in ((cell and cell.text) or "").split("; "))
    return {name: Reason(reason) for name, _, reason in pairs if reason in set(Reason)}


def _result(
    title: str,
    suite: str,
    system: str,
    runs: Sequence[Scored],
    metrics: Sequence[MetricSummary],
) -> Result:
    columns = ScoreColumns(metric.name for metric in metrics)
    for identity, values, reasons in runs:
        columns.identities.append(identity)
        for name in columns.metrics:
            if (value := values.get(name)) is not None:
                columns.add(name, Score(value))
            else:
                columns.add(name, Unscored(reasons.get(name, Reason.MISSING_INPUT), ""))
    summary = Summary(
        title=title,
        suite=suite,
        system=system,
        n_samples=len(columns),
        n_queries=columns.n_queries,
        averaged_over=averaged_over(columns, None),
        metrics=summarise(columns, metrics, IntervalOptions("auto", LEVEL)),
    )
    return Result(summary, columns, {}, None, lambda: iter(()), lambda: iter(()))


def header(path: Path) -> tuple[str, ...]:
    """The names of a table's columns.

    Raises:
        InputError: the file is missing, empty, a folder or no text.
    """
    with opening.opened(path):
        pass  # says what is wrong with a file that cannot be read at all
    heads = tuple(name.strip() for name in delimited.header(path))
    if not any(heads):
        raise InputError("there is no header", path=path, hint="The first line names the columns.")
    return heads


def _rows(path: Path) -> Iterator[tuple[int, Row, str, str]]:
    """The rows of a results file: line, cells, query id and system (empty where there is no such
    column).

    Raises:
        InputError: there is no row, one is damaged, has no query id, or has that of another.
    """
    seen: dict[tuple[str, str], int] = {}
    for line, row in delimited.rows(path):
        query, system = row.get("query_id"), row.get("system") or ""
        if query is None:
            raise InputError("the query has no id", path=path, line=line, field="query_id")
        if (query, system) in seen:
            raise InputError(
                f"the query {query!r} stands in line {seen[query, system]} as well",
                path=path,
                line=line,
                field="query_id",
                hint="The file should hold one row a query.",
            )
        seen[query, system] = line
        yield line, row, query, system
    if not seen:
        raise InputError(
            "the file has a header and no row",
            path=path,
            line=1,
            hint="Name a file with results, one row a query.",
        )


def _answers(path: Path, columns: Columns) -> Iterator[tuple[Identity, dict[str, Cell]]]:
    """The cells of each run of each query, by our names.

    A run without any cell but that of its judge is left out, because a query may have fewer runs
    than others. A query without any such run has its first run, with no cells.
    """
    for line, row, query, system in _rows(path):
        filled = {
            run: heads
            for run, heads in columns.items()
            if any(row[head] is not None for name, head in heads.items() if name != "judge")
        }
        for run, heads in (filled or {min(columns): {}}).items():
            cells = {name: Cell(path, line, head, row[head]) for name, head in heads.items()}
            yield (query, system, run - 1), cells
