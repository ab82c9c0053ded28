"""The consistency of a run in the terminal, in Markdown, and as a section of the HTML report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragassay.engine.results import CONSISTENCY, MetricSummary, Result, Summary
from ragassay.reports.tables.consistency_values import (
    HEADS,
    Overview,
    Stats,
    consistency_of,
    counted,
    has_own_count,
    notes,
    overview,
)
from ragassay.reports.tables.responsive_table import fitted
from ragassay.reports.text import escape, grouping, responsive, table, wording
from ragassay.stats import Components

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


@responsive
def terminal_table(summary: Summary, width: int, plain: bool) -> Iterator[RenderableType]:
    """The tables of a consistency, with what must be known to read them."""
    rows = overview(summary)
    head = Text(wording.one_line(summary.title), "bold")
    head.append(f", consistency of repeated runs of {_size(summary)}", "not bold")
    yield Padding(head, (1, 1, 0, 1))
    missing: dict[str, None] = {}
    for heads, cells in tables(rows):
        shown, left_out = fitted(heads, cells, width - 1, going=_GOING, words=UNSCORED, plain=plain)
        missing.update(dict.fromkeys(left_out))
        yield Padding(shown, (0, 0, 0, 1))
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
    return grouping.sentences(
        "Unscored: {}: {}.", ((line[-1], line[0]) for line in lines if line[-1])
    )


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
        align = "l" + "r" * (len(heads) - 1)
        lines += [*table([*map(escape, heads)], align, ([*map(escape, row)] for row in cells)), ""]
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


def _alike(alike: Mapping[str, Stats]) -> Rows:
    shown = ["p", "r"] if any({"p", "r"} <= parts.keys() for parts in alike.values()) else []
    heads = ["runs compared two by two", *(["P", "R", "F1/value"] if shown else ["value"])]
    values = [parts.get("f") or next(iter(parts.values())) for parts in alike.values()]
    cells = [
        [
            title,
            *(_mean(one) for one in (*map(parts.get, shown), value)),
            wording.bounds(value.low, value.high),
        ]
        for (title, parts), value in zip(alike.items(), values, strict=True)
    ]
    return _counted([*heads, "interval"], cells, values)


def _spreads(rows: Overview) -> Rows:
    stats = [stat for stat in HEADS if any(stat in row for row in rows.spreads.values())]
    sources = ["ICC", *(_SHARES if rows.several_systems else ())] if rows.variances else []
    heads = ["metric over the runs of a query", *(HEADS[stat] for stat in stats), *sources]
    cells = [
        [
            name,
            *(_stat(row, stat) for stat in stats),
            *_variance(rows.variances.get(name))[: len(sources)],
        ]
        for name, row in rows.spreads.items()
    ]
    return _counted(heads, cells, [counted(row) for row in rows.spreads.values()])


def _counted(heads: list[str], cells: list[list[str]], counts: Sequence[MetricSummary]) -> Rows:
    """The number of scored queries, and the reasons where some were not scored."""
    gaps = [wording.reasons(one.unscored) if one.n_scored == 0 else "" for one in counts]
    some = any(gaps)
    return [*heads, "scored", *([UNSCORED] if some else [])], [
        [*line, wording.coverage(one), *([gap] if some else [])]
        for line, one, gap in zip(cells, counts, gaps, strict=True)
    ]


def _variance(parts: Components | None) -> list[str]:
    """ICC, and the components as shares of all of them; dashes where there is none."""
    if parts is None:
        return [wording.NOTHING] * (1 + len(_SHARES))
    given = (parts.query, parts.system, parts.query_system, parts.repeat)
    total = sum(component or 0.0 for component in given)
    shares = (
        wording.NOTHING if one is None or total <= 0 else f"{round(100 * one / total)} %"
        for one in given
    )
    return [wording.number(parts.icc), *shares]


def _stat(row: Stats, stat: str) -> str:
    """A statistic; with its own count where that differs from the count of its row."""
    entry = row.get(stat)
    if entry is None or not has_own_count(row, entry):
        return _mean(entry)
    return f"{_mean(entry)} ({wording.coverage(entry)})"


def _mean(metric: MetricSummary | None) -> str:
    return wording.number(None if metric is None else metric.mean)
