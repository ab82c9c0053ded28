"""``consistency.csv``: the consistency of each query in the columns that Open RAG Eval writes.

``consistency_<metric>`` holds ``{"values": [...], "stats": {...}}`` as JSON: for a metric of single
runs its value in each run, for one of similarity its value for each pair of runs; null where there
is none. The statistics are Open RAG Eval's, and our variance and coefficient of variation. ROUGE
has the precision, recall and F1 of each pair besides, where they were computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragassay.engine.results import Result
from ragassay.errors import UsageError
from ragassay.metrics.citation import passage_keys
from ragassay.metrics.consistency import SCORES, RunsRouge1, RunsRouge2, RunsRougeL
from ragassay.metrics.core import naming
from ragassay.reports.tables import tables
from ragassay.reports.tables.consistency_values import SIMILARITIES, consistency_of
from ragassay.reports.tables.ore_values import SpecValues
from ragassay.reports.tables.rows_by_sample import Rows, with_samples
from ragassay.samples import Sample
from ragassay.stats import spread

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
    columns = _Columns.among(inner)
    heads = [*columns.similarities.values(), *columns.metrics.values()]
    runs = [
        f"run_{at}_{what}"
        for at in range(1, columns.n_runs + 1)
        for what in ("generated_answer", "retrieved_passages")
    ]
    system = ["system"] if columns.several else []
    head = [*system, "query_id", "query", *heads, *runs, "unscored"]
    lines = _lines(inner, columns, SpecValues(inner))
    tables.write_lines(path, head, ([line.get(name) for name in head] for line in lines))


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


@dataclass
class _Columns:
    """What a consistency holds: its columns by the names of its metrics, and how many runs."""

    similarities: dict[str, str]
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    n_runs: int = 0
    several: bool = False

    @classmethod
    def among(cls, inner: Result) -> _Columns:
        """Reads all samples, but keeps none."""
        similarities = _similarities(inner)
        parts = {name: _parts(inner, name) for name in similarities}
        columns = cls(similarities, parts)
        labels: set[str] = set()
        for sample in inner.samples:
            columns.n_runs = max(columns.n_runs, len(sample.runs), 1)
            for name, values in sample.given.get(SCORES, {}).items():
                columns.metrics.setdefault(name, PUBLISHED.get(name, f"consistency_{name}"))
                if any(isinstance(value, str) for value in values):
                    labels.add(name)
        for name in labels:
            del columns.metrics[name]
        columns.several = len({system for _, system, _ in inner.columns.identities}) > 1
        return columns


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


def _lines(inner: Result, columns: _Columns, values: SpecValues) -> Iterator[dict[str, Any]]:
    for (name, system, _), sample, rows in with_samples(inner):
        line: dict[str, Any] = {"query_id": name, "system": system}
        line |= {
            column: _similarity(rows, name, columns.parts[name], values)
            for name, column in columns.similarities.items()
        }
        reasons = (f"{row.metric}: {row.reason}" for row in rows.values() if row.value is None)
        line["unscored"] = "; ".join(reasons)
        if sample is not None:
            line |= _of_sample(sample, columns, values)
        yield line


def _similarity(rows: Rows, name: str, parts: Mapping[str, str], values: SpecValues) -> str | None:
    row = rows.get(name)
    if row is None or row.value is None:
        return None
    further = {
        title: list(other.parts["values"])
        for title, of in parts.items()
        if (other := rows.get(of)) is not None and other.value is not None
    }
    return _cell(row.parts["values"], values, pairs=True, further=further)


def _parts(inner: Result, name: str) -> dict[str, str]:
    """The names of a ROUGE's precision, recall and F by what they are called in a cell."""
    parsed = {n: naming.parse(entry.metric) for n, entry in inner.summary.metrics.items()}
    one = parsed[name]
    if not isinstance(one, RunsRouge1 | RunsRouge2 | RunsRougeL):
        return {}
    called = {"p": "precision", "r": "recall", "f": "f1"}
    return {
        called[metric.part]: other
        for other, metric in parsed.items()
        if isinstance(metric, RunsRouge1 | RunsRouge2 | RunsRougeL)
        and replace(metric, part=one.part) == one
    }


def _of_sample(sample: Sample, columns: _Columns, values: SpecValues) -> dict[str, Any]:
    """The columns of a group itself: query, scores of its runs, answers and passages."""
    line: dict[str, Any] = {"query": sample.query}
    scores = sample.given.get(SCORES, {})
    for name, column in columns.metrics.items():
        line[column] = _cell(scores.get(name, ()), values, pairs=False)
    for number, run in enumerate(sample.runs, start=1):
        prefix = f"run_{number}_"
        passages = run.passages
        if run.answer is not None:
            told = values.answer(run.answer, passages or ())
            line[f"{prefix}generated_answer"] = values.as_json(told)
        if passages is not None:
            texts = (passage.text for passage in passages)
            named = dict(zip(passage_keys(passages), texts, strict=True))
            line[f"{prefix}retrieved_passages"] = values.as_json(named)
    return line


def _cell(
    of_runs: Sequence[float | None],
    values: SpecValues,
    *,
    pairs: bool,
    further: Mapping[str, Any] | None = None,
) -> str | None:
    """Values and statistics; nothing where no value is known."""
    known = [value for value in of_runs if value is not None]
    if not known:
        return None
    told = {"values": list(of_runs), "stats": _stats(known, pairs)}
    return values.as_json(told | dict(further or {}))


def _stats(known: Sequence[float], pairs: bool) -> dict[str, float | None] | None:
    """The statistics by Open RAG Eval's names; ``None`` for one run.

    A single pair (two runs) has a mean and a median, but no spread: the spread of one value is not
    0.
    """
    if len(known) == 1:
        return dict.fromkeys(STATS) | dict.fromkeys(("mean", "median"), known[0]) if pairs else None
    try:
        statistics = spread(known)
    except ValueError:
        return None
    return {title: getattr(statistics, name) for title, name in STATS.items()}
