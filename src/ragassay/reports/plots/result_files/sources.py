"""The sources of a plot: result files and run folders, each with one series or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from ragassay.base.errors import InputError, UsageError
from ragassay.engine.comparison.derived_runs import by_system
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import holds_consistency
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.shown_names import shown
from ragassay.reports.plots import file_labels
from ragassay.reports.plots.result_files import results_csv
from ragassay.reports.plots.result_files.consistency_evaluator import ConsistencyTables, Statistic
from ragassay.reports.plots.result_files.evaluator_tables import Tables
from ragassay.reports.plots.result_files.golden_evaluator import GoldenTables
from ragassay.reports.plots.result_files.trec_evaluator import TrecTables
from ragassay.reports.plots.series import Series
from ragassay.reports.tables import consistency_csv
from ragassay.reports.tables.rows_by_sample import consistency_of

Evaluator = Literal["trec", "consistency", "golden_answer"]
EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)

_CONSISTENCY_FILE = "consistency.csv"


def tables_of(evaluator: Evaluator, statistic: Statistic = "cai") -> Tables:
    """The tables of an evaluator.

    Args:
        evaluator: its name.
        statistic: that is drawn of the consistency metrics.
    """
    if evaluator == "consistency":
        return ConsistencyTables(statistic)
    return TrecTables() if evaluator == "trec" else GoldenTables()


@dataclass(frozen=True, slots=True)
class Sources:
    """What a plot is drawn from.

    Attributes:
        series: in the order of the files.
        paths: each file's own name by that of its series.
        tables: the evaluator that wrote the files.
    """

    series: tuple[Series, ...]
    paths: Mapping[str, Path]
    tables: Tables


def opened(paths: Sequence[Path], evaluator: Evaluator, statistic: Statistic = "cai") -> Sources:
    """Reads result files (CSV) and run folders of ours. A file or folder that holds several systems
    gives a series for each.

    Args:
        paths: of the files and folders.
        evaluator: whose metrics are meant.
        statistic: that is drawn of the consistency metrics.

    Raises:
        InputError: a file is missing, damaged, empty, or not of this evaluator; the message says
            where and what to do.
        UsageError: no path at all.
    """
    if not paths:
        raise UsageError(
            "Name at least one file with results: ragassay plot results.csv --evaluator trec."
        )
    tables = tables_of(evaluator, statistic)
    results_by_name: list[tuple[str, Path, Result]] = []
    for path, label in zip(paths, file_labels.labels(paths), strict=True):
        results = _read(path, tables)
        for result in results:
            name, own = label, result.summary.system or "(no name)"
            if len(results) > 1:
                name = own if len(paths) == 1 else f"{label} · {own}"
            results_by_name.append((name, path, result))
    full = file_labels.numbered([name for name, _, _ in results_by_name])
    series, files = [], {}
    for short, name, (_, path, result) in zip(
        file_labels.shortened(full), full, results_by_name, strict=True
    ):
        # The name that tells it from the others.
        renamed = replace(result, folder=None, summary=replace(result.summary, system=name))
        series.append(Series(short, name, renamed))
        files[short] = path
    return Sources(tuple(series), files, tables)


def chosen(sources: Sources, wanted: Sequence[str] | None) -> list[str]:
    """The metrics to draw, in order: those that are named, else the evaluator's own that have a
    value, else all of its own.

    Args:
        sources: the files.
        wanted: names of metrics, where the user gave any.

    Raises:
        UsageError: a metric is unknown, or the files have none that could be drawn; the message
            lists what there is, or what comes near it.
    """
    available: dict[str, str] = {}
    for one in sources.series:
        for metric in one.result.summary.metrics.values():
            if not metric.labels and metric.aggregate != "sum":
                available.setdefault(metric.name, metric.metric)
    valued = [name for name in available if any(one.size(name) for one in sources.series)]
    tables = sources.tables
    if wanted:
        listed = f"all stand in {_listing(sources)}"
        names = tables.our_names(wanted, available)
        return shown(names, available, {"trecrag", tables.suite}, "the files", listed)
    default = tables.main_metrics(available)
    main = [name for name in default if name in valued] or valued
    main = main or [name for name in default if name in available] or list(available)
    if not main:
        files = ", ".join(dict.fromkeys(str(path) for path in sources.paths.values()))
        raise UsageError(f"There is nothing to draw: {files} has no metric with numbers.")
    return main


def _read(path: Path, tables: Tables) -> list[Result]:
    if path.is_dir():
        return _read_folder(path, tables)
    if path.suffix.casefold() in (".png", ".svg"):
        raise InputError(
            "this is a picture, not a file with results",
            path=path,
            hint="Name the picture to write with --output-file.",
        )
    try:
        return results_csv.read(path, tables)
    except InputError as error:
        if error.line is None and error.problem.startswith("has no column of"):
            raise _other_kind(path, error.problem) from None
        raise


def _read_folder(path: Path, tables: Tables) -> list[Result]:
    if not isinstance(tables, ConsistencyTables):
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
            signatures = {} if inner is None else consistency_csv.signatures(open_run(inner))
            return results_csv.read(folder / _CONSISTENCY_FILE, tables, signatures)
    open_run(path)  # says where the folder is no run folder at all
    if path.name == CONSISTENCY:
        hint = f"Name the folder of the run that it belongs to, or that run's {_CONSISTENCY_FILE}."
    else:
        hint = (
            "Run it with --suite consistency on data with repeated runs, or plot it with "
            "--evaluator trec."
        )
    raise InputError(f"this run has no {_CONSISTENCY_FILE}", path=path, hint=hint)


def _other_kind(path: Path, problem: str) -> InputError:
    """The error for a table of another kind, with what to do about it."""
    heads = results_csv.header(path)
    others = [name for name in EVALUATORS if tables_of(name).columns_of(heads)]
    if others:
        hint = f"It holds results of the other evaluator: use --evaluator {others[0]}."
    elif {"passage_id", "passage", "generated_answer"} <= set(heads):
        hint = "It holds answers, not scores: 'ragassay run FILE --suite trecrag' scores them."
    elif {"sample", "metric"} & set(heads):
        hint = "It is a table of a run: name the run folder itself, or its trecrag.csv."
    else:
        some = ", ".join(heads[:8]) + (" ..." if len(heads) > 8 else "")
        hint = (
            "Wanted: trecrag.csv or consistency.csv of a run, or what Open RAG Eval writes "
            f"(run_1_retrieval_score_... or consistency_...). Found: {some}."
        )
    return InputError(problem, path=path, line=1, hint=hint)


def _listing(sources: Sources) -> str:
    """The files that name all metrics."""
    consistency = isinstance(sources.tables, ConsistencyTables)
    table = _CONSISTENCY_FILE if consistency else "scores.csv"
    names = [
        str(path / table if path.is_dir() else path)
        for path in dict.fromkeys(sources.paths.values())
    ]
    return f"{', '.join(names[:3])}{' ...' if names[3:] else ''}"
