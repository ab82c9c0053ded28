"""What the page of a run and that of a comparison show: the reports of the command line, and what
only a page has room for. The last part of each is the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import CONSISTENCY
from ragassay.reports.charts import figures
from ragassay.reports.html.query_browser import named
from ragassay.reports.model import Block, Cell, Column, Part, Report, Table, lines, part, table
from ragassay.reports.tables.tables import consistency_of
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import (
    MOST_NOTES,
    below,
    differences,
    gate_sentences,
    verdict_line,
)
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.reports.views.diagnosis_view import command_lines, diagnosis_report, moved_report
from ragassay.reports.views.summary_notes import judged_by, spent_on
from ragassay.reports.views.summary_view import (
    metric_blocks,
    name_of,
    slice_parts,
    warning_lines,
)

_DISTRIBUTIONS = (
    "A box of quartiles and median (thick line), whiskers of up to 1.5 interquartile ranges, the "
    "mean (diamond) with its interval, and values as points."
)


_SIGNED = ("what it is", "signature")


def run_page(result: Result, diagnosis: Diagnosis | None, *, linked: bool = True) -> Report:
    """The page of a run."""
    summary, columns = result.summary, result.columns
    facts = {
        "System": summary.system,
        "Suite": summary.suite,
        "Evaluated": wording.size(summary),
        "Means run over": summary.averaged_over,
        "Judged by": judged_by(summary),
        "Spent": spent_on(summary),
    }
    parts = [part("Metrics", *metric_blocks(summary, page=True))]
    if diagnosis is not None:
        several = len({identity[1:] for identity in columns.identities}) > 1
        listed = partial(named, several=several) if linked else None
        shown = diagnosis_report(diagnosis, listed=listed)
        commands = lines(command_lines(diagnosis), "text")
        parts.append(part("Why samples fail", *shown.blocks, commands))
    parts += _consistency(result)
    if not summary.is_empty:
        parts.append(part("Distributions", lines([_DISTRIBUTIONS]), _distributions(result)))
        parts.append(part("Slices", *slice_parts(summary)))
    first = warning_lines(summary)
    return _page(summary.title or "Evaluation", first, parts, _method(result), facts)


def _page(
    title: str,
    first: Block,
    parts: Sequence[Part],
    last: Part,
    facts: Mapping[str, str],
    verdict: str = "",
) -> Report:
    """A page of what has content."""
    blocks = (first, *(one for one in parts if one.blocks), last)
    known = tuple(Cell(text, label=name) for name, text in facts.items() if text)
    return Report(title, blocks, verdict=verdict, facts=known)


def _consistency(result: Result) -> list[Part]:
    """The consistency of the repeats of a run, where it has some."""
    inner = consistency_of(result)
    if inner is None:
        return []
    blocks = consistency_report(inner.summary).blocks
    if inner is not result and inner.folder is not None:
        link = Cell("Every query and pair of runs", link=f"{CONSISTENCY}/report.html")
        blocks = (lines([link], "text"), *blocks)
    return [part("Consistency of repeated runs", *blocks)]


def _distributions(result: Result) -> Block:
    """A card for each metric with scores."""
    cards = []
    for metric in result.summary.metrics.values():
        scored = result.columns.scored(metric.name)
        if scored.any():
            ends = {"median": metric.median, "sd": metric.std, "min": metric.minimum,
                    "max": metric.maximum}  # fmt: skip
            below = " · ".join(f"{word} {wording.number(one)}" for word, one in ends.items())
            values = result.columns.values(metric.name)[scored]
            figure = partial(figures.distribution, metric, values)
            name = name_of(metric.name, metric.higher_is_better)
            cards.append(replace(name, figure=figure, below=(below,)))
    return lines(cards, "figures")


def _method(*runs: Result) -> Part:
    """The signatures and configurations of runs."""
    import yaml

    blocks: list[Block] = []
    for run in runs:
        columns = [Column("metric", "name"), *(Column(one, "words") for one in _SIGNED)]
        metrics = run.summary.metrics.values()
        signed = table(columns, ((one.name, one.title, one.signature) for one in metrics))
        written = yaml.safe_dump(dict(run.config), sort_keys=False, allow_unicode=True)
        configuration = part("Configuration and versions", lines([written], "code"), aside=True)
        blocks.append(part(run.name, signed, configuration))
    same = lines(["Two numbers compare only if their signatures are the same."])
    return part("Method", *blocks, same)


def comparison_page(
    comparison: Comparison, a: Result, b: Result, change: Moved | None, *, linked: bool = True
) -> Report:
    """The page of a comparison."""
    b = aligned(b, a)
    comparison = replace(comparison, runs=(a, b))
    warnings, notes = below(comparison, full=True)
    first, method = notes.lines[:MOST_NOTES], notes.lines[MOST_NOTES:]
    shown = [differences(comparison, full=True)] if comparison.with_scores else []
    parts = [part("Differences", *shown, lines([*gate_sentences(comparison), *first]))]
    facts = {"Compared on": wording.compared_on(comparison)}
    if not comparison.unpaired:
        for where, n in (("A", comparison.only_a), ("B", comparison.only_b)):
            facts[f"Only in {where}"] = wording.plural(n, "query") if n else ""
        if comparison.with_scores:
            parts.append(part("Wins and losses", _wins(comparison)))
    if change is not None:
        parts.append(part("Why samples fail", *moved_report(change, linked=linked).blocks))
    own = _method(a, b)
    last = replace(own, blocks=(lines(method), *own.blocks))
    return _page(
        wording.against(comparison), warnings, parts, last, facts, verdict_line(comparison)
    )


def _wins(comparison: Comparison) -> Table:
    """On how many queries which run is higher, and by how much."""
    columns = [Column("metric", "name"), *map(Column, ("new higher", "equal", "old higher")),
               Column("Cohen's d")]  # fmt: skip
    rows = (
        [
            name_of(d.name, d.higher_is_better),
            *(Cell(f"{n:,}") for n in (d.wins, d.ties, d.losses)),
            Cell(wording.number(d.cohens_d, sign=True)),
        ]
        for d in comparison.with_scores
    )
    return table(columns, rows)
