"""Open RAG Eval's result files: one row a query, a group of columns for each run of it.

Two forms. `write_trecrag` has the columns of its metrics page: unprefixed for a single run,
``run_1_`` ... where queries were run several times, our values, and a last column that says what is
unscored and why. `write_ore` writes what the tool itself writes: always prefixed, every value as
JSON, cut-offs beyond the list left out, its weighted nugget scores with their defect, and its own
citation scores. In both an unscored value is an empty cell (the tool writes 0.5 for some).
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ragassay import files
from ragassay.engine.results import Result
from ragassay.errors import UsageError
from ragassay.metrics.citable import passage_keys
from ragassay.reports import tables
from ragassay.reports.ore_values import OreValues, SpecValues, Values, judged_rows
from ragassay.reports.rows import Rows, run_numbers, with_samples
from ragassay.samples import Identity, Sample

COLUMNS = (
    "retrieved_passages",
    "generated_answer",
    "retrieval_score_umbrela_scores",
    "retrieval_score_precision_metrics",
    "retrieval_score_mean_umbrela_score",
    "generation_score_autonugget_scores",
    "generation_score_mean_nugget_assignment_score",
    "generation_score_vital_nuggetizer_score",
    "generation_score_hallucination_score",
    "generation_score_citation_scores",
    "generation_score_citation_f1_score",
    "generation_score_no_answer_score",
)
"""The columns of one run of a query, in their order."""

Line = dict[str, Any]


def has_metrics(result: Result) -> bool:
    """Whether the run computed something that these files hold."""
    return bool(judged_rows(result))


def write_trecrag(result: Result, path: str | Path) -> None:
    """The form of Open RAG Eval's page. Where the run holds several systems, the column ``system``
    comes first.

    Raises:
        UsageError: the run has none of the suite's metrics, or the file cannot be written.
    """
    _demand(result)
    n_runs, number = _runs(result)
    several = len({system for _, system, _ in result.columns.identities}) > 1
    prefixes = [f"run_{at}_" for at in range(1, n_runs + 1)] if n_runs > 1 else [""]
    heads = ["system"] * several + ["query_id", "query"]
    beside = ("unscored", "judge")
    heads += [f"{prefix}{column}" for prefix in prefixes for column in (*COLUMNS, *beside)]
    lines = _lines(result, SpecValues(result), lambda identity: prefixes[number[identity] - 1])
    tables.write_lines(path, heads, ([line.get(head) for head in heads] for line in lines))


def write_ore(result: Result, path: str | Path) -> None:
    """The file that Open RAG Eval writes (``TRECEvaluator-...csv``), to the letter.

    Raises:
        UsageError: the run has none of the suite's metrics, or holds several systems (the tool's
            file has no column for them); or the file cannot be written.
    """
    _demand(result)
    systems = {system for _, system, _ in result.columns.identities}
    if len(systems) > 1:
        raise UsageError(
            f"The run holds {len(systems)} systems, and Open RAG Eval's file has no column for "
            "them: run each by itself, or write --format trecrag."
        )
    n_runs, number = _runs(result)
    heads = ["query_id", "query"]
    heads += [f"run_{at}_{column}" for at in range(1, n_runs + 1) for column in COLUMNS]
    lines = _lines(result, OreValues(result), lambda identity: f"run_{number[identity]}_")
    with files.atomic(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        writer = tables.csv_writer(text)
        writer.writerow(heads)
        for line in lines:
            writer.writerow(["" if (cell := line.get(head)) is None else cell for head in heads])
        text.detach()


def _demand(result: Result) -> None:
    if not has_metrics(result):
        raise UsageError(
            "The run has none of the metrics of 'trecrag': run it with --suite trecrag."
        )


def _runs(result: Result) -> tuple[int, dict[Identity, int]]:
    """How many runs of a query there are at most, and which of them each sample is."""
    numbers = run_numbers(result.columns.identities)
    return max(numbers.values(), default=1), numbers


def _lines(result: Result, values: Values, prefix: Callable[[Identity], str]) -> Iterator[Line]:
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


def _cells(sample: Sample | None, rows: Rows, values: Values) -> Iterable[tuple[str, Any]]:
    """The columns of one run of a query that have a value."""
    found = values.of(rows)
    passages = sample.passages if sample is not None else None
    if passages is not None:
        texts = [passage.text for passage in passages]
        named = dict(zip(passage_keys(passages), texts, strict=True))
        yield "retrieved_passages", values.as_json(named)
    if sample is not None and sample.answer is not None:
        told = values.answer(sample.answer, passages or ())
        yield "generated_answer", values.as_json(told)
    for column in COLUMNS:
        if found.get(column) is not None:
            yield column, values.cell(found[column])
    reasons = "; ".join(f"{row.metric}: {row.reason}" for row in rows.values() if row.value is None)
    yield "unscored", reasons
    yield "judge", next((row.judge for row in rows.values() if row.judge), "")
