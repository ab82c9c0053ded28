"""Makes results of the tables that evaluators write, as if the runs were in memory."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from ragassay import suites
from ragassay.engine.results import (
    IntervalOptions,
    MetricSummary,
    Result,
    ScoreColumns,
    Summary,
    averaged_over,
    describe,
    summarise,
)
from ragassay.errors import InputError
from ragassay.formats import Row, delimited, json_files, kind, opening
from ragassay.metrics.core import naming
from ragassay.reports.tables import COLUMNS
from ragassay.samples import Identity
from ragassay.scores import Reason, Score, Unscored

LEVEL = 0.95
"""Level of the intervals of files that come without any."""

BY_FILE = "known from a CSV only"
"""What the signature of a metric begins with whose file does not say how it was computed."""

ROUNDING = 1e-6
"""How far a cosine or a BERTScore of equal texts may lie beyond its range."""

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

_RUN = re.compile(r"(?:run_(\d+)_)?(.+)", re.S)
_PREFIX = re.compile("(consistency_)?(retrieval_score_)?(generation_score_)?")
_INNER = ("all", "all_strict", "vital_strict", "weighted", "weighted_strict")
_FLAG = ("no_answer", "no_answer_score", "generation_score_no_answer_score")


def plain(name: str) -> str:
    """A metric's name without the evaluators' prefixes, by which titles go."""
    return _PREFIX.sub("", name, count=1)


def by_two_formulas(name: str) -> bool:
    """Whether Open RAG Eval's page and the tool itself compute a metric differently."""
    return plain(name).startswith(
        ("citation.", "nuggets.weighted", "citation_f1_score", "rouge_score")
    )


@dataclass(frozen=True)
class Cell:
    """A cell of a results file, and where it stands."""

    path: Path
    line: int
    column: str
    text: str | None

    def wrong(self, problem: str, hint: str = "") -> InputError:
        """The error about the cell, with its line and column.

        Args:
            problem: what is wrong in the cell.
            hint: what to do.
        """
        return InputError(problem, path=self.path, line=self.line, field=self.column, hint=hint)

    def number(self, value: Any, name: str = "") -> float | None:
        """A finite number, or ``None`` for null (and NaN, which Python's writers leave for it).

        Args:
            value: from the JSON of the cell.
            name: of the value in it.

        Raises:
            InputError: it is something else, or infinite.
        """
        what = f"{name!r} is" if name else "this is"
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"{what} {kind(value)}, where a number should stand")
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise self.wrong(f"{what} infinite")
        return float(value)

    @cached_property
    def content(self) -> Any:
        """The cell's value; ``None`` where it is empty.

        Raises:
            InputError: it is not JSON.
        """
        if self.text is None or self.text.strip().casefold() in ("", "nan", "none", "null"):
            return None
        try:
            return json_files.parse_json(self.text.encode())
        except InputError as error:
            raise self.wrong(
                error.problem, "The cell should hold JSON: write the file again from its run."
            ) from None

    def object(self, key: str = "") -> Mapping[str, Any]:
        """The cell's JSON object, or an object within it; an empty one where there is none.

        Args:
            key: of the object within.

        Raises:
            InputError: it is not JSON, or no object.
        """
        content = self.content if not key else self.object().get(key)
        if content is None:
            return {}
        if not isinstance(content, dict):
            what = repr(key) if key else "this"
            raise self.wrong(f"{what} is {kind(content)}, where an object should stand")
        return content


