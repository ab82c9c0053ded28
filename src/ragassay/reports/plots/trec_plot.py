"""Result files of the TREC evaluator: our ``trecrag.csv`` and Open RAG Eval's own.

Columns go by the published names, with ``run_1_`` ... before them or without. Every run of every
query counts; where the tool itself plots, it looks at the first one only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.engine.results import MetricSummary, Result, describe
from ragassay.errors import InputError
from ragassay.formats import kind
from ragassay.metrics.core import naming
from ragassay.reports.plots.tabled import (
    BY_FILE,
    LEVEL,
    UNKNOWN,
    Cell,
    Collected,
    Columns,
    answers,
    by_run,
    header,
)
from ragassay.reports.tables import COLUMNS
from ragassay.scores import Reason

DEFAULT = ("umbrela", "nuggets.all", "nuggets.vital", "hhem", "citation.f1", "answered")
"""The metrics that are drawn by default: the columns that hold one number, and the answers."""

TITLES = {
    "umbrela": "Relevance of passages (UMBRELA)",
    "nuggets.all": "Nuggets in the answer",
    "nuggets.vital": "Vital nuggets in the answer",
    "hhem": "Factual consistency (HHEM)",
    "citation.f1": "Citations (F1)",
    "answered": "Questions answered",
}
_NUMBERS = {
    "retrieval_score_mean_umbrela_score": "umbrela",
    "generation_score_mean_nugget_assignment_score": "nuggets.all",
    "generation_score_vital_nuggetizer_score": "nuggets.vital",
    "generation_score_hallucination_score": "hhem",
    "generation_score_citation_f1_score": "citation.f1",
}
PUBLISHED = {name: column for column, name in _NUMBERS.items()} | {
    "answered": "generation_score_no_answer_score"
}
"""The column in which a metric stands by itself."""

_RANKING = "retrieval_score_precision_metrics"
_NUGGETS = "generation_score_autonugget_scores"
_CITATIONS = "generation_score_citation_scores"
_SCORED = tuple(column for column in COLUMNS if "_score_" in column)
_AT = {"precision@": "umbrela_P", "AP@": "umbrela_AP"}
_OF_PAGE = ("unscored", "judge")
"""Columns of ``trecrag.csv`` that Open RAG Eval's own files do not have."""

PAGE, TOOL = "formula=Open RAG Eval's page", "formula=Open RAG Eval itself"
"""By what formula the scores of `by_two_formulas` were computed, as their signatures have it."""

_PARTS = {"weighted_precision": "citation.precision", "weighted_recall": "citation.recall"}
_CUT_OFF = re.compile(r"(.*@)(\d+)")

Numbers = dict[str, float | None]


def columns_of(heads: Iterable[str]) -> Columns:
    """The columns of each run that has scores, by their published names."""
    known = {name: name for name in (*COLUMNS, *_OF_PAGE)}
    columns = by_run(heads, known.get)
    return {run: names for run, names in columns.items() if any(one in names for one in _SCORED)}


def read(path: Path) -> list[Result]:
    """One result a system, in order of first appearance.

    Raises:
        InputError: the file is of another kind, or a cell holds what it should not; the message has
            line and column.
    """
    runs = columns_of(header(path))
    if not runs:
        raise InputError("has no column of the TREC evaluator", path=path)
    systems: dict[str, Collected] = {}
    for identity, cells in answers(path, runs, aside=("judge",)):
        one = systems.setdefault(identity[1], Collected(identity[1]))
        one.add(identity, _numbers(cells), _reasons(cells.get("unscored")))
        if (judge := cells.get("judge")) is not None and judge.text:
            one.judges.setdefault(judge.text)
    names = _names(runs, systems.values())
    formula = _formula(runs)
    return [
        one.result(path.stem, _described(names, one, formula), "trecrag")
        for one in systems.values()
    ]


def _formula(runs: Columns) -> str:
    """Which form a file has: the tool writes every column with its run and none of ours."""
    for names in runs.values():
        for column, head in names.items():
            if column in _OF_PAGE or column == head:
                return PAGE
    return TOOL


_CITED, _ROUGE = "citation_f1_score", "rouge_score"
"""What a consistency file calls them."""


def by_two_formulas(name: str) -> bool:
    """Whether Open RAG Eval's page and the tool itself compute a metric differently."""
    return name in (_CITED, _ROUGE) or name.startswith(("citation.", "nuggets.weighted"))


