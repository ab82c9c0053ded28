"""Result files of the TREC evaluator: our ``trecrag.csv`` and Open RAG Eval's own.

Columns go by the published names, with ``run_1_`` ... before them or without. Every run of every
query counts; where the tool itself plots, it looks at the first one only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from ragassay import suites
from ragassay.formats import kind
from ragassay.reports.plots.result_files.evaluator_tables import OF_PAGE, Tables
from ragassay.reports.plots.result_files.results_cell import Cell
from ragassay.reports.tables.ore_values import COLUMNS, NUMBERS

_NUMBERS = {column: name for name, column in NUMBERS.items()} | {
    "generation_score_no_answer_score": "answered"
}
"""The columns that hold one metric alone."""

_OBJECTS = {
    "retrieval_score_precision_metrics": {
        "precision@": "umbrela_P@",
        "AP@": "umbrela_AP@",
        "MRR": "umbrela_MRR",
    },
    "generation_score_autonugget_scores": {"nuggetizer_scores": "nuggets."},
    "generation_score_citation_scores": {
        "weighted_precision": "citation.precision",
        "weighted_recall": "citation.recall",
    },
}
"""The metrics in the JSON objects of a column, by key; the keys of an inner object complete their
names."""

_CUT_OFF = re.compile(r"(.*@)(\d+)")


class TrecTables(Tables):
    """The TREC evaluator."""

    evaluator = "TREC"
    suite = "trecrag"
    default = tuple(_NUMBERS.values())
    fact_columns = (*(column for column in COLUMNS if "_score_" not in column), *OF_PAGE)

    def column_name(self, column: str) -> str | None:
        """The metric of a column that holds one, else the column's own name."""
        return _NUMBERS.get(column, column if column in COLUMNS else None)

    def rank(self, name: str) -> tuple[int, str, int]:
        """In the suite's order, one cut-off like another; objects come last."""
        match = _CUT_OFF.fullmatch(name)
        if match is None:
            return super().rank(name)[0], name, 0
        return super().rank(f"{match[1]}1")[0], match[1], int(match[2])

    def values(self, name: str, cell: Cell) -> Iterator[tuple[str, float | None]]:
        """One number, or those of an object."""
        if name == "answered":
            yield name, _answered(cell)
        elif name in self.default:
            yield name, cell.number(cell.content)
        else:
            body = cell.object()
            for key, metric in _OBJECTS.get(name, {}).items():
                if metric.endswith(("@", ".")):
                    for tail, value in cell.object(key).items():
                        inner = f"{metric}{tail.casefold().replace(' ', '_')}"
                        if belongs(inner):
                            yield inner, cell.number(value, f"{key}{tail}")
                elif key in body:
                    yield metric, cell.number(body[key], key)

    def all_foreign(self, metrics: Iterable[str]) -> bool:
        """Whether none of them belongs to the suite."""
        return not any(map(belongs, metrics))

    def title(self, metrics: Sequence[str]) -> str:
        """The title, by whether all metrics belong to the suite."""
        return "TREC RAG scores" if all(map(belongs, metrics)) else "Scores"


def _answered(cell: Cell) -> float | None:
    answered = cell.object().get("query_answered")
    if answered is None:
        return None
    if str(answered).casefold() not in ("yes", "no"):
        raise cell.error(f"'query_answered' is {kind(answered)}, and neither yes nor no")
    return float(str(answered).casefold() == "yes")


@cache
def belongs(name: str) -> bool:
    """Whether a metric of that name, at whatever cut-off, belongs to the suite."""
    own = suites.get("trecrag").metrics
    return name in own or _CUT_OFF.sub(r"\g<1>1", name) in own
