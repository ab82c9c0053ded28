"""``trecrag.csv``: one row a query, a group of columns for each run of it.

The columns are those of Open RAG Eval's metrics page: unprefixed for a single run, ``run_1_`` ...
where queries were run several times. The values are those of the page's formulas; where its tool
computes others, docs/open-rag-eval.md names both, and `ragassay.reports.tables.ore_files` writes
the tool's. A last column says what is unscored and why; an unscored value is an empty cell.
"""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path
from typing import Any

from ragassay.base.sample import Identity, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import Rows
from ragassay.reports.tables import tables
from ragassay.reports.tables.ore_values import COLUMNS, SpecValues, cell, demand, texts
from ragassay.reports.tables.rows_by_sample import by_query, gaps, run_numbers


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
    number = run_numbers(result.columns.identities)
    n_runs = max(number.values(), default=1)
    prefixes = [f"run_{at}_" for at in range(1, n_runs + 1)] if n_runs > 1 else [""]
    heads = ["system"] * (len(result.columns.systems) > 1) + ["query_id", "query"]
    columns = (*COLUMNS, "unscored", "judge")
    heads += [f"{prefix}{column}" for prefix in prefixes for column in columns]
    values = SpecValues(result)

    def cells(identity: Identity, sample: Sample | None, rows: Rows) -> dict[str, Any]:
        """The columns of one run of a query that have a value."""
        of_column = {**values.of(rows), **texts(sample, values)}
        line = {name: cell(of_column[name]) for name in COLUMNS if of_column.get(name) is not None}
        line["unscored"] = gaps(rows)
        line["judge"] = next((row.judge for row in rows.values() if row.judge), "")
        prefix = prefixes[number[identity] - 1]
        query = {} if sample is None or sample.query is None else {"query": sample.query}
        return query | {f"{prefix}{key}": value for key, value in line.items()}

    lines = (
        ChainMap({"query_id": name, "system": system}, *runs)
        for name, system, runs in by_query(result, cells)
    )
    tables.write_lines(path, heads, ([line.get(head) for head in heads] for line in lines))
