"""Result files (CSV) and run folders as the series of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, UsageError
from ragassay.base.printable import few
from ragassay.base.sample import Identity
from ragassay.base.score import Reason, Score, Unscored
from ragassay.engine.comparison.derived_runs import by_system
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import holds_consistency
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summary import MetricSummary, Summary, shown
from ragassay.formats import kind
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.reports.charts.layouts import (
    BY_FILE,
    EVALUATORS,
    HIGHEST_GRADE,
    INDEX,
    LAYOUTS,
    OF_PAGE,
    PAGE,
    TOOL,
    UNKNOWN,
    Evaluator,
    Layout,
    Paths,
    by_two_formulas,
    in_trecrag,
)
from ragassay.reports.tables.ore_values import COLUMNS
from ragassay.reports.tables.published_csv import signatures as signatures_of
from ragassay.reports.tables.tables import consistency_of
from ragassay.stats.repeats import spread

ROUNDING = 1e-6
"""How far a cosine or a BERTScore of equal texts may lie beyond its range."""

_CONSISTENCY_FILE = "consistency.csv"
_GENERIC = ("trecrag", "consistency")
"""Files that every run folder holds, so the folder's name says more."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a plot is drawn from: series in the order of the files, the different files, and the
    layout of the evaluator that wrote them."""

    series: tuple[Result, ...]
    files: tuple[Path, ...]
    layout: Layout


def opened(paths: Sequence[Path], evaluator: Evaluator) -> Sources:
    """Reads result files (CSV) and run folders of ours: a series for each system."""
    if not paths:
        raise UsageError(
            "Name at least one file with results: ragassay plot results.csv --evaluator trec."
        )
    layout = LAYOUTS[evaluator]
    found: list[Result] = []
    for path, label in zip(paths, labels(paths), strict=True):
        results = _read(path, layout)
        for result in results:
            name, own = label, result.summary.system or "(no name)"
            if len(results) > 1:
                name = own if len(paths) == 1 else f"{label} · {own}"
            found.append(replace(result, called=name))
    named = zip(found, _numbered([item.called for item in found]), strict=True)
    series = tuple(replace(result, called=name) for result, name in named)
    return Sources(series, tuple(dict.fromkeys(paths)), layout)


def labels(paths: Sequence[Path]) -> list[str]:
    """A name for each path: that of the file, with its folder or a number where several have it."""
    stems = []
    for path in (path.absolute() for path in paths):
        name = path.name if path.is_dir() else path.name.removesuffix(".gz").rsplit(".", 1)[0]
        stems.append((path.parent.name, name))
    names = [folder if name in _GENERIC else name for folder, name in stems]
    whole = (f"{folder}/{name}" for folder, name in stems)
    both = zip(names, whole, strict=True)
    return _numbered([name if names.count(name) == 1 else longer for name, longer in both])


def _numbered(names: Sequence[str]) -> list[str]:
    """The names; the second of two alike gets (2), the third (3)."""
    return [
        name if not (n := list(names[:at]).count(name)) else f"{name} ({n + 1})"
        for at, name in enumerate(names)
    ]


def chosen(sources: Sources, wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The metrics to draw, in order: those that are named, else the evaluator's own that have a
    value, else all of its own; and the evaluator's own that are left out."""
    available: dict[str, str] = {}
    valued: set[str] = set()
    for series in sources.series:
        for metric in series.summary.metrics.values():
            if not metric.labels and metric.aggregate != "sum":
                available.setdefault(metric.name, metric.metric)
                valued |= {metric.name} if metric.n_scored else set()
    layout, files = sources.layout, list(map(str, sources.files))
    if wanted:
        names = layout.our_names(wanted, available)
        return shown(names, available, {"trecrag", layout.suite}, "the files",
                     f"all are in {few(files, 3)}"), []  # fmt: skip
    default = layout.main_metrics(available)
    main = [name for name in default if name in valued]
    if main:
        return main, [name for name in default if name not in valued]
    every = [name for name in available if name in valued] or list(default) or list(available)
    if not every:
        raise UsageError(f"There is nothing to draw: {', '.join(files)} has no metric of numbers.")
    return every, []


