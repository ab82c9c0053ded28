"""The sources of a plot: result files and run folders, each with one series or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from ragassay.engine.comparison import by_system
from ragassay.engine.results import CONSISTENCY, Result, holds_consistency, open_run, shown
from ragassay.errors import InputError, UsageError
from ragassay.reports.plots import file_labels, tabled
from ragassay.reports.plots.comparability_notes import differences_in_computation
from ragassay.reports.plots.consistency_plot import ConsistencyTables, Statistic
from ragassay.reports.plots.golden_plot import GoldenTables
from ragassay.reports.plots.series import Series
from ragassay.reports.plots.tabled import Tables
from ragassay.reports.plots.trec_plot import TrecTables
from ragassay.reports.tables import consistency_csv, consistency_of
from ragassay.reports.text import wording

Evaluator = Literal["trec", "consistency", "golden_answer"]
EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)

_CONSISTENCY_FILE = "consistency.csv"


def tables_of(evaluator: Evaluator, statistic: Statistic = "cai") -> Tables:
    """What knows the files of an evaluator.

    Args:
        evaluator: its name.
        statistic: that is drawn of the consistency metrics.
    """
    if evaluator == "consistency":
        return ConsistencyTables(statistic)
    return TrecTables() if evaluator == "trec" else GoldenTables()


@dataclass(frozen=True, slots=True)
class Sources:
    """The series of a plot in the order of the files, and each file's own name by that of its
    series."""

    series: tuple[Series, ...]
    paths: Mapping[str, Path]


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
    named: list[tuple[str, Path, Result]] = []
    for path, label in zip(paths, file_labels.labels(paths), strict=True):
        results = _read(path, evaluator, statistic)
        for result in results:
            name, own = label, result.summary.system or "(no name)"
            if len(results) > 1:
                name = own if len(paths) == 1 else f"{label} · {own}"
            named.append((name, path, result))
    full = file_labels.numbered([name for name, _, _ in named])
    series, files = [], {}
    for short, name, (_, path, result) in zip(
        file_labels.shortened(full), full, named, strict=True
    ):
        # The name that tells it from the others.
        called = replace(result, folder=None, summary=replace(result.summary, system=name))
        series.append(Series(short, name, called))
        files[short] = path
    return Sources(tuple(series), files)


def chosen(sources: Sources, wanted: Sequence[str] | None, evaluator: Evaluator) -> list[str]:
    """The metrics to draw, in order: those that are named, else the evaluator's own that have a
    value, else all of its own.

    Args:
        sources: the files.
        wanted: names of metrics, where the user gave any.
        evaluator: whose metrics are meant.

    Raises:
        UsageError: a metric is unknown, or the files have none that could be drawn; the message
            lists what there is, or what comes near it.
    """
    there: dict[str, str] = {}
    for one in sources.series:
        for metric in one.result.summary.metrics.values():
            if not metric.labels and metric.aggregate != "sum":
                there.setdefault(metric.name, metric.metric)
    valued = [name for name in there if any(one.size(name) for one in sources.series)]
    tables = tables_of(evaluator)
    if wanted:
        listed = f"all stand in {_listing(sources, evaluator)}"
        words = tables.spelled(wanted, there)
        return shown(words, there, {"trecrag", tables.suite}, "the files", listed)
    default = tables.own(there)
    main = [name for name in default if name in valued] or valued
    main = main or [name for name in default if name in there] or list(there)
    if not main:
        files = ", ".join(dict.fromkeys(str(path) for path in sources.paths.values()))
        raise UsageError(f"There is nothing to draw: {files} has no metric with numbers.")
    return main


def left_out(sources: Sources, drawn: Sequence[str], evaluator: Evaluator) -> list[str]:
    """The evaluator's own metrics that have no value in any file; none where the picture shows none
    of its own (`remarks` says so).

    Args:
        sources: the files.
        drawn: metrics in the picture.
        evaluator: whose metrics are meant.
    """
    tables = tables_of(evaluator)
    if tables.foreign(drawn):
        return []
    there = dict.fromkeys(n for one in sources.series for n in one.result.summary.metrics)
    return [
        name
        for name in tables.own(there)
        if name not in drawn and not any(s.size(name) for s in sources.series)
    ]


def remarks(
    sources: Sources, drawn: Sequence[str], evaluator: Evaluator, *, chosen: bool
) -> list[str]:
    """What a reader of the picture must know: that the series are not of the same queries, which
    scores were not computed alike, or that no metric of the evaluator is drawn (unless the user
    named the metrics). One sentence each.

    Args:
        sources: the files.
        drawn: metrics in the picture.
        evaluator: whose metrics are meant.
        chosen: whether the user named the metrics.
    """
    sentences = [_unshared(sources), *differences_in_computation(sources.series, drawn)]
    if not chosen and tables_of(evaluator).foreign(drawn):
        sentences.append("No metric of the TREC evaluator has a value, so the others are drawn.")
    there = [m for one in sources.series for name in drawn if (m := one.metric(name)) is not None]
    is_empty = evaluator == "consistency" and not any(metric.n_scored for metric in there)
    if is_empty and not any(m.metric.endswith((".mean", ".median")) for m in there):
        sentences.append(
            "No metric has a value of this statistic; where two runs make one pair of "
            "answers, which has no spread, draw --statistic mean."
        )
    return [sentence for sentence in sentences if sentence]


def _unshared(sources: Sources) -> str:
    """A note that the series are not of the same queries (by id), so that a comparison of their
    means says little; empty where they are.
    """
    queries = [{query for query, _, _ in one.result.columns.identities} for one in sources.series]
    every, common = set[str]().union(*queries), set.intersection(*queries)
    if common == every:
        return ""
    n = len(queries)
    kind = "files" if len({*sources.paths.values()}) == n else "rows"
    which = f"both {kind}" if n == 2 else f"all {n} {kind}"
    if not common:
        return f"No query stands in {which} (by id): the means are not of the same questions."
    return (
        f"Only {len(common):,} of {wording.plural(len(every), 'query')} stand in {which} (by id): "
        "the means are not all of the same questions."
    )


def _read(path: Path, evaluator: Evaluator, statistic: Statistic) -> list[Result]:
    if path.is_dir():
        return _of_folder(path, evaluator, statistic)
    if path.suffix.casefold() in (".png", ".svg"):
        raise InputError(
            "this is a picture, not a file with results",
            path=path,
            hint="Name the picture to write with --output-file.",
        )
    try:
        return tabled.read(path, tables_of(evaluator, statistic))
    except InputError as error:
        if error.line is None and error.problem.startswith("has no column of"):
            raise _other(path, error.problem) from None
        raise


def _of_folder(path: Path, evaluator: Evaluator, statistic: Statistic) -> list[Result]:
    if evaluator != "consistency":
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
            signed = {} if inner is None else consistency_csv.signatures(open_run(inner))
            tables = tables_of(evaluator, statistic)
            return tabled.read(folder / _CONSISTENCY_FILE, tables, signed)
    open_run(path)  # says where the folder is no run folder at all
    if path.name == CONSISTENCY:
        hint = f"Name the folder of the run that it belongs to, or that run's {_CONSISTENCY_FILE}."
    else:
        hint = (
            "Run it with --suite consistency on data with repeated runs, or plot it with "
            "--evaluator trec."
        )
    raise InputError(f"this run has no {_CONSISTENCY_FILE}", path=path, hint=hint)


def _other(path: Path, problem: str) -> InputError:
    """The error for a table of another kind, with what to do about it."""
    heads = tabled.header(path)
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


def _listing(sources: Sources, evaluator: Evaluator) -> str:
    """The files that name all metrics."""
    table = _CONSISTENCY_FILE if evaluator == "consistency" else "scores.csv"
    names = [
        str(path / table if path.is_dir() else path)
        for path in dict.fromkeys(sources.paths.values())
    ]
    return f"{', '.join(names[:3])}{' ...' if names[3:] else ''}"
