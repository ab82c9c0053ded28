"""Result files (CSV) and run folders as the series of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ragassay.base.counts import few
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Identity
from ragassay.base.score import Reason, Score, Unscored
from ragassay.engine.comparison.derived_runs import by_system
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import holds_consistency
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.shown_names import shown
from ragassay.engine.results.summarising import IntervalOptions, averaged_over, summarise
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.formats import kind
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.reports.plots.layouts import (
    BY_FILE,
    EVALUATORS,
    HIGHEST_GRADE,
    INDEX,
    LAYOUTS,
    LEVEL,
    OF_PAGE,
    PAGE,
    RUN_COLUMN,
    TOOL,
    UNKNOWN,
    Evaluator,
    Layout,
    Paths,
    by_two_formulas,
    in_trecrag,
)
from ragassay.reports.plots.series import Series, labels, numbered
from ragassay.reports.tables.ore_values import COLUMNS
from ragassay.reports.tables.published_csv import signatures as signatures_of
from ragassay.reports.tables.tables import consistency_of
from ragassay.stats.repeats import spread

ROUNDING = 1e-6
"""How far a cosine or a BERTScore of equal texts may lie beyond its range."""

_CONSISTENCY_FILE = "consistency.csv"
_EMPTY = ("", "nan", "none", "null")


@dataclass(frozen=True, slots=True)
class Sources:
    """What a plot is drawn from.

    Attributes:
        series: in the order of the files.
        paths: each file's own name by that of its series.
        layout: of the evaluator that wrote the files.
    """

    series: tuple[Series, ...]
    paths: Mapping[str, Path]
    layout: Layout


def opened(paths: Sequence[Path], evaluator: Evaluator) -> Sources:
    """Reads result files (CSV) and run folders of ours. A file or folder that holds several systems
    gives a series for each."""
    if not paths:
        raise UsageError(
            "Name at least one file with results: ragassay plot results.csv --evaluator trec."
        )
    layout = LAYOUTS[evaluator]
    found: list[tuple[str, Path, Result]] = []
    for path, label in zip(paths, labels(paths), strict=True):
        results = _read(path, layout)
        for result in results:
            name, own = label, result.summary.system or "(no name)"
            if len(results) > 1:
                name = own if len(paths) == 1 else f"{label} · {own}"
            found.append((name, path, result))
    names = numbered([name for name, _, _ in found])
    series = tuple(
        # The name that tells it from the others.
        Series(name, replace(result, folder=None, summary=replace(result.summary, system=name)))
        for name, (_, _, result) in zip(names, found, strict=True)
    )
    files = dict(zip(names, (path for _, path, _ in found), strict=True))
    return Sources(series, files, layout)


def chosen(sources: Sources, wanted: Sequence[str] | None) -> list[str]:
    """The metrics to draw, in order: those that are named, else the evaluator's own that have a
    value, else all of its own."""
    available: dict[str, str] = {}
    for one in sources.series:
        for metric in one.result.summary.metrics.values():
            if not metric.labels and metric.aggregate != "sum":
                available.setdefault(metric.name, metric.metric)
    valued = [name for name in available if any(one.size(name) for one in sources.series)]
    layout, files = sources.layout, list(dict.fromkeys(sources.paths.values()))
    if wanted:
        listed = f"all stand in {', '.join(map(str, files[:3]))}{' ...' if files[3:] else ''}"
        names = layout.our_names(wanted, available)
        return shown(names, available, {"trecrag", layout.suite}, "the files", listed)
    default = layout.main_metrics(available)
    main = [name for name in default if name in valued] or valued
    main = main or [name for name in default if name in available] or list(available)
    if not main:
        listed = ", ".join(map(str, files))
        raise UsageError(f"There is nothing to draw: {listed} has no metric with numbers.")
    return main


def _read(path: Path, layout: Layout) -> list[Result]:
    """The results in a file or folder, one a system."""
    if not path.is_dir():
        if path.suffix.casefold() in (".png", ".svg"):
            raise InputError(
                "this is a picture, not a file with results",
                path=path,
                hint="Name the picture to write with --output-file.",
            )
        return _read_table(path, layout)
    if not layout.over_runs:
        run = open_run(path)
        if consistency_of(run) is run:
            raise InputError(
                "holds the consistency of repeated runs and no scores of answers",
                path=path,
                hint="Use --evaluator consistency.",
            )
        return by_system(run)
    # A run keeps the folder of its consistency within its own, and the published table beside that.
    for folder in (path, path.parent) if path.name == CONSISTENCY else (path,):
        if (folder / _CONSISTENCY_FILE).is_file():
            # Who took the table out of its run may have left the folder behind.
            inner = folder / CONSISTENCY if holds_consistency(folder) else None
            signatures = {} if inner is None else signatures_of(open_run(inner))
            return _read_table(folder / _CONSISTENCY_FILE, layout, signatures)
    open_run(path)  # says where the folder is no run folder at all
    hint = f"Name a run with repeated runs and --suite consistency, or its {_CONSISTENCY_FILE}."
    raise InputError(f"this run has no {_CONSISTENCY_FILE}", path=path, hint=hint)


def _other_kind(path: Path, heads: Sequence[str], layout: Layout) -> InputError:
    """The error for a table of another kind, with what to do about it."""
    others = [name for name in EVALUATORS if LAYOUTS[name].columns_of(heads)]
    hint = (
        "Wanted: trecrag.csv or consistency.csv of a run, or what Open RAG Eval writes. "
        f"Found: {few(heads, 8)}."
    )
    if others:
        hint = f"It holds results of the other evaluator: use --evaluator {others[0]}."
    problem = f"has no column of the {layout.evaluator} evaluator"
    return InputError(problem, path=path, line=1, hint=hint)


@dataclass(frozen=True)
class _Cell:
    """A cell of a results file: its text, and its place."""

    path: Path
    line: int
    column: str
    text: str | None

    def error(self, problem: str, hint: str = "") -> InputError:
        return InputError(problem, path=self.path, line=self.line, field=self.column, hint=hint)

    def number(self, value: Any, name: str = "") -> float | None:
        """A finite number, or ``None`` for null (and NaN, which Python's writers write for it)."""
        subject = f"{name!r} is" if name else "this is"
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{subject} {kind(value)}, where a number should stand")
        if math.isinf(value):
            raise self.error(f"{subject} infinite")
        return None if math.isnan(value) else float(value)

    @cached_property
    def content(self) -> Any:
        """The cell's value; ``None`` where it is empty."""
        if self.text is None or self.text.strip().casefold() in _EMPTY:
            return None
        try:
            return json_files.parse_json(self.text.encode())
        except InputError as error:
            hint = "The cell should hold JSON: write the file again from its run."
            raise self.error(error.problem, hint) from None

    def object(self, key: str = "") -> Mapping[str, Any]:
        """The cell's JSON object, or the object of a key in it; empty where there is none."""
        content = self.object().get(key) if key else self.content
        if content is None:
            return {}
        if not isinstance(content, dict):
            subject = repr(key) if key else "this"
            raise self.error(f"{subject} is {kind(content)}, where an object should stand")
        return content

    def metrics(self, paths: Paths, layout: Layout) -> Iterator[tuple[str, float | None]]:
        """The metrics in the cell; of an empty one, that of a column which holds one alone."""
        for path, name in paths.items():
            key, each = path.removesuffix(".*"), path.endswith(".*")
            if layout.over_runs:
                yield name, self._index(scaled=layout.is_scaled(name))
            elif not path:
                yield name, self.number(self.content)
            elif name == "answered":
                yield name, self._answered(self.object().get(key))
            elif not each and key in self.object():
                yield name, self.number(self.object()[key], key)
            elif each:
                for tail, value in self.object(key).items():
                    inner = f"{name}{tail.casefold().replace(' ', '_')}"
                    if in_trecrag(inner):
                        yield inner, self.number(value, f"{key}{tail}")

    def _answered(self, said: Any) -> float | None:
        if said is None:
            return None
        if str(said).casefold() not in ("yes", "no"):
            raise self.error(f"'query_answered' is {kind(said)}, and neither yes nor no")
        return float(str(said).casefold() == "yes")

    def _index(self, *, scaled: bool) -> float | None:
        """The consistency-adjusted index of one query: the file's own, else that of its values. A
        metric that goes from 0 to 3 is divided by 3 before, as the tool draws it.
        """
        stats, listed = self.object("stats"), self.object().get("values")
        if not scaled and INDEX in stats:
            return self.number(stats[INDEX], INDEX)
        plain = [one for one in listed or () if not isinstance(one, dict | list)]
        numbers = [n for one in plain if (n := self.number(one, "values")) is not None]
        if len(numbers) < 2:
            return None
        try:
            return spread([one / (HIGHEST_GRADE if scaled else 1.0) for one in numbers]).cai
        except ValueError as error:
            raise self.error(str(error)) from None


Scored = tuple[Identity, Mapping[str, float | None], Mapping[str, Reason]]
"""A run of a query: its values by metric, and why others are missing."""


def _read_table(
    path: Path, layout: Layout, signatures: Mapping[str, str] | None = None
) -> list[Result]:
    """The scores in a table, with means and intervals as of a run: a result a system. A run folder
    says by ``signatures`` how each column was computed."""
    with opening.opened(path):
        pass  # says what is wrong with a file that cannot be read at all
    heads = tuple(name.strip() for name in delimited.beginning(path)[0])
    if not any(heads):
        raise InputError("there is no header", path=path, hint="The first line names the columns.")
    columns = layout.columns_of(heads)
    if not columns:
        raise _other_kind(path, heads, layout)
    metrics: dict[str, MetricSummary] = {}
    signed: dict[str, str] = {}
    for of_run in columns.values():
        for head, paths in of_run.items():
            for name in _values({head: _Cell(path, 1, head, None)}, {head: paths}, layout, metrics):
                signed.setdefault(name, (signatures or {}).get(head, ""))
    runs: dict[str, list[Scored]] = {}
    judges: dict[str, set[str]] = {}
    for identity, cells in _runs(path, columns):
        bare = {match[2]: cell for head, cell in cells.items()
                if (match := RUN_COLUMN.fullmatch(head))}  # fmt: skip
        values = _values(cells, columns.get(identity[2] + 1, {}), layout, metrics)
        facts = {name: bare[name].text or "" for name in OF_PAGE if name in bare}
        scored = (identity, values, _reasons(facts.get("unscored", "")))
        runs.setdefault(identity[1], []).append(scored)
        if judge := facts.get("judge"):
            judges.setdefault(identity[1], set()).add(judge)
    without_run = {match[2] for match in filter(None, map(RUN_COLUMN.fullmatch, heads))}
    formula = PAGE if without_run & {*OF_PAGE} or {*heads} & {*COLUMNS} else TOOL
    results = []
    for system, scores in runs.items():
        judge = ", ".join(sorted(judges.get(system, ())))
        described = []
        for name in metrics:
            by = [f"judge={judge}" if judge else UNKNOWN] if layout.judged(name) else []
            by_columns = "|".join([BY_FILE, *by, *([formula] if by_two_formulas(name) else [])])
            signature = signed.get(name) or by_columns
            described.append(replace(metrics[name], signature=signature, judge=judge if by else ""))
        results.append(_result(path.stem, layout.suite, system, scores, described))
    return results


def _values(
    cells: Mapping[str, _Cell],
    columns: Mapping[str, Paths],
    layout: Layout,
    metrics: dict[str, MetricSummary],
) -> dict[str, float | None]:
    """The scores of a run, each within the range of its metric but for rounding; describes metrics
    that are new."""
    values: dict[str, float | None] = {}
    for head, cell in cells.items():
        for name, value in cell.metrics(columns[head], layout):
            if name not in metrics:
                metrics[name] = layout.described(name)
            low, high = metrics[name].bounds
            called = INDEX if layout.over_runs else name
            if value is not None and low is not None and value < low - ROUNDING:
                raise cell.error(f"{called} is {value:g}, which lies below {low:g}")
            if value is not None and high is not None and value > high + ROUNDING:
                raise cell.error(f"{called} is {value:g}, which lies above {high:g}")
            values.setdefault(name, value)
    return values


def _reasons(said: str) -> dict[str, Reason]:
    """Why metrics are unscored, by the column in which we say it: ``hhem: needs_extra; ...``."""
    pairs = (one.rpartition(": ") for one in said.split("; "))
    return {name: Reason(reason) for name, _, reason in pairs if reason in set(Reason)}


def _result(
    title: str, suite: str, system: str, runs: Sequence[Scored], metrics: Sequence[MetricSummary]
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
        averaged_over=averaged_over(columns, None),
        metrics=summarise(columns, metrics, IntervalOptions("auto", LEVEL)),
    )
    return Result(summary, columns, {}, None, lambda: iter(()), lambda: iter(()))


def _runs(
    path: Path, columns: Mapping[int, Mapping[str, Paths]]
) -> Iterator[tuple[Identity, dict[str, _Cell]]]:
    """The cells of each run of each query, by the names of their columns. A run without any cell
    but its judge's is left out; a query without any such run has its first run, with no cells."""
    seen: dict[tuple[str, str], int] = {}
    for line, row in delimited.rows(path):
        query, system = row.get("query_id"), row.get("system") or ""
        if query is None:
            raise InputError("the query has no id", path=path, line=line, field="query_id")
        if (query, system) in seen:
            twice = f"the query {query!r} stands in line {seen[query, system]} as well"
            hint = "The file should hold one row a query."
            raise InputError(twice, path=path, line=line, field="query_id", hint=hint)
        seen[query, system] = line
        filled = {
            run: heads
            for run, heads in columns.items()
            if any(row[head] is not None for head in heads if not head.endswith("judge"))
        }
        for run, heads in (filled or {min(columns): {}}).items():
            cells = {head: _Cell(path, line, head, row[head]) for head in heads}
            yield (query, system, run - 1), cells
    if not seen:
        hint = "Name a file with results, one row a query."
        raise InputError("the file has a header and no row", path=path, line=1, hint=hint)
