"""A picture of result files: its panels, headings and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.base.note import Note, joined
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.comparison.standing import judge_agreement
from ragassay.engine.results.comparison_result import Comparison
from ragassay.reports.charts.drawing import Spec
from ragassay.reports.plots.boxes import boxes
from ragassay.reports.plots.comparability_notes import differences_in_computation
from ragassay.reports.plots.compared import overview
from ragassay.reports.plots.marks import DASHED
from ragassay.reports.plots.result_files.evaluator_tables import Tables
from ragassay.reports.plots.result_files.sources import Sources
from ragassay.reports.plots.series import PlotPanel, Series
from ragassay.reports.tables.rows_by_sample import run_numbers
from ragassay.reports.text import wording


def draw(sources: Sources, metrics: Sequence[str], *, chosen: bool = False) -> Spec:
    """The box plots of some metrics.

    Args:
        sources: the files.
        metrics: names as `sources.chosen` gives them.
        chosen: whether the user named the metrics; then none is reported as missing.
    """
    series, tables = sources.series, sources.tables
    panels = [_marked(_panel(name, series, tables), series) for name in metrics]
    notes = [
        _size_note(series, tables),
        *remarks(sources, metrics, chosen=chosen),
        *_judged(series),
        *_indicative(series, metrics),
    ]
    if not chosen and not tables.all_foreign(metrics):  # else `remarks` says that all are missing
        available = dict.fromkeys(n for one in series for n in one.result.summary.metrics)
        missing = [
            name
            for name in tables.main_metrics(available)
            if name not in metrics and not any(one.size(name) for one in series)
        ]
        if missing:
            notes.append(f"Not drawn, because no file has a value: {', '.join(missing)}.")
    sizes = [one.result.summary for one in series]
    several = any(size.n_samples > size.n_queries for size in sizes)
    of = f": {series[0].full}" if len(series) == 1 else ""
    title = f"{tables.title(metrics)}{of}"
    return boxes(series, panels, title, notes, "answer" if several else "query")


def remarks(sources: Sources, drawn: Sequence[str], *, chosen: bool) -> list[str]:
    """What a reader of the picture must know: that the series are not of the same queries, which
    scores were not computed alike, or that no metric of the evaluator is drawn (unless the user
    named the metrics). One sentence each.

    Args:
        sources: the files.
        drawn: metrics in the picture.
        chosen: whether the user named the metrics.
    """
    series, tables = sources.series, sources.tables
    sentences = [*_unshared(sources), *differences_in_computation(series, drawn)]
    if not chosen and tables.all_foreign(drawn):
        sentences.append("No metric of the TREC evaluator has a value, so the others are drawn.")
    metrics = [m for one in series for name in drawn if (m := one.metric(name)) is not None]
    is_empty = tables.suite == "consistency" and not any(metric.n_scored for metric in metrics)
    if is_empty and not any(m.metric.endswith((".mean", ".median")) for m in metrics):
        sentences.append(
            "No metric has a value of this statistic; where two runs make one pair of "
            "answers, which has no spread, draw --statistic mean."
        )
    return sentences


def _unshared(sources: Sources) -> list[str]:
    """A note that the series are not of the same queries (by id), so that a comparison of their
    means says little; none where they are."""
    queries = [{query for query, _, _ in one.result.columns.identities} for one in sources.series]
    every, common = set[str]().union(*queries), set.intersection(*queries)
    if common == every:
        return []
    n = len(queries)
    kind = "files" if len({*sources.paths.values()}) == n else "rows"
    which = f"both {kind}" if n == 2 else f"all {n} {kind}"
    if not common:
        return [f"No query stands in {which} (by id): the means are not of the same questions."]
    return [
        f"Only {len(common):,} of {wording.plural(len(every), 'query')} stand in {which} (by id): "
        "the means are not all of the same questions."
    ]


def _panel(name: str, series: Sequence[Series], tables: Tables) -> PlotPanel:
    metric = next(m for one in series if (m := one.metric(name)) is not None)
    short, arrow = tables.short(name), wording.arrow(metric.higher_is_better)
    title = tables.titles.get(short, short)
    below = arrow if title == short else f"{tables.subtitle(short)} {arrow}".strip()
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


def _reason(one: Series, name: str) -> Note | None:
    """Why a metric's values in a file are only indicative; ``None`` where they are not."""
    metric = one.metric(name)
    judged = None if metric is None else judge_agreement(metric)
    return judged.note if judged is not None and judged.indicative else None


def _indicative(series: Sequence[Series], metrics: Sequence[str]) -> list[str]:
    """Why which metrics are only indicative, a sentence for each reason; in which files, where not
    in all."""
    notes = []
    for name in metrics:
        with_values = [one for one in series if one.size(name)]
        found = [(one.name, why) for one in with_values if (why := _reason(one, name)) is not None]
        for why in joined(note for _, note in found):
            files = [file for file, note in found if note == why]
            where = "" if len(files) == len(with_values) else f" in {', '.join(files)}"
            notes.append(replace(why, names=(f"{name}{where}",)))
    return [*map(str, joined(notes)), DASHED] if notes else []


def _size_note(series: Sequence[Series], tables: Tables) -> str:
    """A note on the number of queries, and on how their runs count."""
    n = sorted({one.result.summary.n_queries for one in series})
    queries = wording.plural(n[-1], "query") if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} queries"
    most = max(max(run_numbers(one.result.columns.identities).values()) for one in series)
    if most == 1:
        return f"{queries.capitalize()}{tables.query_note}.{tables.direction_note()}"
    return (
        f"{queries.capitalize()}, up to {most} runs each. All runs are drawn, not the first only; "
        "the intervals take the runs of a query together."
    )


def _judged(series: Sequence[Series]) -> list[str]:
    files = grouped((", ".join(one.judges), one.name) for one in series)
    without = files.pop("", [])
    if len(files) + bool(without) == 1:
        return [f"Judged by {judges}." for judges in files]
    notes = [f"Judged by {judges}: {', '.join(names)}." for judges, names in files.items()]
    return [*notes, *[f"No judge is named in {', '.join(without)}."] * bool(without)]


def compared(
    new: Series,
    old: Series,
    metrics: Sequence[str],
    tables: Tables,
    *,
    force: bool = False,
) -> tuple[Comparison, Spec]:
    """Compares two files query by query, with the tests of ``ragassay compare``.

    Args:
        new: the file with the new run.
        old: the file with the old run.
        metrics: that may be drawn.
        tables: the evaluator whose metrics they are.
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
    panels = {
        name: panel
        for name in both
        if (panel := _panel(name, [new], tables)).title != tables.short(name)
    }
    title = f"{tables.title(both)}.{tables.direction_note()}"
    notes = [title, *differences_in_computation([new, old], both)]
    return comparison, overview(comparison, new.result, old.result, panels, notes)
