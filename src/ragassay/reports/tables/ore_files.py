"""The files that Open RAG Eval 0.3.0 leaves of a run, as its tool writes them: the scores of its
TREC evaluator (one row a query, columns prefixed with the run), the consistency of queries with
three runs, both together without tokens, and the same as JSON for its viewer.

Every value is JSON by the tool's formulas. As in the tool, queries stand in the order
of their ids, runs without an answer are left out, and so are cut-offs beyond the list. An unscored
value is an empty cell, and null in the JSON file; the tool writes 0.5 for some."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ragassay.base import files
from ragassay.base.errors import UsageError
from ragassay.base.sample import Identity, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.folders.run_folder import ORE as FILES
from ragassay.engine.results.score_rows import Rows
from ragassay.metrics.consistency.runs_alike import RunsBertScore, RunsRougeOre
from ragassay.metrics.consistency.runs_spread import OfMetric
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.reports.tables.ore_values import (
    COLUMNS,
    GENERATION,
    NUMBERS,
    RETRIEVAL,
    TOTALS,
    RunColumns,
    demand,
)
from ragassay.reports.tables.tables import by_query, consistency_of, write_lines

TREC, CONSISTENCY, MERGED, JSON = FILES.values()

_VERSION = "0.3.0"
"""Of the tool whose form this is."""

_WITH_MEAN = COLUMNS.index("retrieval_score_mean_umbrela_score") + 1
ALL_COLUMNS = (*COLUMNS[:_WITH_MEAN], RETRIEVAL, *COLUMNS[_WITH_MEAN:], GENERATION, *TOTALS)
"""The columns of one run in the TREC evaluator's file."""

_LEAST_RUNS = 3
"""Runs of a query that the tool needs to speak of consistency."""


def _similarity(metric: Metric) -> str | None:
    """The tool's name of a metric that compares pairs of answers; ``None`` for other metrics."""
    if isinstance(metric, RunsBertScore) and metric.part == "f":
        return "bert_score"
    return "rouge_score" if isinstance(metric, RunsRougeOre) and metric.part == "f" else None


Pairs = Mapping[str, Any]
"""The parts of a similarity: ``pairs`` of repeats, and their ``values``."""


def write(result: Result, folder: Path) -> dict[str, Path]:
    """Writes the files into a folder. The consistency file of an older run is removed."""
    demand(result)
    n_systems = len(result.columns.systems)
    if n_systems > 1:
        raise UsageError(
            f"The run holds {n_systems} systems, and Open RAG Eval's files have no column for "
            "them: run each by itself, or write --format trecrag."
        )
    queries = sorted(_queries(result), key=itemgetter("query_id"))
    n_runs = max((len(query["runs"]) for query in queries), default=1)

    def heads(columns: Sequence[str]) -> list[str]:
        return [f"run_{at}_{name}" for at in range(1, n_runs + 1) for name in columns]

    names = (name for query in queries for name in query["consistency"])
    compared = [*dict.fromkeys(f"consistency_{name}" for name in names)]
    written = {what: folder / name for what, name in FILES.items()}
    _table(queries, folder / TREC, heads(ALL_COLUMNS))
    _table(queries, folder / MERGED, [*heads(COLUMNS), *compared])
    _viewer(queries, folder / JSON)
    if compared:
        with_runs = [query for query in queries if query["consistency"]]
        texts = heads(("generated_answer", "retrieved_passages"))
        _table(with_runs, folder / CONSISTENCY, [*compared, *texts])
    else:
        del written["ore (consistency)"]
        (folder / CONSISTENCY).unlink(missing_ok=True)
    return written


Query = dict[str, Any]
"""``query_id``, ``query``, ``runs`` (columns with values) and ``consistency`` (by metric)."""

Compare = Callable[[str, Mapping[int, Mapping[str, Any]]], dict[str, Any]]
"""The consistency of a query, from its id and the columns of its answered runs by ``repeat``."""


