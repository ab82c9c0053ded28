"""A picture of result files: its panels, headings and notes, and what in it does not compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragassay.base.counts import few, grouped
from ragassay.base.note import Note, joined
from ragassay.engine.comparison.pairs import OWN_NUGGETS
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results.score_columns import names_in
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.drawing import Spec
from ragassay.reports.plots.boxes import boxes
from ragassay.reports.plots.layouts import (
    BY_FILE,
    PAGE,
    UNKNOWN,
    Layout,
    by_two_formulas,
    plain,
)
from ragassay.reports.plots.marks import DASHED
from ragassay.reports.plots.result_files import Sources
from ragassay.reports.plots.series import PlotPanel, Series
from ragassay.reports.tables.tables import run_numbers
from ragassay.reports.text import wording

_METRICS, _FILES = 8, 3
"""How many names a sentence has; of more it says how many."""

Facts = Mapping[str, frozenset[str]]
"""How a metric was computed: its judges, its formula, and of a run folder the rest of its
signature. What a CSV does not hold is left out, and counts as no difference."""


def draw(sources: Sources, metrics: Sequence[str], *, chosen: bool = False) -> Spec:
    """The box plots of some metrics."""
    series, layout = sources.series, sources.layout
    panels = [_marked(_panel(name, series, layout), series) for name in metrics]
    notes = [
        _size_note(series, layout),
        *remarks(sources, metrics, chosen=chosen),
        *_judged(series),
        *_indicative(series, metrics),
    ]
    if not chosen and any(name in layout.main_metrics(metrics) for name in metrics):
        available = dict.fromkeys(n for one in series for n in one.result.summary.metrics)
        missing = [
            name
            for name in layout.main_metrics(available)
            if name not in metrics and not any(one.size(name) for one in series)
        ]
        if missing:
            notes.append(f"Not drawn, because no file has a value: {', '.join(missing)}.")
    sizes = [one.result.summary for one in series]
    several = any(size.n_samples > size.n_queries for size in sizes)
    of = f": {series[0].name}" if len(series) == 1 else ""
    title = f"{layout.title(metrics)}{of}"
    return boxes(series, panels, title, notes, "answer" if several else "query")


def remarks(sources: Sources, drawn: Sequence[str], *, chosen: bool) -> list[str]:
    """What a reader of the picture must know: that the series are not of the same queries, which
    scores were not computed alike, or that no metric of the evaluator is drawn (unless the user
    named the metrics). One sentence each."""
    series, layout = sources.series, sources.layout
    sentences = [*_unshared(sources), *differences_in_computation(series, drawn)]
    metrics = [m for one in series for name in drawn if (m := one.metric(name)) is not None]
    if layout.over_runs and not any(metric.n_scored for metric in metrics):
        sentences.append(
            "No metric has a value: two runs make one pair of answers, which has no spread."
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


def _panel(name: str, series: Sequence[Series], layout: Layout) -> PlotPanel:
    metric = next(m for one in series if (m := one.metric(name)) is not None)
    short, arrow = plain(name), wording.arrow(metric.higher_is_better)
    title = layout.titles.get(short, short)
    named = f"{short} of grade / 3" if layout.is_scaled(name) else short
    below = arrow if title == short else f"{named} {arrow}".strip()
    return PlotPanel(name, title, below, share=name == "answered" and not layout.over_runs)


def _marked(panel: PlotPanel, series: Sequence[Series]) -> PlotPanel:
    """The panel, with "not comparable" above it where its files were not computed alike, else with
    "only a hint" where the values of a file are no more."""
    if differences_in_computation(series, [panel.metric]):
        word = "not comparable"
    elif any(_reason(one, panel.metric) for one in series):
        word = wording.HINT
    else:
        return panel
    return replace(panel, below=f"{panel.below} · {word}".removeprefix(" · "))


def _reason(one: Series, name: str) -> Note | None:
    """Why a metric's values in a file are only a hint; ``None`` where they are not."""
    metric = one.metric(name)
    judged = None if metric is None else judge_agreement(metric)
    return judged.note if judged is not None and judged.indicative else None


def _indicative(series: Sequence[Series], metrics: Sequence[str]) -> list[str]:
    """Why which metrics are only a hint, a sentence for each reason; in which files, where not
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


def _size_note(series: Sequence[Series], layout: Layout) -> str:
    """A note on the number of queries, and on how their runs count."""
    n = sorted({one.result.summary.n_queries for one in series})
    queries = wording.plural(n[-1], "query") if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} queries"
    most = max(max(run_numbers(one.result.columns.identities).values()) for one in series)
    if most == 1:
        each = ", each with one value over its repeated runs" if layout.over_runs else ""
        return f"{queries.capitalize()}{each}."
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


def differences_in_computation(series: Sequence[Series], metrics: Sequence[str]) -> list[str]:
    """A sentence for each way in which metrics were not computed alike in all files, by their
    signatures; what a CSV does not say is no difference."""
    pairs = []
    for name in metrics:
        facts_by_file = {
            one.name: _facts(metric)
            for one in series
            if (metric := one.metric(name)) is not None and one.size(name)
        }
        how = [
            sentence
            for fact in ("formula", "judge", "rest")
            if (sentence := _differing(facts_by_file, fact))
        ]
        if sum(OWN_NUGGETS in facts.get("rest", ()) for facts in facts_by_file.values()) > 1:
            how.append("each file has nuggets of its own")
        if how:
            pairs.append(("; ".join(how), name))
    return [
        f"Not computed alike: {few(names, _METRICS)} ({how})."
        for how, names in grouped(pairs).items()
    ]


def _facts(metric: MetricSummary) -> Facts:
    parts = [part for part in metric.signature.split("|") if part and part != UNKNOWN]
    judges = [part for part in parts if part.startswith("judge=")]
    formula = [part for part in parts if part.startswith("formula=")]
    parts_of = {"judge": judges, "formula": formula}
    if metric.judges:
        # Two systems of one run have its signature, whoever judged the one and the other.
        parts_of["judge"] = [f"judge={'+'.join(names_in(metric.judges))}"]
    if BY_FILE not in parts:
        parts_of["rest"] = [part for part in parts if part not in (*judges, *formula)]
        if by_two_formulas(metric.name):
            parts_of["formula"] = [PAGE]
    return {fact: frozenset(parts) for fact, parts in parts_of.items() if parts}


def _differing(facts_by_file: Mapping[str, Facts], fact: str) -> str:
    """How the files differ in one fact, with their names; empty where those that hold it agree."""
    parts_of = {name: facts[fact] for name, facts in facts_by_file.items() if fact in facts}
    if len(set(parts_of.values())) < 2:
        return ""
    common = frozenset.intersection(*parts_of.values())
    files = grouped(
        (" ".join(sorted(parts - common)) or "by default", name) for name, parts in parts_of.items()
    )
    return "; ".join(f"{how} in {few(names, _FILES)}" for how, names in files.items())