def _read(path: Path, layout: Layout) -> list[Result]:
    """The results in a file or folder, one a system."""
    if not path.is_dir():
        if path.suffix.casefold() in (".png", ".svg"):
            hint = "Name the picture to write with --output-file."
            raise InputError("this is a picture, not a file with results", path=path, hint=hint)
        return _read_table(path, layout, {})
    if not layout.over_runs:
        run = open_run(path)
        if consistency_of(run) is run:
            problem = "holds the consistency of repeated runs and no scores of answers"
            raise InputError(problem, path=path, hint="Use --evaluator consistency.")
        return by_system(run)
    # A run keeps the folder of its consistency within its own, and the published table beside that.
    for folder in (path, path.parent) if path.name == CONSISTENCY else (path,):
        if (folder / _CONSISTENCY_FILE).is_file():
            inner = open_run(folder / CONSISTENCY) if holds_consistency(folder) else None
            signatures = {} if inner is None else signatures_of(inner)
            return _read_table(folder / _CONSISTENCY_FILE, layout, signatures)
    open_run(path)  # says where the folder is no run folder at all
    hint = f"Name a run with repeated runs and --suite consistency, or its {_CONSISTENCY_FILE}."
    raise InputError(f"this run has no {_CONSISTENCY_FILE}", path=path, hint=hint)


