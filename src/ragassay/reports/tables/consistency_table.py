"""The consistency of a run in the terminal, in Markdown, and as a section of the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from ragassay.engine.results import CONSISTENCY, MetricSummary, Result, Summary
from ragassay.reports.tables.consistency_values import (
    HEADS,
    Alike,
    Overview,
    Spreads,
    consistency_of,
    has_own_count,
    notes,
    overview,
    share,
)
from ragassay.reports.tables.responsive_table import fitted
from ragassay.reports.text import escape, grouping, wording

UNSCORED = "unscored"
_SHARES = ("query", "system", "query x system", "repeat")
_GOING = (
    *((UNSCORED,), _SHARES, (HEADS["median"],), (HEADS["std"],), (HEADS["iqr"],)),
    *((HEADS["max_min"],), (HEADS["consistency_adjusted_index"],), ("ICC",), ("P", "R")),
    *((HEADS["flip"],), (HEADS["variance"],), ("interval",), (HEADS["cv"],)),
)
"""What a narrow terminal leaves out, first to last. Names, means and coverage always stay."""

Rows = tuple[list[str], list[list[str]]]
"""The heads of a table and its rows."""


def terminal_table(summary: Summary) -> RenderableType:
    """The tables of a consistency, with what must be known to read them."""
    return _View(summary)


@dataclass(frozen=True)
class _View:
    summary: Summary

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        summary, rows = self.summary, overview(self.summary)
        head = Text(wording.one_line(summary.title), "bold")
        head.append(f", consistency of repeated runs of {_size(summary)}", "not bold")
        yield Padding(head, (1, 1, 0, 1))
        missing: dict[str, None] = {}
        for heads, cells in tables(rows):
            fitted_table = fitted(
                heads,
                cells,
                options.max_width - 1,
                going=_GOING,
                words=UNSCORED,
                plain=options.ascii_only,
            )
            missing.update(dict.fromkeys(fitted_table.left_out))
            yield Padding(fitted_table.table, (0, 0, 0, 1))
        sentences = notes(summary, rows)
        if UNSCORED in missing:
            sentences += _gaps(rows)
        if others := [name for name in missing if name != UNSCORED]:
            sentences.append(
                f"Left out for want of width: {', '.join(others)}. A wider terminal has them, and "
                "so has the HTML report."
            )
        lines: list[RenderableType] = [Text(wording.one_line(note), "dim") for note in sentences]
        lines += [Text(f"! {wording.one_line(warning)}", "yellow") for warning in summary.warnings]
        yield Padding(Group(*lines), (0, 1, 1, 1))


def _gaps(rows: Overview) -> list[str]:
    """What has no score at all and why, alike together: the words of the column `UNSCORED`."""
    lines = (line for heads, cells in tables(rows) if UNSCORED in heads for line in cells)
    alike = grouping.grouped((line[-1], line[0]) for line in lines if line[-1])
    return [f"Unscored: {what}: {', '.join(names)}." for what, names in alike.items()]


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
    lines += [f"> ⚠ {escape(warning)}\n" for warning in summary.warnings]
    lines += [f"- {escape(note)}" for note in notes(summary, rows)]
    return "\n".join(lines).rstrip() + "\n"


@dataclass(frozen=True)
class Section:
    """The part of the HTML report about the consistency of a run.

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
    shown = []
    if rows.alike:
        shown.append(_alike(rows.alike))
    if rows.spreads:
        shown.append(_spreads(rows))
    if rows.others:
        cells = [[one.name, wording.number(one.mean), wording.coverage(one)] for one in rows.others]
        shown.append((["metric", "mean", "scored"], cells))
    return shown


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
            heads += _SHARES
    cells = [
        [
            row.name,
            *(_stat(row, stat) for stat in rows.stats),
            *(_variance(row, rows.several_systems) if varied else []),
        ]
        for row in rows.spreads
    ]
    return _counted(heads, cells, [row.counted for row in rows.spreads])


def _counted(heads: list[str], cells: list[list[str]], counts: Sequence[MetricSummary]) -> Rows:
    """The number of scored queries, and the reasons where some were not scored."""
    gaps = [wording.reasons(one.unscored) if one.n_scored == 0 else "" for one in counts]
    some = any(gaps)
    return [*heads, "scored", *([UNSCORED] if some else [])], [
        [*line, wording.coverage(one), *([gap] if some else [])]
        for line, one, gap in zip(cells, counts, gaps, strict=True)
    ]


def _variance(row: Spreads, shares: bool) -> list[str]:
    parts = row.variance
    cells = [wording.number(None if parts is None else parts.icc)]
    if shares:
        cells += [
            share(parts, lambda v: v.query),
            share(parts, lambda v: v.system),
            share(parts, lambda v: v.query_system),
            share(parts, lambda v: v.repeat),
        ]
    return cells


def _stat(row: Spreads, stat: str) -> str:
    """A statistic; with its own count where that differs from the count of its row."""
    entry = row.stats.get(stat)
    if entry is None or not has_own_count(row, entry):
        return _mean(entry)
    return f"{_mean(entry)} ({wording.coverage(entry)})"


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)