def _comparing(result: Result) -> Compare:
    """Compares the runs of each query; gives nothing where a run has no consistency."""
    inner = consistency_of(result)
    if inner is None:
        return lambda query, runs: {}
    parsed = {name: naming.parse(metric.metric) for name, metric in inner.summary.metrics.items()}
    of = dict.fromkeys(metric.of for metric in parsed.values() if isinstance(metric, OfMetric))
    columns = [NUMBERS[name] for name in of if name in NUMBERS]
    similar = {name: title for name, metric in parsed.items() if (title := _similarity(metric))}
    pairs_of: dict[str, dict[str, Pairs]] = {title: {} for title in similar.values()}
    for row in inner.scores:
        if row.metric in similar and row.value is not None:
            pairs_of[similar[row.metric]].setdefault(row.sample, row.parts)

    def compared(query: str, runs: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        values_of: dict[str, list[float]] = {}
        for column in columns:
            values = [run[column] for run in runs.values() if column in run]
            if len(values) >= _LEAST_RUNS:
                values_of[column.split("_score_", 1)[1]] = values
        for name, parts_of in pairs_of.items():
            parts = parts_of.get(query)
            both = () if parts is None else zip(parts["pairs"], parts["values"], strict=True)
            if values := [v for pair, v in both if v is not None and runs.keys() >= {*pair}]:
                values_of[name] = values
        if len(runs) < _LEAST_RUNS:
            return {}
        return {
            name: {"values": values, "stats": _stats(values)} for name, values in values_of.items()
        }

    return compared


def _stats(values: Sequence[float]) -> dict[str, float]:
    """The tool's statistics, to the last bit: summed in the order of the runs, as numpy does."""
    row = np.array(values, dtype=np.float64)
    mean, std = float(np.mean(row)), float(np.std(row))
    first, third = np.percentile(row, [25, 75])
    return {
        "mean": mean,
        "median": float(np.median(row)),
        "std": std,
        "max_min": float(row.max() - row.min()),
        "iqr": float(third - first),
        "consistency_adjusted_index": mean / (1.0 + std),
    }


def _queries(result: Result) -> Iterator[Query]:
    columns, compare = RunColumns(result, by_tool=True), _comparing(result)

    def made(
        identity: Identity, sample: Sample, rows: Rows
    ) -> tuple[int, str | None, dict[str, Any] | None]:
        """Repeat, query, and the columns of a run with an answer."""
        run = None
        if sample.answer_text.strip():
            of = {**columns.texts(sample), **columns.of(rows), **columns.tokens(rows)}
            run = {name: value for name, value in of.items() if value is not None}
        return identity[2], sample.query, run

    for name, _, samples in by_query(result, made):
        runs = {at: run for at, _, run in sorted(samples, key=itemgetter(0)) if run is not None}
        if runs:  # the tool leaves out a query whose runs all lack an answer
            yield {
                "query_id": name,
                "query": next((query for _, query, _ in samples if query), None),
                "runs": list(runs.values()),
                "consistency": compare(name, runs),
            }


def _table(queries: Sequence[Query], path: Path, heads: Sequence[str]) -> None:
    def cells(query: Query) -> list[str]:
        line = {f"consistency_{name}": value for name, value in query["consistency"].items()}
        for at, run in enumerate(query["runs"], start=1):
            line |= {f"run_{at}_{name}": value for name, value in run.items()}
        texts = [json.dumps(line[head], allow_nan=False) if head in line else "" for head in heads]
        return [query["query_id"], query["query"] or "", *texts]

    write_lines(path, ["query_id", "query", *heads], map(cells, queries), str)


def _viewer(queries: Sequence[Query], path: Path) -> None:
    with files.atomic(path) as stream:
        made = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        head = f'{{\n  "version": "{_VERSION}",\n  "generated_at": "{made}",\n  "evaluation": ['
        stream.write(head.encode())
        for at, query in enumerate(queries):
            runs = [{name: run.get(name) for name in COLUMNS} for run in query["runs"]]
            entry = {"query_id": query["query_id"], "query": query["query"], "runs": runs}
            entry["consistency"] = query["consistency"]
            stream.write(b"," * bool(at) + b"\n" + json.dumps(entry, allow_nan=False).encode())
        stream.write(b"\n  ]\n}\n")
