"""What a run shows: its metrics, slices, and what must be known to read them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from ragassay import suites
from ragassay.base.counts import grouped
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.summary import MetricSummary, Slice, Summary, missing_by_accident
from ragassay.reports.charts import figures
from ragassay.reports.model import (
    Block,
    Cell,
    Column,
    Lines,
    Part,
    Report,
    Row,
    Style,
    Table,
    lines,
    part,
    table,
    without_empty,
)
from ragassay.reports.text import wording
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.reports.views.summary_notes import label_notes, summary_notes, unscored_notes

_NUMERIC = re.compile(r"[+-]?\d+(\.\d+)?")


def result_report(
    result: Result, *, every: bool = True, gates: bool = True, slices: bool = False
) -> Report:
    """A run, with the consistency of its repeats. A run of the suite consistency alone has only
    that."""
    summary, inner = result.summary, result.consistency
    beside = [] if every else left_out(summary, result.config.get("suite") or ())
    metrics = {name: one for name, one in summary.metrics.items() if name not in beside}
    report = summary_report(replace(summary, metrics=metrics), slices=slices)
    blocks: list[Block] = list(report.blocks)
    if beside:
        further = wording.plural(len(beside), "further metric")
        blocks.append(
            lines([f"{further}, by '--metrics all' of run and report: {', '.join(beside)}."])
        )
    if gates:
        blocks.append(gate_lines(result.gates))
    if inner is None:
        return replace(report, blocks=tuple(blocks))
    consistency = consistency_report(inner.summary)
    if not summary.metrics:
        warnings = lines(summary.warnings, "warning")
        return replace(consistency, blocks=(*consistency.blocks, warnings))
    about = consistency.about.removeprefix("consistency of repeated runs")
    return replace(
        report, blocks=(*blocks, part(f"Consistency of repeated runs{about}", *consistency.blocks))
    )


def gate_lines(gates: Iterable[GateResult]) -> Lines:
    """What gates found, one a line."""
    styles: dict[bool | None, Style] = {True: "good", False: "bad", None: "doubt"}
    return lines((Cell(one.sentence, style=styles[one.passed]) for one in gates), "text")


def summary_report(summary: Summary, *, slices: bool = False) -> Report:
    """The metrics of a run, with what must be known to read them."""
    suite = summary.suite and f"suite {summary.suite}"
    about = ", ".join(filter(None, (suite, summary.system, wording.size(summary))))
    blocks: list[Block] = [*metric_blocks(summary), warning_lines(summary)]
    if slices and not summary.is_empty:
        blocks += slice_parts(summary)
    return Report(summary.title or "Evaluation", tuple(blocks), about)


def warning_lines(summary: Summary) -> Lines:
    """The warnings of a run; last, that it is incomplete."""
    warnings = list(summary.warnings)
    if summary.incomplete:
        where = " (see 'unscored')" if summary.n_missing else ""
        warnings.append(f"{missing_by_accident(summary)}{where}: this run is incomplete.")
    return lines(warnings, "warning")


def metric_blocks(summary: Summary, *, page: bool = False) -> Iterator[Block]:
    """The table of metrics and its notes; nothing where there is no metric."""
    if not summary.metrics or summary.is_empty:
        return
    gaps = tuple(f"Unscored: {one}." for one in unscored_notes(summary))
    columns = [
        Column("metric", "name"),
        Column("mean", style="strong"),
        Column("interval", style="dim", under="mean"),
        Column("scored"),
        Column("on its scale", "figure", drop=1, instead=()),
        Column("judge", "words", drop=2, instead=(), style="dim"),
        Column("unscored", "words", drop=3, instead=gaps, style="dim"),
    ]
    shown = without_empty(Table(tuple(columns), tuple(map(_row, summary.metrics.values()))))
    yield _by_family(shown, summary) if page else shown
    yield lines(summary_notes(summary) + label_notes(summary))


def _by_family(shown: Table, summary: Summary) -> Table:
    """The table by family, with what each metric measures."""
    rows = [
        Row((row.cells[0], Cell(metric.title), *row.cells[1:]), metric.group or metric.family)
        for row, metric in zip(shown.rows, summary.metrics.values(), strict=True)
    ]
    first, *others = shown.columns
    families = grouped((row.group, row) for row in rows).values()
    return Table((first, Column("", "words"), *others), tuple(chain.from_iterable(families)))


def _row(metric: MetricSummary) -> Row:
    low, high = metric.bounds
    share = None
    if low is not None and high is not None and metric.mean is not None and high > low:
        share = min(1.0, max(0.0, (metric.mean - low) / (high - low)))
    bounds = wording.bounds(metric.low, metric.high)
    cells = (
        name_of(metric.name, metric.higher_is_better, wording.aggregate_note(metric)),
        Cell(wording.number(metric.mean)),
        Cell(bounds),
        Cell(wording.coverage(metric)),
        Cell(share=share, figure=partial(figures.interval_bar, metric)),
        Cell(wording.judge_and_agreement(metric)),
        Cell(wording.reasons(metric.unscored)),
    )
    return Row(cells, metric.group.partition(" (")[0])


def slice_parts(summary: Summary) -> list[Part]:
    """A part for each slicing column: the mean of each metric in each slice."""
    return [_slices(column, pieces) for column, pieces in by_column(summary.slices).items()]


def _slices(column: str, pieces: list[Slice]) -> Part:
    metrics = {name: one for piece in pieces for name, one in piece.metrics.items()}
    heads = [Column("metric", "name")] + [
        Column(f"{wording.one_line(one.value)}\nn={one.n:,}") for one in pieces
    ]
    rows = [
        [name_of(name, one.higher_is_better), *(_mean(p.metrics.get(name)) for p in pieces)]
        for name, one in metrics.items()
    ]
    return part(f"By {column}", table(heads, rows), aside=True)


def _mean(metric: MetricSummary | None) -> Cell:
    """A mean with how many were scored; on pages with its interval, too."""
    if metric is None:
        return Cell()
    bounds = () if metric.low is None else (wording.bounds(metric.low, metric.high),)
    return Cell(wording.number(metric.mean), f" {wording.coverage(metric)}", below=bounds)


def by_column(slices: Iterable[Slice]) -> dict[str, list[Slice]]:
    """The slices of each column: numbers (a turn, a year) by value, then the rest as they come."""
    pieces_of = grouped((piece.column, piece) for piece in slices)
    for pieces in pieces_of.values():
        pieces.sort(key=lambda piece: _numeric(piece.value))
    return pieces_of


def _numeric(text: str) -> float:
    return float(text) if _NUMERIC.fullmatch(text) else math.inf


def name_of(name: str, higher_is_better: bool | None, note: str = "") -> Cell:
    """The name of a metric, with the sign of its direction."""
    noted = f" ({note})" if note else ""
    mark = wording.arrow(higher_is_better)
    return Cell(name, f"{noted}{mark and f' {mark}'}")


def left_out(summary: Summary, used: Sequence[str]) -> list[str]:
    """The metrics that are not in the headline of their suite, where all of the suite were
    computed."""
    by_canonical = {one.metric: name for name, one in summary.metrics.items()}
    shown: set[str] = set()
    own_metrics: dict[str, None] = {}
    for name in used:
        suite = suites.all_suites().get(name)
        if suite is None:
            continue
        own = [str(metric) for metric in suite.resolve()]
        if suite.headline and by_canonical.keys() >= set(own):
            own_metrics |= dict.fromkeys(own)
            shown.update(suite.headline)
        else:
            shown.update(own)
    return [by_canonical[one] for one in own_metrics if one not in shown]