@dataclass(frozen=True)
class _Cell:
    """A cell of a results file: its place, its text, and the metrics that it may hold."""

    path: Path
    line: int
    column: str
    text: str | None
    paths: Paths

    def error(self, problem: str, hint: str = "") -> InputError:
        return InputError(problem, path=self.path, line=self.line, field=self.column, hint=hint)

    def content(self) -> Any:
        """The cell's JSON; ``None`` where it is empty."""
        if self.text is None or self.text.strip().casefold() in ("", "nan", "none", "null"):
            return None
        try:
            return json_files.parse_json(self.text.encode())
        except InputError as error:
            hint = "The cell should hold JSON: write the file again from its run."
            raise self.error(error.problem, hint) from None

    def number(self, value: Any, name: str = "") -> float | None:
        """A finite number, or ``None`` for null."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isinf(value):
            subject = f"{name!r} is" if name else "this is"
            raise self.error(f"{subject} {kind(value)}, where a number should be")
        return float(value)

    def object(self, value: Any, name: str = "") -> Mapping[str, Any]:
        """A JSON object; an empty one for null."""
        if value is not None and not isinstance(value, dict):
            subject = repr(name) if name else "this"
            raise self.error(f"{subject} is {kind(value)}, where an object should be")
        return value or {}

    def metrics(self, layout: Layout) -> Iterator[tuple[str, float | None]]:
        """The metrics in the cell; of an empty one, that of a column which holds one alone."""
        content = self.content() if self.paths else None
        for path, name in self.paths.items():
            if layout.over_runs:
                yield name, self._index(self.object(content), scaled=layout.is_scaled(name))
                continue
            if not path:
                yield name, self.number(content)
                continue
            key, inner = path.removesuffix(".*"), self.object(content)
            value = inner.get(key)
            if name == "answered":
                if value is not None and str(value).casefold() not in ("yes", "no"):
                    raise self.error(f"{key!r} is {kind(value)}, and neither yes nor no")
                yield name, None if value is None else float(str(value).casefold() == "yes")
            elif path.endswith(".*"):
                for tail, item in self.object(value, key).items():
                    whole = f"{name}{tail.casefold().replace(' ', '_')}"
                    if in_trecrag(whole):
                        yield whole, self.number(item, f"{key}{tail}")
            elif key in inner:
                yield name, self.number(value, key)

    def _index(self, content: Mapping[str, Any], *, scaled: bool) -> float | None:
        """The consistency-adjusted index of one query: the file's own, else that of its values. A
        metric that goes from 0 to 3 is divided by 3 before, as the tool draws it."""
        stats = self.object(content.get("stats"), "stats")
        if not scaled and INDEX in stats:
            return self.number(stats[INDEX], INDEX)
        plain = [
            value for value in content.get("values") or () if not isinstance(value, dict | list)
        ]
        numbers = [n for value in plain if (n := self.number(value, "values")) is not None]
        if len(numbers) < 2:
            return None
        try:
            return spread([number / (HIGHEST_GRADE if scaled else 1.0) for number in numbers]).cai
        except ValueError as error:
            raise self.error(str(error)) from None


def _read_table(path: Path, layout: Layout, signatures: Mapping[str, str]) -> list[Result]:
    """The scores in a table, with means and intervals as of a run: a result a system. A run folder
    says by ``signatures`` how each column was computed."""
    with opening.opened(path):
        pass  # says what is wrong with a file that cannot be read at all
    heads = tuple(name.strip() for name in delimited.beginning(path)[0])
    columns = layout.columns_of(heads)
    if not columns:
        raise _other_kind(path, heads, layout)
    metrics: dict[str, MetricSummary] = {}
    runs: list[tuple[Identity, Mapping[str, float | None], Mapping[str, Reason]]] = []
    judges: set[str] = set()
    for identity, cells in _runs(path, columns):
        facts = {cell.column.rpartition("_")[2]: cell.text or "" for cell in cells}
        runs.append(
            (identity, _values(cells, layout, metrics), _reasons(facts.get("unscored", "")))
        )
        judges |= {facts["judge"]} if facts.get("judge") else set()
    scores = ScoreColumns(metrics)
    for identity, values, reasons in runs:
        scores.identities.append(identity)
        for name in metrics:
            value, reason = values.get(name), reasons.get(name, Reason.MISSING_INPUT)
            scores.add(name, Unscored(reason, "") if value is None else Score(value))
    judge = ", ".join(sorted(judges))
    ours = {*OF_PAGE} & {head.rpartition("_")[2] for head in heads} or {*heads} & {*COLUMNS}
    described = []
    for name, metric in metrics.items():
        by = [f"judge={judge}" if judge else UNKNOWN] if layout.judged(name) else []
        formula = [PAGE if ours else TOOL] if by_two_formulas(name) else []
        signature = signatures.get(f"consistency_{name}") or "|".join([BY_FILE, *by, *formula])
        described.append(replace(metric, signature=signature, judge=judge if by else ""))
    summary = Summary(
        title=path.stem, suite=layout.suite, system="", n_samples=len(scores),
        n_queries=len(scores.rows_by_query), averaged_over="",
        metrics={each.name: each for each in described},
    )  # fmt: skip
    return by_system(Result(summary, scores, {}, None, lambda: iter(()), lambda: iter(())))


def _other_kind(path: Path, heads: Sequence[str], layout: Layout) -> InputError:
    """The error for a table of another kind, with what to do about it."""
    others = [name for name in EVALUATORS if LAYOUTS[name].columns_of(heads)]
    hint = (
        "Wanted: trecrag.csv or consistency.csv of a run, or what Open RAG Eval writes. "
        f"Found: {few([*filter(None, heads)], 8) or 'no header'}."
    )
    if others:
        hint = f"It holds results of the other evaluator: use --evaluator {others[0]}."
    problem = f"has no column of the {layout.evaluator} evaluator"
    return InputError(problem, path=path, line=1, hint=hint)


def _values(
    cells: Sequence[_Cell], layout: Layout, metrics: dict[str, MetricSummary]
) -> dict[str, float | None]:
    """The scores of a run, each within the range of its metric; describes metrics that are new."""
    values: dict[str, float | None] = {}
    for cell in cells:
        for name, value in cell.metrics(layout):
            if name not in metrics:
                metrics[name] = layout.described(name)
            low, high = metrics[name].bounds
            least, most = (-math.inf if low is None else low), (math.inf if high is None else high)
            if value is not None and not least - ROUNDING <= value <= most + ROUNDING:
                called = INDEX if layout.over_runs else name
                raise cell.error(f"{called} is {value:g}, outside {least:g} to {most:g}")
            values.setdefault(name, value)
    return values


def _reasons(said: str) -> dict[str, Reason]:
    """Why metrics are unscored, by the column in which we say it: ``hhem: needs_extra; ...``."""
    pairs = (part.rpartition(": ") for part in said.split("; "))
    return {name: Reason(reason) for name, _, reason in pairs if reason in set(Reason)}


def _runs(
    path: Path, columns: Mapping[int, Mapping[str, Paths]]
) -> Iterator[tuple[Identity, list[_Cell]]]:
    """The cells of each run of each query. A run without any cell but its judge's is left out; a
    query without any such run has its first run, with no cells."""
    seen: dict[tuple[str, str], int] = {}
    for line, row in delimited.rows(path):
        query, system = row.get("query_id"), row.get("system") or ""
        if query is None:
            raise InputError("the query has no id", path=path, line=line, field="query_id")
        if (query, system) in seen:
            twice = f"the query {query!r} is in line {seen[query, system]}, too"
            hint = "The file should hold one row per query."
            raise InputError(twice, path=path, line=line, field="query_id", hint=hint)
        seen[query, system] = line
        filled = {
            run: heads
            for run, heads in columns.items()
            if any(row[head] is not None for head in heads if not head.endswith("judge"))
        }
        for run, heads in (filled or {min(columns): {}}).items():
            cells = [_Cell(path, line, head, row[head], paths) for head, paths in heads.items()]
            yield (query, system, run - 1), cells
    if not seen:
        hint = "Name a file with results, one row per query."
        raise InputError("the file has a header and no row", path=path, line=1, hint=hint)
