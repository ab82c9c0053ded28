"""A picture of result files: its panels, headings and notes, and what in it does not compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.base.printable import few, grouped
from ragassay.engine.comparison.differences import OWN_NUGGETS
from ragassay.engine.results import Result
from ragassay.engine.results.score_columns import names_in
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.boxes import BoxPanel, boxes, is_hint, judges_of
from ragassay.reports.charts.layouts import BY_FILE, PAGE, UNKNOWN, by_two_formulas, plain
from ragassay.reports.charts.result_files import Sources
from ragassay.reports.charts.svg import DASHED, Chart
from ragassay.reports.tables.tables import run_numbers
from ragassay.reports.text import wording

_METRICS, _FILES = 8, 3
"""How many names a sentence has; of more it says how many."""


def draw(sources: Sources, metrics: Sequence[str], missing: Sequence[str] = ()) -> Chart:
    """The box plots of some metrics; ``missing`` are those left out because no file has a value."""
    series, layout = sources.series, sources.layout
    found = [m for name in metrics for item in series if (m := item.summary.metrics.get(name))]
    notes = [*remarks(sources, metrics), *[DASHED] * any(map(is_hint, found))]
    notes += [_size_note(sources), *_judged(series)]
    if missing:
        notes.append(f"Not drawn, because no file has a value: {', '.join(missing)}.")
    several = any(item.summary.n_samples > item.summary.n_queries for item in series)
    of = f": {series[0].name}" if len(series) == 1 else ""
    panels = [_panel(name, sources) for name in metrics]
    title = f"{layout.title(metrics)}{of}"
    return boxes(panels, title, notes, "answer" if several else "query")


def remarks(sources: Sources, drawn: Sequence[str]) -> list[str]:
    """What a reader of the picture must know: that the series are not of the same queries, which
    scores were not computed alike, or that no metric has a value. One sentence each."""
    series = sources.series
    sentences = [*_unshared(sources), *differences_in_computation(series, drawn)]
    metrics = [m for item in series for name in drawn if (m := item.summary.metrics.get(name))]
    if sources.layout.over_runs and not any(metric.n_scored for metric in metrics):
        sentences.append(wording.sentence("one_pair"))
    return sentences


def _unshared(sources: Sources) -> list[str]:
    """A note that the series are not of the same queries (by id); none where they are."""
    queries = [{query for query, _, _ in series.columns.identities} for series in sources.series]
    every, common = set[str]().union(*queries), set.intersection(*queries)
    if common == every:
        return []
    kind = "files" if len(sources.files) == len(queries) else "rows"
    which = f"both {kind}" if len(queries) == 2 else f"all {len(queries)} {kind}"
    kind = "shared_in_part" if common else "nothing_shared"
    return [wording.sentence(kind, which=which, n=len(common), of=len(every))]


def _panel(name: str, sources: Sources) -> BoxPanel:
    """The panel of a metric, with "not comparable" above it where its files were not computed
    alike, else with "only a hint" where the values of a file are no more."""
    series, layout = sources.series, sources.layout
    metrics = [m for item in series if (m := item.summary.metrics.get(name))]
    short, arrow = plain(name), wording.ARROWS[metrics[0].higher_is_better]
    title = layout.titles.get(short, short)
    named = f"{short} of grade / 3" if layout.is_scaled(name) else short
    word = ""
    if differences_in_computation(series, [name]):
        word = "· not comparable"
    elif any(map(is_hint, metrics)):
        word = f"· {wording.HINT}"
    below = " ".join(filter(None, ("" if title == short else named, arrow, word)))
    share = name == "answered" and not layout.over_runs
    return BoxPanel(name, title, below.removeprefix("· "), series, share)


def _size_note(sources: Sources) -> str:
    """A note on the number of queries, and on how their runs count."""
    series = sources.series
    n = sorted({item.summary.n_queries for item in series})
    queries = wording.plural(n[-1], "query") if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} queries"
    most = max(max(run_numbers(item.columns.identities).values()) for item in series)
    if most == 1:
        over_runs = sources.layout.over_runs
        return f"{queries}{', each with one value over its repeated runs' if over_runs else ''}."
    return f"{queries}, up to {most} runs each; the intervals take the runs of a query together."


def _judged(series: Sequence[Result]) -> list[str]:
    files = grouped((", ".join(judges_of(item)), item.name) for item in series)
    without = files.pop("", [])
    if len(files) + bool(without) == 1:
        return [f"Judged by {judges}." for judges in files]
    notes = [f"Judged by {judges}: {', '.join(names)}." for judges, names in files.items()]
    return [*notes, *[f"No judge is named in {', '.join(without)}."] * bool(without)]


def differences_in_computation(series: Sequence[Result], metrics: Sequence[str]) -> list[str]:
    """A sentence for each way in which metrics were not computed alike in all files, by their
    signatures; what a CSV does not say is no difference."""
    pairs = []
    for name in metrics:
        of_files = {
            item.name: _facts(m)
            for item in series
            if (m := item.summary.metrics.get(name)) and m.n_scored
        }
        how = [
            said for fact in ("formula", "judge", "rest") if (said := _differing(of_files, fact))
        ]
        if sum(OWN_NUGGETS in facts.get("rest", ()) for facts in of_files.values()) > 1:
            how.append("each file has its own nuggets")
        if how:
            pairs.append(("; ".join(how), name))
    return [
        f"Computed differently: {few(names, _METRICS)} ({how})."
        for how, names in grouped(pairs).items()
    ]


def _facts(metric: MetricSummary) -> Mapping[str, frozenset[str]]:
    """How a metric was computed: its judges, its formula, and of a run folder the rest of its
    signature. What a CSV does not hold is left out, and counts as no difference."""
    parts = [part for part in metric.signature.split("|") if part and part != UNKNOWN]
    facts = grouped((part.partition("=")[0], part) for part in parts)
    judges, formula = facts.pop("judge", []), facts.pop("formula", [])
    if metric.judges:
        # Two systems of one run have its signature, whoever judged the one and the other.
        judges = [f"judge={'+'.join(names_in(metric.judges))}"]
    rest = [part for of_fact in facts.values() for part in of_fact]
    if BY_FILE in rest:
        rest = []
    elif by_two_formulas(metric.name):
        formula = [PAGE]
    known = {"judge": judges, "formula": formula, "rest": rest}
    return {fact: frozenset(some) for fact, some in known.items() if some}


def _differing(of_files: Mapping[str, Mapping[str, frozenset[str]]], fact: str) -> str:
    """How the files differ in one fact, with their names; empty where those that hold it agree."""
    parts_of = {name: facts[fact] for name, facts in of_files.items() if fact in facts}
    if len(set(parts_of.values())) < 2:
        return ""
    common = frozenset.intersection(*parts_of.values())
    files = grouped(
        (" ".join(sorted(parts - common)) or "by default", name) for name, parts in parts_of.items()
    )
    return "; ".join(f"{how} in {few(names, _FILES)}" for how, names in files.items())
