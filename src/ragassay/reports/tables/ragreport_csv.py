"""ML cube's report as a table: each metric's value and explanation, one line a sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import with_samples
from ragassay.reports.tables import tables
from ragassay.reports.tables.rows_by_sample import gaps

_IDENTITY = ("id", "system", "repeat", "timestamp")
_COMPONENTS = ("user_input", "context", "response")
_LAST = ("assumed", "unscored", "judge")


def metrics_of(result: Result) -> dict[str, str]:
    """The report's metrics that a result has: published name -> name in the result, in the order of
    the report. Empty where there are none."""
    names = {entry.metric.partition("(")[0]: name for name, entry in result.summary.metrics.items()}
    return {
        published: names[canonical]
        for published, canonical in suites.get("ragreport").aliases.items()
        if canonical in names
    }


def write_csv(result: Result, path: str | Path) -> None:
    """Writes one line for each sample: its identity, its three components, then ``relevance``,
    ``relevance_explanation`` and so on for each metric of the result.

    In the context each chunk begins with its number, ``[1] ...``, with blank lines between chunks:
    ``attribution`` lists these numbers.

    The last columns name the metrics that have the lowest value because a component is missing
    (``assumed``), those without a value and why (``unscored``: their cells are empty), and the
    judge (``judge``).

    Args:
        result: of a run.
        path: of the file to write.

    Raises:
        UsageError: the result has none of the report's metrics, or the file cannot be written.
    """
    names = metrics_of(result)
    if not names:
        raise UsageError(
            "The run has none of the metrics of 'ragreport': run it with --suite ragreport."
        )
    heads = [*_IDENTITY, *_COMPONENTS]
    for published in names:
        heads += [published, f"{published}_explanation"]
    tables.write_lines(path, [*heads, *_LAST], _lines(result, names))


def _lines(result: Result, names: dict[str, str]) -> Iterator[list[Any]]:
    judge = result.summary.judging.judge if result.summary.judging is not None else ""
    for identity, sample, rows in with_samples(result):
        rows_of = {published: rows[name] for published, name in names.items() if name in rows}
        cells: list[Any] = [*identity, *_components(sample)]
        for published in names:
            row = rows_of.get(published)
            cells += [None, None] if row is None else [row.value, row.explanation]
        assumed = [name for name, row in rows_of.items() if row.status == "assumed"]
        yield [*cells, ", ".join(assumed), gaps(rows_of), judge]


def _components(sample: Sample | None) -> list[Any]:
    """Timestamp, user input, context and response."""
    if sample is None:
        return [None] * (1 + len(_COMPONENTS))
    context = sample.passages and "\n\n".join(
        f"[{at}] {passage.text or ''}".rstrip()
        for at, passage in enumerate(sample.passages, start=1)
    )
    response = None if sample.answer is None else sample.answer.text
    return [sample.timestamp, sample.query, context, response]
