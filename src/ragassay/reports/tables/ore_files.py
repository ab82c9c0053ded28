"""The four files that Open RAG Eval 0.3.0 leaves of a run, as its tool writes them.

=====================================  ==========================================================
``TRECEvaluator-eval_results.csv``     one row a query, every column prefixed with its run
``ConsistencyEvaluator-eval_results.csv``  values of the runs with their statistics; only where
                                       consistency was asked for, and a query has three runs
``eval_results.csv``                   both without the columns of tokens
``eval_results.json``                  the same for its viewer
=====================================  ==========================================================

Every value is JSON, computed by the tool's formulas from the judge's answers (`OreValues`). As in
the tool, queries stand in the order of their ids, runs without an answer (``NO_ANSWER``,
``API_ERROR``) are in no file, cut-offs beyond the list are left out, and a column of consistency
without any value is not there. An unscored value is an empty cell, and null in the JSON file; the
tool writes 0.5 for some.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson

from ragassay import files, suites
from ragassay.engine.results import ORE as FILES, Result
from ragassay.errors import UsageError
from ragassay.metrics.consistency import OfMetric, RunsBertScore, RunsRougeOre
from ragassay.metrics.core import Metric, naming
from ragassay.reports.tables.consistency_values import consistency_of
from ragassay.reports.tables.ore_tokens import GENERATION, RETRIEVAL, TOTALS, tokens_of
from ragassay.reports.tables.ore_values import COLUMNS, OreValues, demand, texts
from ragassay.reports.tables.rows_by_sample import with_samples
from ragassay.reports.tables.tables import write_lines

TREC, CONSISTENCY, MERGED, JSON = FILES.values()

_VERSION = "0.3.0"
"""Of the tool whose form this is."""

ALL_COLUMNS = tuple(
    name
    for column in COLUMNS
    for name in (
        column,
        *([RETRIEVAL] if column == "retrieval_score_mean_umbrela_score" else ()),
        *([GENERATION, *TOTALS] if column == "generation_score_no_answer_score" else ()),
    )
)
"""The columns of one run in the TREC evaluator's file."""

_LOOKED_AT = {
    "mean_umbrela_score": "retrieval_score_mean_umbrela_score",
    "mean_nugget_assignment_score": "generation_score_mean_nugget_assignment_score",
    "vital_nuggetizer_score": "generation_score_vital_nuggetizer_score",
    "citation_f1_score": "generation_score_citation_f1_score",
    "hallucination_score": "generation_score_hallucination_score",
}
"""What the tool can compare over runs, and the column of a run that holds it."""

_LEAST_RUNS = 3
"""Runs of a query that the tool needs to speak of consistency."""


def _similarity(metric: Metric) -> str | None:
    """The name that the tool has for a metric that compares answers two by two."""
    if isinstance(metric, RunsBertScore) and metric.part == "f":
        return "bert_score"
    return "rouge_score" if isinstance(metric, RunsRougeOre) and metric.part == "f" else None


Pairs = Mapping[str, Any]
"""The parts of a similarity: ``pairs`` of repeats, and their ``values``."""


def write(result: Result, folder: Path) -> dict[str, Path]:
    """Writes the files into a folder. The consistency file of an older run is removed.

    Args:
        result: of a run.
        folder: where the files go.

    Returns:
        The path of each file, by its name in `FILES`.

    Raises:
        UsageError: the run has none of the suite's metrics, or holds several systems (the files
            have no column for them); or a file cannot be written.
    """
    demand(result)
    systems = {system for _, system, _ in result.columns.identities}
    if len(systems) > 1:
        raise UsageError(
            f"The run holds {len(systems)} systems, and Open RAG Eval's files have no column for "
            "them: run each by itself, or write --format trecrag."
        )
    with ExitStack() as stack:
        spool = _Spool(stack.enter_context(tempfile.TemporaryFile()))
        for query in _queries(result, _Compared.by(result)):
            spool.add(query)
        written = {what: folder / name for what, name in FILES.items()}
        _trec(spool, folder / TREC)
        _merged(spool, folder / MERGED)
        _viewer(spool, folder / JSON)
        if spool.compared:
            _consistency(spool, folder / CONSISTENCY)
        else:
            del written["ore (consistency)"]
            (folder / CONSISTENCY).unlink(missing_ok=True)
    return written


Query = dict[str, Any]
"""``query_id``, ``query``, ``runs`` (columns with values) and ``consistency`` (by metric)."""


@dataclass
class _Spool:
    """The queries on disk, given back in the order of their ids."""

    stream: IO[bytes]
    places: dict[str, int] = field(default_factory=dict)
    n_runs: int = 1
    compared: dict[str, None] = field(default_factory=dict)

    def add(self, query: Query) -> None:
        """Takes a query in; one whose runs all lack an answer is left out."""
        if not query["runs"]:
            return
        self.places[query["query_id"]] = self.stream.tell()
        self.n_runs = max(self.n_runs, len(query["runs"]))
        self.compared |= dict.fromkeys(query["consistency"])
        self.stream.write(orjson.dumps(query) + b"\n")

    def __iter__(self) -> Iterator[Query]:
        for name in sorted(self.places):
            self.stream.seek(self.places[name])
            query: Query = orjson.loads(self.stream.readline())
            yield query

    @property
    def heads(self) -> list[str]:
        """Columns of consistency, in the order in which they were asked for."""
        return [f"consistency_{name}" for name in self.compared]


