"""The consistency of a run in the terminal, in Markdown, and as a section of the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragassay.engine.results import CONSISTENCY, Result
from ragassay.engine.summary import MetricSummary, Summary
from ragassay.reports import wording
from ragassay.reports.consistency import (
    HEADS,
    Alike,
    Overview,
    Spreads,
    consistency_of,
    notes,
    overview,
    share,
)
from ragassay.reports.markdown import escape

UNSCORED = "unscored"

Rows = tuple[list[str], list[list[str]]]
"""The heads of a table and its rows."""


def terminal_table(summary: Summary) -> RenderableType:
    """The tables of a consistency, with what must be known to read them."""
    rows = overview(summary)
    head = Text(wording.one_line(summary.title), "bold")
    head.append(f", consistency of repeated runs of {_size(summary)}", "not bold")
    blocks: list[RenderableType] = [Padding(head, (1, 1, 0, 1))]
    for heads, cells in tables(rows):
        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
        for at, name in enumerate(heads):
            words = at == 0 or name == UNSCORED
            table.add_column(
                name,
                justify="right" if at and not words else "left",
                no_wrap=not words,
                overflow="fold",
                min_width=16 if at == 0 else 8 if words else None,
                style="dim" if at and words else "",
            )
        for line in cells:
            table.add_row(*(Text(wording.one_line(cell)) for cell in line))
        blocks.append(Padding(table, (0, 0, 0, 1)))
    lines: list[RenderableType] = [Text(wording.one_line(n), "dim") for n in notes(summary, rows)]
    lines += [Text(f"! {wording.one_line(said)}", "yellow") for said in summary.warnings]
    blocks.append(Padding(Group(*lines), (0, 1, 1, 1)))
    return Group(*blocks)


def _size(summary: Summary) -> str:
    """How many queries; with several systems also in how many groups."""
    queries = wording.plural(summary.n_queries, "query")
    if summary.n_samples == summary.n_queries:
        return queries
    return f"{queries} by several systems, {wording.plural(summary.n_samples, 'group')}"


def markdown(summary: Summary) -> str:
    """The tables as Markdown (GitHub's dialect), under a heading of their own."""
    rows = overview(summary)
    lines = ["### Consistency of repeated runs", ""]
    for heads, cells in tables(rows):
        align = [":---", *("---:" for _ in heads[1:])]
        for line in (map(escape, heads), align, *(map(escape, row) for row in cells)):
            lines.append(f"| {' | '.join(line)} |")
        lines.append("")
    lines += [f"> ⚠ {escape(said)}\n" for said in summary.warnings]
    lines += [f"- {escape(note)}" for note in notes(summary, rows)]
    return "\n".join(lines).rstrip() + "\n"


@dataclass(frozen=True)
class Section:
    """What the HTML report tells of a run's consistency.

    Attributes:
        tables: heads and rows.
        notes: what must be known to read them.
        warnings: what may mislead.
        link: the report of the consistency itself; empty on that page.
    """

    tables: list[Rows]
    notes: list[str]
    warnings: tuple[str, ...]
    link: str


def section(result: Result) -> Section | None:
    """The section of a run's report, or of that of its consistency; ``None`` without one."""
    inner = consistency_of(result)
    if inner is None:
        return None
    rows = overview(inner.summary)
    is_outer = inner is not result
    link = f"{CONSISTENCY}/report.html" if is_outer and inner.folder is not None else ""
    warnings = inner.summary.warnings if is_outer else ()
    return Section(tables(rows), notes(inner.summary, rows), warnings, link)


def tables(rows: Overview) -> list[Rows]:
    """What there is to show, as tables of text."""
    found = []
    if rows.alike:
        found.append(_alike(rows.alike))
    if rows.spreads:
        found.append(_spreads(rows))
    if rows.others:
        cells = [[one.name, wording.number(one.mean), wording.coverage(one)] for one in rows.others]
        found.append((["metric", "mean", "scored"], cells))
    return found


def _alike(rows: Sequence[Alike]) -> Rows:
    both = any(row.has_direction for row in rows)
    values = ["P", "R", "F1/value"] if both else ["value"]
    heads = ["runs compared two by two", *values]
    cells = [
        [
            row.title,
            *([_mean(row.parts.get("p")), _mean(row.parts.get("r"))] if both else []),
            _mean(row.value),
            wording.bounds(row.value.low, row.value.high),
        ]
        for row in rows
    ]
    return _counted([*heads, "interval"], cells, [row.value for row in rows])


def _spreads(rows: Overview) -> Rows:
    heads = ["metric over the runs of a query", *(HEADS[stat] for stat in rows.stats)]
    varied = any(row.variance for row in rows.spreads)
    if varied:
        heads.append("ICC")
        if rows.several_systems:
            heads += ["query", "system", "query x system", "repeat"]
    cells = [
        [
            row.name,
            *(_mean(row.stats.get(stat)) for stat in rows.stats),
            *(_variance(row, rows.several_systems) if varied else []),
        ]
        for row in rows.spreads
    ]
    best = [max(row.stats.values(), key=lambda one: one.n_scored) for row in rows.spreads]
    return _counted(heads, cells, best)


def _counted(heads: list[str], cells: list[list[str]], counts: Sequence[MetricSummary]) -> Rows:
    """With how many were scored, and where some were not, why."""
    gaps = [wording.reasons(one.unscored) if one.n_scored == 0 else "" for one in counts]
    some = any(gaps)
    return [*heads, "scored", *([UNSCORED] if some else [])], [
        [*line, wording.coverage(one), *([gap] if some else [])]
        for line, one, gap in zip(cells, counts, gaps, strict=True)
    ]


def _variance(row: Spreads, shares: bool) -> list[str]:
    parts = row.variance
    found = [wording.number(None if parts is None else parts.icc)]
    if shares:
        found += [
            share(parts, lambda v: v.query),
            share(parts, lambda v: v.system),
            share(parts, lambda v: v.query_system),
            share(parts, lambda v: v.repeat),
        ]
    return found


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)
