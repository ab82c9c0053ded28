"""The tables of published suites, as they stream. A last column says what is unscored and why."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.sample import Identity, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import Rows, with_samples
from ragassay.metrics.consistency.runs_alike import RunsRouge1, RunsRouge2, RunsRougeL
from ragassay.metrics.consistency.runs_spread import SCORES
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.reports.tables.ore_values import COLUMNS, NUMBERS, RunColumns, cell, demand
from ragassay.reports.tables.tables import by_query, consistency_of, gaps, run_numbers, write_lines
from ragassay.reports.views.consistency_view import SIMILARITIES
from ragassay.stats.repeats import spread

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
    **{name: f"consistency_{column.split('_score_', 1)[1]}" for name, column in NUMBERS.items()},
}
"""Open RAG Eval's columns by metric; others are ``consistency_METRIC``."""

_IDENTITY = ("id", "system", "repeat", "timestamp")
_COMPONENTS = ("user_input", "context", "response")
_LAST = ("assumed", "unscored", "judge")


def metrics_of(result: Result) -> dict[str, str]:
    """The report's metrics that a result has: published name -> name in the result."""
    names = {entry.metric.partition("(")[0]: name for name, entry in result.summary.metrics.items()}
    return {
        published: names[canonical]
        for published, canonical in suites.get("ragreport").aliases.items()
        if canonical in names
    }


def write_ragreport(result: Result, path: str | Path) -> None:
    """Writes a line for each sample: identity, components (chunks begin with the number that
    ``attribution`` lists), each metric with its explanation, which have the lowest value because a
    component is missing (``assumed``), which have none and why (``unscored``), and the judge."""
    names = metrics_of(result)
    if not names:
        raise UsageError(
            "The run has none of the metrics of 'ragreport': run it with --suite ragreport."
        )
    heads = [*_IDENTITY, *_COMPONENTS]
    for published in names:
        heads += [published, f"{published}_explanation"]
    judge = result.summary.judging.judge if result.summary.judging is not None else ""

    def line(identity: Identity, sample: Sample, every: Rows) -> list[Any]:
        rows = {published: every[name] for published, name in names.items()}
        said = [cell for row in rows.values() for cell in (row.value, row.explanation)]
        assumed = [name for name, row in rows.items() if row.status == "assumed"]
        return [*identity, *components(sample), *said, ", ".join(assumed), gaps(rows), judge]

    write_lines(path, [*heads, *_LAST], (line(*of) for of in with_samples(result)))


def components(sample: Sample, between: str = "\n\n") -> list[Any]:
    """Timestamp, user input, context (numbered chunks) and response."""
    context = sample.passages and between.join(
        f"[{at}] {passage.text or ''}".rstrip()
        for at, passage in enumerate(sample.passages, start=1)
    )
    response = None if sample.answer is None else sample.answer.text
    return [sample.timestamp, sample.query, context, response]


def write_trecrag(result: Result, path: str | Path) -> None:
    """Writes a row a query, with the columns of Open RAG Eval's page (by its formulas) for each
    run, prefixed by ``run_1_`` ... where there are several; ``system`` is first where several."""
    demand(result)
    number = run_numbers(result.columns.identities)
    n_runs = max(number.values(), default=1)
    prefixes = [f"run_{at}_" for at in range(1, n_runs + 1)] if n_runs > 1 else [""]
    heads = ["system"] * (len(result.columns.systems) > 1) + ["query_id", "query"]
    columns = (*COLUMNS, "unscored", "judge")
    heads += [f"{prefix}{column}" for prefix in prefixes for column in columns]
    values = RunColumns(result)

    def cells(identity: Identity, sample: Sample, rows: Rows) -> dict[str, Any]:
        """The columns of one run of a query that have a value."""
        of_column = {**values.of(rows), **values.texts(sample)}
        line = {name: cell(of_column[name]) for name in COLUMNS if of_column.get(name) is not None}
        line["unscored"] = gaps(rows)
        line["judge"] = next((row.judge for row in rows.values() if row.judge), "")
        prefix = prefixes[number[identity] - 1]
        query = {} if sample.query is None else {"query": sample.query}
        return query | {f"{prefix}{key}": value for key, value in line.items()}

    lines = (
        ChainMap({"query_id": name, "system": system}, *runs)
        for name, system, runs in by_query(result, cells)
    )
    write_lines(path, heads, ([line.get(head) for head in heads] for line in lines))