@dataclass(frozen=True)
class Tables(ABC):
    """One evaluator: the columns of its tables, what their cells hold, and what pictures call it.

    Attributes:
        evaluator: its name in messages.
        suite: of the same metrics.
        default: the metrics that are drawn by default.
        beside: columns that say something of a run, and are no scores.
        titles: of metrics, by their names without prefixes.
        share: the metric that is drawn as a share of answers.
        of_each: what a picture says of each query.
    """

    evaluator: ClassVar[str]
    suite: ClassVar[str]
    default: ClassVar[tuple[str, ...]]
    beside: ClassVar[tuple[str, ...]] = ()
    titles: ClassVar[Mapping[str, str]] = TITLES
    share: ClassVar[str] = "answered"
    of_each: ClassVar[str] = ""

    @abstractmethod
    def named(self, column: str) -> str | None:
        """Our name of a column (without the run before it); ``None`` where it is of another
        kind."""

    @abstractmethod
    def values(self, name: str, cell: Cell) -> Iterable[tuple[str, float | None]]:
        """The metrics in a cell of a column.

        Args:
            name: of the column, as `named` has it.
            cell: that is read; of an empty one, what the column may lack.

        Raises:
            InputError: the cell does not hold what it should.
        """

    @abstractmethod
    def what(self, metrics: Sequence[str]) -> str:
        """What the numbers of a picture are."""

    def further(self) -> str:
        """What a picture says of the numbers besides."""
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

    def told(self, name: str) -> str:
        """What an error calls a value of a metric."""
        return name

    def short(self, name: str) -> str:
        """A metric's name, by which its title goes."""
        return name

    def below(self, name: str) -> str:
        """A metric's name (`short`), as it stands below its title."""
        return name

    def own(self, there: Iterable[str]) -> tuple[str, ...]:
        """The metrics of all that are there which its pictures show."""
        return self.default

    def foreign(self, metrics: Iterable[str]) -> bool:
        """Whether a run's metrics may be drawn that are not its own, and none of these is."""
        return False

    def spelled(self, wanted: Sequence[str], there: Mapping[str, str]) -> list[str]:
        """The words with the published names that are no aliases of the suite put into ours."""
        words = []
        for word in wanted:
            match = re.fullmatch(r"run_\d+_((?:retrieval|generation)_score_.+)", word, re.S)
            name = match[1] if match else word
            part = name.casefold().replace(" ", "_")
            # The published column holds a label, and what is drawn is the share that it stands for.
            flag = "answered" in there and part in _FLAG
            words.append("answered" if flag else f"nuggets.{part}" if part in _INNER else name)
        return words

    def columns_of(self, heads: Iterable[str]) -> Columns:
        """The columns of each run of a query that has scores.

        Args:
            heads: the names in the file, with ``run_1_`` ... before them or without.
        """
        columns: dict[int, dict[str, str]] = {}
        for head in heads:
            match = _RUN.fullmatch(head)
            if match is None:
                continue
            name = match[2] if match[2] in self.beside else self.named(match[2])
            if name is not None:
                columns.setdefault(int(match[1] or 1), {})[name] = head
        return {
            run: {name: columns[run][name] for name in sorted(columns[run], key=self.rank)}
            for run in sorted(columns)
            if columns[run].keys() - set(self.beside)
        }


Scored = tuple[Identity, Mapping[str, float | None], Mapping[str, Reason]]
"""A run of a query: its values by metric, and why others are missing."""

Columns = Mapping[int, Mapping[str, str]]
"""For each run of a query, counted from 1 (1 where a file does not tell runs apart): our name of
each column, and the file's."""


def read(path: Path, tables: Tables, signatures: Mapping[str, str] | None = None) -> list[Result]:
    """Reads the scores in a table, with means and intervals that the engine computes as for a run.

    Args:
        path: of a results file.
        tables: the evaluator that wrote it.
        signatures: how the values were computed, by column, where a run folder says it.

    Returns:
        One result a system, in order of first appearance.

    Raises:
        InputError: the file is of another kind, or a cell holds what it should not; the message has
            line and column.
    """
    heads = header(path)
    columns = tables.columns_of(heads)
    if not columns:
        raise InputError(f"has no column of the {tables.evaluator} evaluator", path=path)
    metrics: dict[str, MetricSummary] = {}
    for names in columns.values():
        for name, head in names.items():
            _values(tables, {name: Cell(path, 1, head, None)}, metrics)
    runs: dict[str, list[Scored]] = {}
    judges: dict[str, set[str]] = {}
    for identity, cells in _answers(path, columns):
        missing = _reasons(cells.get("unscored"))
        scored = (identity, _values(tables, cells, metrics), missing)
        runs.setdefault(identity[1], []).append(scored)
        if (cell := cells.get("judge")) is not None and cell.text:
            judges.setdefault(identity[1], set()).add(cell.text)
    bare = {match[2] for head in heads if (match := _RUN.fullmatch(head))}
    formula = PAGE if bare & {*OF_PAGE} or {*heads} & {*COLUMNS} else TOOL
    signed = {name: (signatures or {}).get(columns[min(columns)].get(name, "")) for name in metrics}
    results = []
    for system, scores in runs.items():
        judge = ", ".join(sorted(judges.get(system, ())))
        described = []
        for name in sorted(metrics, key=tables.rank):
            by = [f"judge={judge}" if judge else UNKNOWN] if tables.judged(name) else []
            how = "|".join([BY_FILE, *by, *([formula] if by_two_formulas(name) else [])])
            signature, named = signed[name] or how, judge if by else ""
            described.append(replace(metrics[name], signature=signature, judge=named))
        results.append(_result(path.stem, tables.suite, system, scores, described))
    return results


