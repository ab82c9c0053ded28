"""A picture from result files: what is drawn, its headings and its notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragassay.engine.comparison import compare, offline_reason
from ragassay.engine.results import Comparison
from ragassay.errors import UsageError
from ragassay.reports.charts import Spec
from ragassay.reports.plots.boxes import boxes
from ragassay.reports.plots.comparability_notes import differences_in_computation
from ragassay.reports.plots.compared import overview
from ragassay.reports.plots.consistency_plot import Statistic
from ragassay.reports.plots.marks import DASHED
from ragassay.reports.plots.series import PlotPanel, Series
from ragassay.reports.plots.sources import Evaluator, Sources, left_out, remarks, tables_of
from ragassay.reports.plots.tabled import Tables
from ragassay.reports.tables import run_numbers
from ragassay.reports.text import grouping, wording


def draw(
    sources: Sources,
    metrics: Sequence[str],
    evaluator: Evaluator,
    statistic: Statistic = "cai",
    *,
    chosen: bool = False,
) -> Spec:
    """The box plots of some metrics.

    Args:
        sources: the files.
        metrics: names as `ragassay.reports.plots.sources.chosen` gives them.
        evaluator: which one wrote the files.
        statistic: which one is drawn of consistency files.
        chosen: whether somebody named the metrics, so that none is missing.

    """
    series, tables = sources.series, tables_of(evaluator, statistic)
    panels = [_marked(_panel(name, series, tables), series) for name in metrics]
    notes = [
        _size_note(series, tables),
        *remarks(sources, metrics, evaluator, chosen=chosen),
        *_judged(series),
        *_indicative(series, metrics),
    ]
    missing = [] if chosen else left_out(sources, metrics, evaluator)
    if missing:
        notes.append(f"Not drawn, because no file has a value: {', '.join(missing)}.")
    sizes = [one.result.summary for one in series]
    several = any(size.n_samples > size.n_queries for size in sizes)
    of = f": {series[0].full}" if len(series) == 1 else ""
    title = f"{tables.what(metrics)}{of}"
    return boxes(series, panels, title, notes, "answer" if several else "query")


def _panel(name: str, series: Sequence[Series], tables: Tables) -> PlotPanel:
    metric = next(m for one in series if (m := one.metric(name)) is not None)
    short, arrow = tables.short(name), wording.arrow(metric.higher_is_better)
    title = tables.titles.get(short, short)
    below = arrow if title == short else f"{tables.below(short)} {arrow}".strip()
    return PlotPanel(name, title, below, share=name == tables.share)


def _marked(panel: PlotPanel, series: Sequence[Series]) -> PlotPanel:
    """The panel, with "not comparable" above it where its files were not computed alike, else with
    "indicative" where the values of a file are only that."""
    if differences_in_computation(series, [panel.metric]):
        word = "not comparable"
    elif any(_reason(one, panel.metric) for one in series):
        word = "indicative"
    else:
        return panel
    return replace(panel, below=f"{panel.below} · {word}".removeprefix(" · "))


def _reason(one: Series, name: str) -> str:
    """Why a metric's values in a file are only indicative; empty where they are not."""
    metric = one.metric(name)
    return offline_reason(metric) if metric is not None and metric.n_scored else ""


def _indicative(series: Sequence[Series], metrics: Sequence[str]) -> list[str]:
    """Which metrics are only indicative and why, a sentence for each reason; of which files, where
    not of all."""
    pairs = []
    for name in metrics:
        there = [one for one in series if one.size(name)]
        files_by_reason = grouping.grouped((_reason(one, name), one.name) for one in there)
        for why, files in files_by_reason.items():
            where = "" if len(files) == len(there) else f" in {', '.join(files)}"
            pairs.append(((why, where), name))
    told = [
        f"{', '.join(names)}{where}: indicative: {why}."
        for (why, where), names in grouping.grouped(pairs).items()
        if why
    ]
    return [*told, DASHED] if told else []


def _size_note(series: Sequence[Series], tables: Tables) -> str:
    """A note on the number of queries, and on how their runs count."""
    n = sorted({one.result.summary.n_queries for one in series})
    queries = wording.plural(n[-1], "query") if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} queries"
    most = max(max(run_numbers(one.result.columns.identities).values()) for one in series)
    if most == 1:
        return f"{queries.capitalize()}{tables.of_each}.{tables.further()}"
    return (
        f"{queries.capitalize()}, up to {most} runs each. All runs are drawn, not the first only; "
        "the intervals take the runs of a query together."
    )


def _judged(series: Sequence[Series]) -> list[str]:
    judges = {one.judges for one in series}
    if len(judges) == 1:
        return [f"Judged by {judge}." for judge in judges if judge]
    named = [(one.judges, one.name) for one in series if one.judges]
    unnamed = [("in", one.name) for one in series if not one.judges]
    return [
        *grouping.sentences("Judged by {}: {}.", named),
        *grouping.sentences("No judge is named {} {}.", unnamed),
    ]


def compared(
    new: Series,
    old: Series,
    metrics: Sequence[str],
    evaluator: Evaluator,
    statistic: Statistic = "cai",
    *,
    force: bool = False,
) -> tuple[Comparison, Spec]:
    """Compares two files query by query, with the tests of ``ragassay compare``.

    Args:
        new: the file with the new run.
        old: the file with the old run.
        metrics: that may be drawn.
        evaluator: whose metrics they are.
        statistic: that is drawn of the consistency metrics.
        force: compare although the scores were not computed alike.

    Returns:
        The comparison, and the picture of it.

    Raises:
        UsageError: they share no query or no metric, or the scores were not computed alike.
    """
    both = [
        name for name in metrics if new.metric(name) is not None and old.metric(name) is not None
    ]
    if not both:
        raise UsageError(
            f"{new.full} and {old.full} share none of the metrics {', '.join(metrics)}."
        )
    comparison = compare(new.result, old.result, metrics=both, force=force)
    tables = tables_of(evaluator, statistic)
    panels = {
        name: panel
        for name in both
        if (panel := _panel(name, [new], tables)).title != tables.short(name)
    }
    what = f"{tables.what(both)}.{tables.further()}"
    notes = [what, *differences_in_computation([new, old], both)]
    return comparison, overview(comparison, new.result, old.result, panels, notes)
