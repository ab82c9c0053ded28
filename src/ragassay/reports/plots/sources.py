"""The sources of a plot: result files and run folders, each with one series or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from ragassay.engine.comparison import by_system
from ragassay.engine.results import CONSISTENCY, Result, holds_consistency, open_run, shown
from ragassay.errors import InputError, UsageError
from ragassay.metrics.core import naming
from ragassay.reports.plots import consistency_plot, file_labels, golden_plot, trec_plot
from ragassay.reports.plots.comparability_notes import differences_in_computation
from ragassay.reports.plots.consistency_plot import Statistic
from ragassay.reports.plots.series import Series
from ragassay.reports.plots.tabled import header
from ragassay.reports.tables import consistency_csv, consistency_of
from ragassay.reports.text import wording

Evaluator = Literal["trec", "consistency", "golden_answer"]
EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)

_CONSISTENCY_FILE = "consistency.csv"

_FILES = {"consistency": consistency_plot, "trec": trec_plot, "golden_answer": golden_plot}
"""What knows the files of an evaluator."""


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
    named_results: list[tuple[str, Path, Result]] = []
    for path, label in zip(paths, file_labels.labels(paths), strict=True):
        results = _read(path, evaluator, statistic)
        several = len(results) > 1
        for result in results:
            own = result.summary.system or "(no name)"
            name = own if several and len(paths) == 1 else f"{label} · {own}" if several else label
            named_results.append((name, path, result))
    full = file_labels.numbered([name for name, _, _ in named_results])
    short = file_labels.shortened(full)
    series = [
        Series(one, full_name, _called(result, full_name))
        for one, full_name, (_, _, result) in zip(short, full, named_results, strict=True)
    ]
    return Sources(
        tuple(series), {s.name: path for s, (_, path, _) in zip(series, named_results, strict=True)}
    )


def _called(result: Result, name: str) -> Result:
    """The result under the name that tells it from the others."""
    return replace(result, folder=None, summary=replace(result.summary, system=name))


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
    if wanted:
        listed = f"all stand in {_tables(sources, evaluator)}"
        spelled = _consistency if evaluator == "consistency" else _trec
        known = ["golden" if evaluator == "golden_answer" else "trecrag"]
        return shown(spelled(wanted, there), there, known, "the files", listed)
    default = _own(evaluator, there)
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
    if evaluator == "trec" and not any(map(trec_plot.belongs, drawn)):
        return []
    own = _own(evaluator, _all_metrics(sources))
    return [
        name for name in own if name not in drawn and not any(s.size(name) for s in sources.series)
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
    if evaluator == "trec" and not chosen and not any(map(trec_plot.belongs, drawn)):
        sentences.append("No metric of the TREC evaluator has a value, so the others are drawn.")
    there = [m for one in sources.series for name in drawn if (m := one.metric(name)) is not None]
    is_empty = evaluator == "consistency" and not any(metric.n_scored for metric in there)
    if is_empty and not _level(metric.metric for metric in there):
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


def _level(metrics: Iterable[str]) -> bool:
    """Whether consistency metrics are a statistic that a single value has, too."""
    return any(metric.endswith((".mean", ".median")) for metric in metrics)


def _published_first(metrics: Iterable[str]) -> tuple[str, ...]:
    """The consistency metrics that Open RAG Eval draws; all where a file has none of them."""
    every = tuple(metrics)
    return (
        tuple(name for name in every if consistency_plot.plain(name) in consistency_plot.TITLES)
        or every
    )


def _own(evaluator: Evaluator, there: Iterable[str]) -> tuple[str, ...]:
    """What an evaluator's pictures show."""
    if evaluator == "consistency":
        return _published_first(there)
    return trec_plot.DEFAULT if evaluator == "trec" else golden_plot.DEFAULT


def _all_metrics(sources: Sources) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n for s in sources.series for n in s.result.summary.metrics))


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
        if evaluator == "consistency":
            return consistency_plot.read(path, statistic)
        return trec_plot.read(path) if evaluator == "trec" else golden_plot.read(path)
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
            return consistency_plot.read(folder / _CONSISTENCY_FILE, statistic, signed)
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
    heads = header(path)
    others = [name for name, files in _FILES.items() if files.columns_of(heads)]
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


def _tables(sources: Sources, evaluator: Evaluator) -> str:
    """The files that name all metrics."""
    table = _CONSISTENCY_FILE if evaluator == "consistency" else "scores.csv"
    names = [
        str(path / table if path.is_dir() else path)
        for path in dict.fromkeys(sources.paths.values())
    ]
    return f"{', '.join(names[:3])}{' ...' if names[3:] else ''}"


def _trec(wanted: Sequence[str], there: Mapping[str, str]) -> list[str]:
    """The words with the published names that are not the suite's own aliases put into ours."""
    words = [_published(word) for word in wanted]
    if "answered" not in there:
        return words
    # The published column holds a label, and what is drawn is the share that it stands for.
    flag = ("no_answer", "no_answer_score", trec_plot.PUBLISHED["answered"])
    return ["answered" if word.casefold() in flag else word for word in words]


def _published(word: str) -> str:
    """A published name without its run, and the inner names of the published objects."""
    begin, _, rest = word.partition("_retrieval_score_")
    if rest and begin.startswith("run_"):
        word = f"retrieval_score_{rest}"
    begin, _, rest = word.partition("_generation_score_")
    if rest and begin.startswith("run_"):
        word = f"generation_score_{rest}"
    part = word.casefold().replace(" ", "_")
    inner = f"nuggets.{part}"
    return (
        inner
        if part in ("all", "all_strict", "vital_strict", "weighted", "weighted_strict")
        else word
    )


def _consistency(wanted: Sequence[str], there: Iterable[str]) -> list[str]:
    """The words with every spelling of a column put into the metric's name."""
    spelled = {
        form.casefold(): name
        for name in there
        for form in (name, f"{consistency_plot.PREFIX}{name}", consistency_plot.plain(name))
    }
    return [spelled.get(word.casefold(), word) for word in naming.split(list(wanted))]