def write_consistency(result: Result, path: str | Path) -> None:
    """Writes a row a query and system. ``consistency_METRIC`` holds ``{"values": [...], "stats":
    {...}}``: the metric's value in each run, or of each pair of runs; ROUGE has the precision,
    recall and F1 of each pair, too."""
    inner = consistency_of(result)
    if inner is None:
        raise UsageError("The run has no consistency: run it with --suite consistency.")
    parsed = {name: naming.parse(entry.metric) for name, entry in inner.summary.metrics.items()}
    similarities, (metrics, n_runs) = _similarities(parsed), _of_runs(inner)
    parts = {name: _rouge_parts(parsed, name) for name in similarities}
    runs = [
        f"run_{at}_{what}"
        for at in range(1, n_runs + 1)
        for what in ("generated_answer", "retrieved_passages")
    ]
    head = ["query_id", "query", *similarities.values(), *metrics.values(), *runs, "unscored"]
    if len(inner.columns.systems) > 1:
        head.insert(0, "system")
    values = RunColumns(inner)

    def line(identity: Identity, sample: Sample, rows: Rows) -> dict[str, Any]:
        cells: dict[str, Any] = {"query_id": identity[0], "system": identity[1]}
        scored = {name: row for name, row in rows.items() if row.value is not None}
        for name, column in similarities.items():
            if name in scored:
                further = {
                    title: list(scored[of].parts["values"])
                    for title, of in parts[name].items()
                    if of in scored
                }
                cells[column] = _cell(scored[name].parts["values"], further)
        cells |= {"unscored": gaps(rows), "query": sample.query}
        scores = sample.given.get(SCORES, {})
        cells |= {column: _cell(scores.get(name, ())) for name, column in metrics.items()}
        for at, run in enumerate(sample.runs, start=1):
            cells |= {f"run_{at}_{key}": cell(value) for key, value in values.texts(run).items()}
        return cells

    lines = (line(*with_sample) for with_sample in with_samples(inner))
    write_lines(path, head, ([cells.get(name) for name in head] for cells in lines))


def signatures(inner: Result) -> dict[str, str]:
    """By column, the text that two runs must share for the column to be comparable."""
    metrics = inner.summary.metrics
    parsed = {name: naming.parse(entry.metric) for name, entry in metrics.items()}
    by_column = {column: metrics[name].signature for name, column in _similarities(parsed).items()}
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


def _similarities(parsed: Mapping[str, Metric]) -> dict[str, str]:
    """Column by metric; of metrics that differ in a parameter only, the first."""
    columns: dict[str, str] = {}
    for kind, (_, column) in SIMILARITIES.items():
        names = (
            name
            for name, metric in parsed.items()
            if column and isinstance(metric, kind) and getattr(metric, "part", "f") == "f"
        )
        if (name := next(names, None)) is not None:
            columns[name] = column
    return columns


def _rouge_parts(parsed: Mapping[str, Metric], name: str) -> dict[str, str]:
    """The metrics of a ROUGE's precision, recall and F, by their names in a cell."""
    rouges, item = (RunsRouge1, RunsRouge2, RunsRougeL), parsed[name]
    if not isinstance(item, rouges):
        return {}
    titles = {"p": "precision", "r": "recall", "f": "f1"}
    return {
        titles[metric.part]: other
        for other, metric in parsed.items()
        if isinstance(metric, rouges) and replace(metric, part=item.part) == item
    }


def _cell(of_runs: Sequence[float | None], of_pairs: Mapping[str, Any] | None = None) -> str | None:
    """Values, statistics and further entries (of pairs of runs) as JSON; ``None`` without any."""
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
