"""What each evaluator's tables have in common: columns, metrics, and the words of pictures."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragassay import suites
from ragassay.engine.results.summarising import describe
from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.core import naming
from ragassay.reports.plots.result_files.results_cell import Cell

LEVEL = 0.95
"""Level of the intervals of files that come without any."""

BY_FILE = "known from a CSV only"
"""What the signature of a metric begins with whose file does not say how it was computed."""

UNKNOWN = "judge=unknown"
"""What the signature of a judged metric has where the file names no judge."""

PAGE, TOOL = "formula=Open RAG Eval's page", "formula=Open RAG Eval itself"
"""By what formula the scores of `by_two_formulas` were computed, as their signatures have it."""

OF_PAGE = ("unscored", "judge")
"""Columns of ours that Open RAG Eval's own files do not have."""

TITLES = {
    "umbrela": "Relevance of passages (UMBRELA)",
    "nuggets.all": "Nuggets in the answer",
    "nuggets.vital": "Vital nuggets in the answer",
    "hhem": "Factual consistency (HHEM)",
    "citation.f1": "Citations (F1)",
    "answered": "Questions answered",
    "answer_similarity": "Semantic similarity",
    "factual_correctness.precision": "Factual precision",
    "factual_correctness.recall": "Factual recall",
    "factual_correctness.f1": "Factual F1",
}
"""What pictures call the metrics of a run."""

RUN_COLUMN = re.compile(r"(?:run_(\d+)_)?(.+)", re.S)
"""A column's name: the number of the run (where there is one), and the name without it."""

_PREFIX = re.compile("(consistency_)?(retrieval_score_)?(generation_score_)?")
_INNER = ("all", "all_strict", "vital_strict", "weighted", "weighted_strict")
_FLAG = ("no_answer", "no_answer_score", "generation_score_no_answer_score")

Columns = Mapping[int, Mapping[str, str]]
"""For each run of a query, counted from 1 (1 where a file does not tell runs apart): our name of
each column, and the file's."""


def plain(name: str) -> str:
    """A metric's name without the evaluators' prefixes; titles are listed by it."""
    return _PREFIX.sub("", name, count=1)


def by_two_formulas(name: str) -> bool:
    """Whether Open RAG Eval's page and the tool itself compute a metric differently."""
    return plain(name).startswith(
        ("citation.", "nuggets.weighted", "citation_f1_score", "rouge_score")
    )


@dataclass(frozen=True)
class Tables(ABC):
    """One evaluator: the columns of its tables, what their cells hold, and what pictures call it.

    Attributes:
        evaluator: its name in messages.
        suite: of the same metrics.
        default: the metrics that are drawn by default.
        fact_columns: columns that say something of a run, and are no scores.
        titles: of metrics, by their names without prefixes.
        share: the metric that is drawn as a share of answers.
        query_note: what a picture says of each query.
    """

    evaluator: ClassVar[str]
    suite: ClassVar[str]
    default: ClassVar[tuple[str, ...]]
    fact_columns: ClassVar[tuple[str, ...]] = ()
    titles: ClassVar[Mapping[str, str]] = TITLES
    share: ClassVar[str] = "answered"
    query_note: ClassVar[str] = ""

    @abstractmethod
    def column_name(self, column: str) -> str | None:
        """Our name of a column (without the run's number); ``None`` where it is of another
        kind."""

    @abstractmethod
    def values(self, name: str, cell: Cell) -> Iterable[tuple[str, float | None]]:
        """The metrics in a cell of a column.

        Args:
            name: of the column, as `column_name` has it.
            cell: that is read; of an empty one, the metrics that the column may hold.

        Raises:
            InputError: the cell does not hold what it should.
        """

    @abstractmethod
    def title(self, metrics: Sequence[str]) -> str:
        """What the numbers of a picture are."""

    def direction_note(self) -> str:
        """A sentence on which direction is better; empty where none is needed."""
        return ""

    def rank(self, name: str) -> tuple[int, str, int]:
        """The place of a column or metric among the others."""
        order = suites.get(self.suite).metrics
        return order.index(name) if name in order else len(order), "", 0

    def described(self, name: str) -> MetricSummary:
        """A metric without numbers."""
        return describe(name, naming.parse(name), LEVEL)

    def judged(self, name: str) -> bool:
        """Whether a metric takes a judge, who should be named."""
        return naming.parse(name).kind == "judge"

    def value_name(self, name: str) -> str:
        """What an error calls a value of a metric."""
        return name

    def short(self, name: str) -> str:
        """A metric's name, by which its title is listed."""
        return name

    def subtitle(self, name: str) -> str:
        """A metric's name (`short`), as it stands below its title."""
        return name

    def main_metrics(self, available: Iterable[str]) -> tuple[str, ...]:
        """Of the available metrics those that its pictures show."""
        return self.default

    def all_foreign(self, metrics: Iterable[str]) -> bool:
        """Whether none of the metrics is the evaluator's own, though these may be drawn."""
        return False

    def our_names(self, wanted: Sequence[str], available: Mapping[str, str]) -> list[str]:
        """The wanted names, where published names that are no aliases of the suite are replaced by
        ours."""
        names = []
        for word in wanted:
            match = re.fullmatch(r"run_\d+_((?:retrieval|generation)_score_.+)", word, re.S)
            name = match[1] if match else word
            part = name.casefold().replace(" ", "_")
            # The published column holds a label, and what is drawn is the share that it stands for.
            flag = "answered" in available and part in _FLAG
            names.append("answered" if flag else f"nuggets.{part}" if part in _INNER else name)
        return names

    def columns_of(self, heads: Iterable[str]) -> Columns:
        """The columns of each run of a query that has scores.

        Args:
            heads: the names in the file, with ``run_1_`` ... before them or without.
        """
        columns: dict[int, dict[str, str]] = {}
        for match in filter(None, map(RUN_COLUMN.fullmatch, heads)):
            name = match[2] if match[2] in self.fact_columns else self.column_name(match[2])
            if name is not None:
                columns.setdefault(int(match[1] or 1), {})[name] = match[0]
        return {
            run: {name: columns[run][name] for name in sorted(columns[run], key=self.rank)}
            for run in sorted(columns)
            if columns[run].keys() - set(self.fact_columns)
        }