def _values(
    tables: Tables, cells: Mapping[str, Cell], metrics: dict[str, MetricSummary]
) -> dict[str, float | None]:
    """The scores of a run, each within the range of its metric but for rounding; describes metrics
    that are new."""
    values: dict[str, float | None] = {}
    for column, cell in cells.items():
        for name, value in () if column in tables.beside else tables.values(column, cell):
            if name not in metrics:
                metrics[name] = tables.described(name)
            low, high = metrics[name].bounds
            if value is not None and low is not None and value < low - ROUNDING:
                raise cell.wrong(f"{tables.told(name)} is {value:g}, which lies below {low:g}")
            if value is not None and high is not None and value > high + ROUNDING:
                raise cell.wrong(f"{tables.told(name)} is {value:g}, which lies above {high:g}")
            values.setdefault(name, value)
    return values


def _reasons(cell: Cell | None) -> dict[str, Reason]:
    """Why metrics are unscored, by the column in which we say it: ``hhem: needs_extra; ...``."""
    pairs = (one.rpartition(": ") for one in ((cell and cell.text) or "").split("; "))
    return {name: Reason(reason) for name, _, reason in pairs if reason in set(Reason)}


def _result(
    title: str,
    suite: str,
    system: str,
    runs: Sequence[Scored],
    metrics: Sequence[MetricSummary],
) -> Result:
    columns = ScoreColumns(metric.name for metric in metrics)
    for identity, values, reasons in runs:
        columns.identities.append(identity)
        for name in columns.metrics:
            if (value := values.get(name)) is not None:
                columns.add(name, Score(value))
            else:
                columns.add(name, Unscored(reasons.get(name, Reason.MISSING_INPUT), ""))
    summary = Summary(
        title=title,
        suite=suite,
        system=system,
        n_samples=len(columns),
        n_queries=columns.n_queries,
        averaged_over=averaged_over(columns, (), None),
        metrics=summarise(columns, metrics, IntervalOptions("auto", LEVEL)),
    )
    return Result(summary, columns, {}, None, lambda: iter(()), lambda: iter(()))


def header(path: Path) -> tuple[str, ...]:
    """The names of a table's columns.

    Raises:
        InputError: the file is missing, empty, a folder or no text.
    """
    with opening.opened(path):
        pass  # says what is wrong with a file that cannot be read at all
    heads = tuple(name.strip() for name in delimited.header(path))
    if not any(heads):
        raise InputError("there is no header", path=path, hint="The first line names the columns.")
    return heads


def _rows(path: Path) -> Iterator[tuple[int, Row, str, str]]:
    """The rows of a results file: line, cells, query id and system (empty where there is no such
    column).

    Raises:
        InputError: there is no row, one is damaged, has no query id, or has that of another.
    """
    seen: dict[tuple[str, str], int] = {}
    for line, row in delimited.rows(path):
        query, system = row.get("query_id"), row.get("system") or ""
        if query is None:
            raise InputError("the query has no id", path=path, line=line, field="query_id")
        if (query, system) in seen:
            raise InputError(
                f"the query {query!r} stands in line {seen[query, system]} as well",
                path=path,
                line=line,
                field="query_id",
                hint="The file should hold one row a query.",
            )
        seen[query, system] = line
        yield line, row, query, system
    if not seen:
        raise InputError(
            "the file has a header and no row",
            path=path,
            line=1,
            hint="Name a file with results, one row a query.",
        )


def _answers(path: Path, columns: Columns) -> Iterator[tuple[Identity, dict[str, Cell]]]:
    """The cells of each run of each query, by our names.

    A run without any cell but that of its judge is left out, because a query may have fewer runs
    than others. A query without any such run has its first run, with no cells.
    """
    for line, row, query, system in _rows(path):
        held = {
            run: heads
            for run, heads in columns.items()
            if any(row[head] is not None for name, head in heads.items() if name != "judge")
        }
        for run, heads in (held or {min(columns): {}}).items():
            cells = {name: Cell(path, line, head, row[head]) for name, head in heads.items()}
            yield (query, system, run - 1), cells