@dataclass(frozen=True)
class _Compared:
    """The values that are compared over the runs of each query.

    Attributes:
        scores: names as in `_LOOKED_AT`.
        similarities: by name, then by query.
    """

    scores: Sequence[str] = ()
    similarities: Mapping[str, Mapping[str, Pairs]] = field(default_factory=dict)

    @classmethod
    def by(cls, result: Result) -> _Compared:
        """Of a run without consistency, nothing."""
        inner = consistency_of(result)
        if inner is None:
            return cls()
        parsed = {name: naming.parse(one.metric) for name, one in inner.summary.metrics.items()}
        published = {suites.get("trecrag").aliases[name]: name for name in _LOOKED_AT}
        of = dict.fromkeys(one.of for one in parsed.values() if isinstance(one, OfMetric))
        similar = {name: title for name, one in parsed.items() if (title := _similarity(one))}
        pairs_of: dict[str, dict[str, Pairs]] = {title: {} for title in similar.values()}
        for row in inner.scores:
            if row.metric in similar and row.value is not None:
                pairs_of[similar[row.metric]].setdefault(row.sample, row.parts)
        return cls([published[name] for name in of if name in published], pairs_of)

    def of(self, query: str, runs: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        """The consistency of a query.

        Args:
            query: its id.
            runs: the columns of each run that has an answer, by ``repeat``.
        """
        if len(runs) < _LEAST_RUNS:
            return {}
        values_of = {
            name: [run[column] for run in runs.values() if (column := _LOOKED_AT[name]) in run]
            for name in self.scores
        }
        values_of = {
            name: values for name, values in values_of.items() if len(values) >= _LEAST_RUNS
        }
        for name, by_query in self.similarities.items():
            parts = by_query.get(query)
            both = () if parts is None else zip(parts["pairs"], parts["values"], strict=True)
            values = [one for pair, one in both if one is not None and runs.keys() >= {*pair}]
            if values:
                values_of[name] = values
        return {
            name: {"values": values, "stats": _stats(values)} for name, values in values_of.items()
        }


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


def _queries(result: Result, compared: _Compared) -> Iterator[Query]:
    """Each query with its runs, as soon as the last of them was seen."""
    values = OreValues(result)
    left = Counter(name for name, _, _ in result.columns.identities)
    begun: dict[str, Query] = {}
    for (name, _, repeat), sample, rows in with_samples(result):
        query = begun.setdefault(name, {"query_id": name, "query": None, "runs": {}})
        if sample is not None:
            query["query"] = query["query"] or sample.query
        if sample is None or (sample.answer is not None and sample.answer.text.strip()):
            run = {**texts(sample, values), **values.of(rows), **tokens_of(rows, values, result)}
            query["runs"][repeat] = {key: cell for key, cell in run.items() if cell is not None}
        left[name] -= 1
        if not left[name]:
            query = begun.pop(name)
            runs = dict(sorted(query["runs"].items()))
            query["consistency"] = compared.of(name, runs)
            query["runs"] = list(runs.values())
            yield query


def _trec(spool: _Spool, path: Path) -> None:
    heads = _run_heads(ALL_COLUMNS, spool.n_runs)
    _table(path, heads, (_line(query, ALL_COLUMNS) for query in spool))


def _consistency(spool: _Spool, path: Path) -> None:
    told = ("generated_answer", "retrieved_passages")
    heads = [*spool.heads, *_run_heads(told, spool.n_runs)]
    compared = (query for query in spool if query["consistency"])
    _table(path, heads, (_line(query, told) | _cells(query) for query in compared))


def _merged(spool: _Spool, path: Path) -> None:
    heads = [*_run_heads(COLUMNS, spool.n_runs), *spool.heads]
    _table(path, heads, (_line(query, COLUMNS) | _cells(query) for query in spool))


def _viewer(spool: _Spool, path: Path) -> None:
    with files.atomic(path) as stream:
        made = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        head = {"version": _VERSION, "generated_at": made}
        stream.write(b"{\n")
        for key, value in head.items():
            stream.write(f"  {json.dumps(key)}: {json.dumps(value)},\n".encode())
        stream.write(b'  "evaluation": [')
        for at, query in enumerate(spool):
            runs = [{name: run.get(name) for name in COLUMNS} for run in query["runs"]]
            entry = {"query_id": query["query_id"], "query": query["query"], "runs": runs}
            entry["consistency"] = query["consistency"]
            stream.write(b"," * bool(at) + b"\n" + json.dumps(entry, allow_nan=False).encode())
        stream.write(b"\n  ]\n}\n")


def _run_heads(columns: Sequence[str], n_runs: int) -> list[str]:
    return [f"run_{at}_{column}" for at in range(1, n_runs + 1) for column in columns]


def _line(query: Query, columns: Iterable[str]) -> dict[str, str]:
    """The cells of a query's runs."""
    line = {"query_id": query["query_id"], "query": query["query"] or ""}
    for at, run in enumerate(query["runs"], start=1):
        line |= {f"run_{at}_{name}": _cell(run[name]) for name in columns if name in run}
    return line


def _cells(query: Query) -> dict[str, str]:
    return {f"consistency_{name}": _cell(one) for name, one in query["consistency"].items()}


def _cell(value: Any) -> str:
    """JSON in ASCII, as Python writes it by default."""
    return json.dumps(value, allow_nan=False)


def _table(path: Path, heads: Sequence[str], lines: Iterable[Mapping[str, str]]) -> None:
    heads = ["query_id", "query", *heads]
    write_lines(path, heads, ([line.get(head, "") for head in heads] for line in lines), str)
