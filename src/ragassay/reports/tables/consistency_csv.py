"""``consistency.csv``: the consistency of each query in the columns that Open RAG Eval writes.

``consistency_<metric>`` holds ``{"values": [...], "stats": {...}}`` as JSON: for a metric of single
runs its value in each run, for one of similarity its value for each pair of runs; null where there
is none. The statistics are Open RAG Eval's, and our variance and coefficient of variation. ROUGE
has the precision, recall and F1 of each pair besides, where they were computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.sample import Identity, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import Rows, with_samples
from ragassay.metrics.consistency.runs import SCORES
from ragassay.metrics.consistency.runs_alike import RunsRouge1, RunsRouge2, RunsRougeL
from ragassay.metrics.core import naming
from ragassay.reports.tables import tables
from ragassay.reports.tables.ore_values import SpecValues, cell, texts
from ragassay.reports.tables.rows_by_sample import consistency_of, gaps
from ragassay.reports.views.consistency_view import SIMILARITIES
from ragassay.stats.dispersion import spread

STATS: Mapping[str, str] = {
    "mean": "mean",
    "median": "median",
    "std": "std",
    "max_min": "range",
    "iqr": "iqr",
    "consistency_adjusted_index": "cai",
    "variance": "variance",
    "coefficient_of_variation": "cv",
}
"""Fields of `Spread` by the names that Open RAG Eval has for them, and ours."""

PUBLISHED: Mapping[str, str] = {
    "runs_bertscore.f": "consistency_bert_score",
    "runs_rougeL.f": "consistency_rouge_score",
    "umbrela": "consistency_mean_umbrela_score",
    "nuggets.all": "consistency_mean_nugget_assignment_score",
    "nuggets.vital": "consistency_vital_nuggetizer_score",
    "hhem": "consistency_hallucination_score",
    "citation.f1": "consistency_citation_f1_score",
}
"""Open RAG Eval's columns by metric; others are ``consistency_METRIC``."""


def write_csv(result: Result, path: str | Path) -> None:
    """Writes one line for each query and system. Where there are several systems, the column
    ``system`` comes first.

    Args:
        result: of a run.
        path: of the file to write.

    Raises:
        UsageError: the run has no consistency, or the file cannot be written.
    """
    inner = consistency_of(result)
    if inner is None:
        raise UsageError("The run has no consistency: run it with --suite consistency.")
    similarities, (metrics, n_runs) = _similarities(inner), _of_runs(inner)
    parts = {name: _parts(inner, name) for name in similarities}
    runs = [
        f"run_{at}_{what}"
        for at in range(1, n_runs + 1)
        for what in ("generated_answer", "retrieved_passages")
    ]
    columns = [*similarities.values(), *metrics.values()]
    head = ["query_id", "query", *columns, *runs, "unscored"]
    if len(inner.columns.systems) > 1:
        head.insert(0, "system")
    values = SpecValues(inner)

    def line(identity: Identity, sample: Sample | None, rows: Rows) -> dict[str, Any]:
        cells: dict[str, Any] = {"query_id": identity[0], "system": identity[1]}
        for name, column in similarities.items():
            cells[column] = _similarity(rows, name, parts[name])
        cells["unscored"] = gaps(rows)
        if sample is not None:
            cells["query"] = sample.query
            scores = sample.given.get(SCORES, {})
            cells |= {column: _cell(scores.get(name, ())) for name, column in metrics.items()}
            for at, run in enumerate(sample.runs, start=1):
                run_texts = texts(run, values).items()
                cells |= {f"run_{at}_{key}": cell(value) for key, value in run_texts}
        return cells

    lines = (line(*one) for one in with_samples(inner))
    tables.write_lines(path, head, ([cells.get(name) for name in head] for cells in lines))


def signatures(inner: Result) -> dict[str, str]:
    """By column, the text that two runs must share for the column to be comparable.

    Args:
        inner: the consistency of a run.
    """
    metrics = inner.summary.metrics
    by_column = {column: metrics[name].signature for name, column in _similarities(inner).items()}
    for metric in metrics.values():
        of = metric.signature.partition("|of=")[2]
        if metric.group and of:
            by_column.setdefault(PUBLISHED.get(metric.group, f"consistency_{metric.group}"), of)
    return by_column


def _of_runs(inner: Result) -> tuple[dict[str, str], int]:
    """The columns of metrics of single runs, by metric (labels have none), and how many runs a
    query has at most. Reads all samples, but keeps none."""
    columns: dict[str, str] = {}
    labels: set[str] = set()
    n_runs = 0
    for sample in inner.samples:
        n_runs = max(n_runs, len(sample.runs), 1)
        for name, values in sample.given.get(SCORES, {}).items():
            columns.setdefault(name, PUBLISHED.get(name, f"consistency_{name}"))
            if any(isinstance(value, str) for value in values):
                labels.add(name)
    return {name: column for name, column in columns.items() if name not in labels}, n_runs


def _similarities(inner: Result) -> dict[str, str]:
    """Column by metric; of metrics that differ in a parameter only, the first."""
    columns: dict[str, str] = {}
    parsed = {name: naming.parse(entry.metric) for name, entry in inner.summary.metrics.items()}
    for kind, (_, column) in SIMILARITIES.items():
        for name, metric in parsed.items():
            if column and isinstance(metric, kind) and getattr(metric, "part", "f") == "f":
                columns[name] = column
                break
    return columns


def _similarity(rows: Rows, name: str, parts: Mapping[str, str]) -> str | None:
    row = rows.get(name)
    if row is None or row.value is None:
        return None
    further = {
        title: list(other.parts["values"])
        for title, of in parts.items()
        if (other := rows.get(of)) is not None and other.value is not None
    }
    return _cell(row.parts["values"], further)


def _parts(inner: Result, name: str) -> dict[str, str]:
    """The metrics of a ROUGE's precision, recall and F, by their names in a cell."""
    parsed = {n: naming.parse(entry.metric) for n, entry in inner.summary.metrics.items()}
    one = parsed[name]
    if not isinstance(one, RunsRouge1 | RunsRouge2 | RunsRougeL):
        return {}
    titles = {"p": "precision", "r": "recall", "f": "f1"}
    return {
        titles[metric.part]: other
        for other, metric in parsed.items()
        if isinstance(metric, RunsRouge1 | RunsRouge2 | RunsRougeL)
        and replace(metric, part=one.part) == one
    }


def _cell(of_runs: Sequence[float | None], of_pairs: Mapping[str, Any] | None = None) -> str | None:
    """Values and statistics as JSON; ``None`` where there is no value.

    Args:
        of_runs: the values of single runs, or of pairs of runs.
        of_pairs: further entries about pairs of runs; ``None`` for values of single runs.
    """
    values = [value for value in of_runs if value is not None]
    if not values:
        return None
    stats: dict[str, float | None] | None = None
    if len(values) > 1:
        with suppress(ValueError):
            statistics = spread(values)
            stats = {title: getattr(statistics, name) for title, name in STATS.items()}
    elif of_pairs is not None:
        # Two runs make a single pair, and the spread of one value is not 0.
        stats = dict.fromkeys(STATS) | dict.fromkeys(("mean", "median"), values[0])
    shown: str = cell({"values": list(of_runs), "stats": stats, **(of_pairs or {})})
    return shown