def _numbers(cells: Mapping[str, Cell]) -> Numbers:
    by_metric: Numbers = {}
    for column, name in _NUMBERS.items():
        if column in cells:
            by_metric[name] = cells[column].number(cells[column].json())
    if (cell := cells.get("generation_score_no_answer_score")) is not None:
        by_metric["answered"] = _answered(cell)
    for column, numbers in ((_RANKING, _ranking), (_NUGGETS, _nuggets), (_CITATIONS, _citations)):
        if column in cells:
            for name, value in numbers(cells[column]):
                by_metric.setdefault(name, value)
    for name, value in by_metric.items():
        top = 3 if name == "umbrela" else 1
        if value is not None and not 0 <= value <= top:
            cell = cells.get(PUBLISHED.get(name, "")) or cells[_column(name)]
            raise cell.wrong(f"{name} is {value:g}, which lies beyond 0 to {top}")
    return by_metric


def _reasons(cell: Cell | None) -> dict[str, Reason]:
    """Why metrics are unscored, by the column in which we say it: ``hhem: needs_extra; ...``."""
    pairs = (one.rpartition(": ") for one in ((cell and cell.text) or "").split("; "))
    return {name: Reason(reason) for name, _, reason in pairs if reason in set(Reason)}


def _column(name: str) -> str:
    """The column with the object in which a number stands."""
    if name.startswith("nuggets."):
        return _NUGGETS
    return _CITATIONS if name.startswith("citation.") else _RANKING


def _answered(cell: Cell) -> float | None:
    answered = cell.object().get("query_answered")
    if answered is None:
        return None
    if str(answered).casefold() not in ("yes", "no"):
        raise cell.wrong(f"'query_answered' is {kind(answered)}, and neither yes nor no")
    return float(str(answered).casefold() == "yes")


def _ranking(cell: Cell) -> Iterator[tuple[str, float | None]]:
    body = cell.object()
    for key, name in _AT.items():
        for k, value in _inner(cell, body, key).items():
            if k.isdecimal():
                yield f"{name}@{int(k)}", cell.number(value, f"{key}{k}")
    if "MRR" in body:
        yield "umbrela_MRR", cell.number(body["MRR"], "MRR")


def _nuggets(cell: Cell) -> Iterator[tuple[str, float | None]]:
    for title, value in _inner(cell, cell.object(), "nuggetizer_scores").items():
        part = title.casefold().replace(" ", "_")
        if belongs(f"nuggets.{part}"):
            yield f"nuggets.{part}", cell.number(value, title)


def _citations(cell: Cell) -> Iterator[tuple[str, float | None]]:
    body = cell.object()
    for key, name in _PARTS.items():
        if key in body:
            yield name, cell.number(body[key], key)


def _inner(cell: Cell, body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise cell.wrong(f"{key!r} is {kind(value)}, where an object should stand")
    return value


def belongs(name: str) -> bool:
    """Whether a metric of that name, at whatever cut-off, belongs to the suite."""
    match = _CUT_OFF.fullmatch(name)
    own = suites.get("trecrag").metrics
    return name in own or (match is not None and f"{match[1]}1" in own)


def _names(runs: Mapping[int, Mapping[str, str]], systems: Iterable[Collected]) -> list[str]:
    """Every metric of the file: in the suite's order, then others."""
    present = {name for names in runs.values() for c, name in _NUMBERS.items() if c in names}
    if any("generation_score_no_answer_score" in names for names in runs.values()):
        present.add("answered")
    present |= {name for one in systems for values in one.values for name in values}
    order = {name: at for at, name in enumerate(suites.get("trecrag").metrics)}

    def place(name: str) -> tuple[int, str, int]:
        match = _CUT_OFF.fullmatch(name)
        base, k = (match[1], int(match[2])) if match else (name, 0)
        return order.get(f"{base}1" if match else name, len(order)), base, k

    return sorted(present, key=place)


def _described(names: Sequence[str], one: Collected, formula: str) -> list[MetricSummary]:
    judge = ", ".join(sorted(one.judges))
    summaries = []
    for name in names:
        metric = naming.parse(name)
        by = judge if metric.kind == "judge" else ""
        signature = [BY_FILE]
        if metric.kind == "judge":
            signature.append(f"judge={judge}" if judge else UNKNOWN)
        if by_two_formulas(name):
            signature.append(formula)
        summaries.append(describe(name, metric, LEVEL, signature="|".join(signature), judge=by))
    return summaries
