"""Makes a result of the rows of a results file, as if the run were in memory."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.engine.results import (
    IntervalOptions,
    MetricSummary,
    Result,
    ScoreColumns,
    Summary,
    averaged_over,
    summarise,
)
from ragassay.errors import InputError
from ragassay.formats import Row, delimited, kind, opening
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


@dataclass(frozen=True, slots=True)
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

    def json(self) -> Any:
        """The cell's value; ``None`` where it is empty.

        Raises:
            InputError: it is not JSON.
        """
        if self.text is None or self.text.strip().casefold() in ("", "nan", "none", "null"):
            return None
        try:
            return opening.parse_json(self.text.encode())
        except InputError as error:
            raise self.wrong(
                error.problem, "The cell should hold JSON: write the file again from its run."
            ) from None

    def object(self) -> Mapping[str, Any]:
        """The cell's JSON object; an empty one where the cell is empty.

        Raises:
            InputError: it is not JSON, or no object.
        """
        content = self.json()
        if content is None:
            return {}
        if not isinstance(content, dict):
            raise self.wrong(f"this is {kind(content)}, where a JSON object should stand")
        return content


@dataclass
class Collected:
    """The scores of one system in a file, row by row."""

    system: str
    identities: list[Identity] = field(default_factory=list)
    values: list[Mapping[str, float | None]] = field(default_factory=list)
    reasons: list[Mapping[str, Reason]] = field(default_factory=list)
    judges: dict[str, None] = field(default_factory=dict)

    def add(
        self,
        identity: Identity,
        values: Mapping[str, float | None],
        reasons: Mapping[str, Reason] | None = None,
    ) -> None:
        """Takes in the scores of one answer, or of one query.

        Args:
            identity: query id, system and repeat.
            values: by metric; ``None`` where there is none.
            reasons: why values are missing, by metric.
        """
        self.identities.append(identity)
        self.values.append(values)
        self.reasons.append(reasons or {})

    def result(self, title: str, metrics: Sequence[MetricSummary], suite: str) -> Result:
        """The result, with means and intervals that the engine computes as for a run.

        Args:
            title: of the data.
            metrics: described, without numbers.
            suite: its title.
        """
        columns = ScoreColumns(metric.name for metric in metrics)
        columns.identities = self.identities
        for metric in metrics:
            for values, reasons in zip(self.values, self.reasons, strict=True):
                value, reason = values.get(metric.name), reasons.get(metric.name)
                lacking = _NOT_THERE if reason is None else Unscored(reason, "")
                columns.add(metric.name, lacking if value is None else Score(value))
        options = IntervalOptions("auto", LEVEL)
        summary = Summary(
            title=title,
            suite=suite,
            system=self.system,
            n_samples=len(columns),
            n_queries=len({identity[0] for identity in self.identities}),
            averaged_over=averaged_over(columns, (), None),
            metrics=summarise(columns, metrics, options),
        )
        return Result(summary, columns, {}, None, _none, _none)


Columns = Mapping[int, Mapping[str, str]]
"""For each run of a query, counted from 1 (1 where a file does not tell runs apart): our name of
each column, and the file's."""


def _none() -> Iterator[Any]:
    """The rows, or the samples, of a table: it has none."""
    return iter(())


_RUN = re.compile(r"(?:run_(\d+)_)?(.+)", re.S)
_NOT_THERE = Unscored(Reason.MISSING_INPUT, "the file holds no value")


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


def rows(path: Path) -> Iterator[tuple[int, Row, str, str]]:
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


def by_run(heads: Iterable[str], named: Callable[[str], str | None]) -> Columns:
    """The columns of each run of a query.

    Args:
        heads: the names in the file, with ``run_1_`` ... before them or without.
        named: what we call a column, by its name without that; ``None`` for one of another kind.
    """
    columns: dict[int, dict[str, str]] = {}
    for head in heads:
        match = _RUN.fullmatch(head)
        name = None if match is None else named(match[2])
        if match is not None and name is not None:
            columns.setdefault(int(match[1] or 1), {})[name] = head
    return dict(sorted(columns.items()))


def answers(
    path: Path, columns: Columns, aside: Container[str] = ()
) -> Iterator[tuple[Identity, dict[str, Cell]]]:
    """The cells of each run of each query, by our names.

    A run without any cell is left out, because a query may have fewer runs than others. A query
    without any such run has its first run, with no cells.

    Args:
        path: a results file.
        columns: as `by_run` gives them, of one run at least.
        aside: columns that tell nothing about whether there was a run.

    Raises:
        InputError: see `rows`.
    """
    for line, row, query, system in rows(path):
        held = {
            run: heads
            for run, heads in columns.items()
            if any(row[head] is not None for name, head in heads.items() if name not in aside)
        }
        for run, heads in (held or {min(columns): {}}).items():
            cells = {name: Cell(path, line, head, row[head]) for name, head in heads.items()}
            yield (query, system, run - 1), cells
