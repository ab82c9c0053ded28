"""What a comparison shows: a row a metric, one sentence, and what must be known to read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from ragassay.base.counts import plural
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import svg
from ragassay.reports.model import Block, Cell, Column, Lines, Report, Style, Table, lines, table
from ragassay.reports.text import wording
from ragassay.reports.views.summary_view import name_of

MOST_NOTES = 4
"""Sentences below a comparison, unless everything is shown."""

_VERDICT_STYLES: dict[str, Style] = {"better": "good", "worse": "bad", "different": "doubt"}


def comparison_report(comparison: Comparison, *, full: bool = False) -> Report:
    """A comparison of two runs."""
    shown = [differences(comparison, full=full)] if comparison.with_scores else []
    blocks: tuple[Block, ...] = (*shown, *below(comparison, full=full))
    return Report(wording.against(comparison), blocks, verdict=verdict_line(comparison))


def below(comparison: Comparison, *, full: bool = False) -> tuple[Lines, Lines]:
    """Warnings and notes below a comparison: at most `MOST_NOTES`, where not all are asked for."""
    warnings = list(comparison.warnings)
    notes = wording.all_said(comparison.notes, "note")
    if full:
        notes += wording.all_said(comparison.notes, "detail")
    elif (n := len(warnings) + len(notes)) > MOST_NOTES:
        kept = MOST_NOTES - 1
        warnings, notes = warnings[:kept], notes[: max(0, kept - len(warnings))]
        notes.append(f"{plural(n - kept, 'more note')}: --full, or the HTML page.")
    return lines(warnings, "warning"), lines(notes)


def verdict_line(comparison: Comparison) -> str:
    """One sentence that says how the comparison ended."""
    tally: Counter[str] = Counter(difference.verdict for difference in comparison.differences)
    words = {"unknown": "not testable", "indicative": "only a hint"}
    order = ("better", "worse", "different", "no difference shown", "unknown", "indicative",
             "exploratory", "not comparable")  # fmt: skip
    pieces = [f"{words.get(one, one)} on {tally[one]}" for one in order if tally[one]]
    if not pieces:
        return "The two runs share no metric."
    total = plural(len(comparison.differences), "metric")
    return f"{comparison.a} against {comparison.b}: {', '.join(pieces)} of {total}."


def reach_of(
    differences: Iterable[Difference], scales: Mapping[str, object]
) -> dict[object, float]:
    """The largest difference or end of an interval on each scale."""
    reach: dict[object, float] = {}
    for d in differences:
        ends = [abs(x) for x in (d.diff, d.low, d.high) if x is not None]
        reach[scales[d.name]] = max([reach.get(scales[d.name], 0.0), *ends])
    return reach


def scale_of(metric: MetricSummary) -> object:
    """A key that is equal for metrics that share an axis: those of one closed range."""
    return metric.name if None in metric.bounds else metric.bounds


def differences(comparison: Comparison, *, full: bool = False) -> Table:
    """A row a metric: both means, the difference and the verdict."""
    columns = [
        Column("metric", "name"),
        Column("new"),
        Column("old"),
        Column("difference", style="strong"),
        Column("verdict", "label"),
        Column("interval", drop=0 if full else 1, style="dim", under="difference"),
        Column("← old, new →", "figure"),
    ]
    if full:
        columns += map(Column, ("p", "t-test p", "corrected p", "n", "detectable"))
    metrics = {} if comparison.runs is None else comparison.runs[0].summary.metrics
    scales = {
        d.name: scale_of(metrics[d.name]) if d.name in metrics else d.name
        for d in comparison.differences
    }
    reach = reach_of(comparison.differences, scales)
    rows = []
    for d in comparison.with_scores:
        extent = 1.08 * reach[scales[d.name]] or 1.0
        cells: list[Cell | str] = [
            name_of(d.name, d.higher_is_better),
            wording.number(d.a_mean),
            wording.number(d.b_mean),
            wording.number(d.diff, sign=True),
            Cell(wording.verdict(d), style=_VERDICT_STYLES.get(d.verdict, "")),
            wording.bounds(d.low, d.high, sign=True),
            Cell(figure=partial(svg.difference_bar, d, extent)),
        ]
        if full:
            cells += map(wording.p_value, (d.p_value, d.t_p_value, d.p_adjusted))
            cells += (f"{d.n:,}", wording.number(d.detectable))
        rows.append(cells)
    return table(columns, rows)


def only(comparison: Comparison, names: Collection[str]) -> Comparison:
    """The comparison with some of its metrics; what was tested together stays as it is."""
    differences = tuple(one for one in comparison.differences if one.name in names)
    brought = tuple(
        replace(note, names=kept)
        for note in comparison.brought
        if (kept := tuple(name for name in note.names if name in names)) or not note.names
    )
    return replace(comparison, differences=differences, brought=brought)
