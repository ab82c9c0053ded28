"""What a comparison shows: a row a metric, one sentence, and what must be known to read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ragassay.base.printable import few, grouped, plural
from ragassay.engine.diagnosis.moved_classes import with_change
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import MetricSummary
from ragassay.engine.results.verdict import Difference
from ragassay.reports.charts import svg
from ragassay.reports.model import Block, Cell, Column, Lines, Report, Style, Table, lines, table
from ragassay.reports.text import wording
from ragassay.reports.views.diagnosis_view import broken_line, right_moved
from ragassay.reports.views.summary_view import name_of

MOST_NOTES, MOST_ROWS = 4, 10
"""Sentences below a comparison, and metrics in its table, unless everything is shown."""

_VERDICT_STYLES: dict[str, Style] = {"better": "good", "worse": "bad", "different": "doubt"}


def comparison_report(
    comparison: Comparison, *, full: bool = False, broken: bool = False
) -> Report:
    """A comparison of two runs: primary metrics or all; with ``broken``, why queries are broken."""
    comparison = with_change(comparison)
    shown = comparison if full else primary_of(comparison)
    rows = shown if full else _most_telling(shown)
    blocks: list[Block] = [differences(rows), *([statistics(rows)] if full else [])]
    hidden = len(shown.with_scores) - len(rows.with_scores)
    verdict, *further = verdicts(comparison, tabled=not (full or broken or hidden))
    last, most = broken_line(comparison, classes=full or broken), None
    unsaid = len(further) + len(last)
    if not full:
        # What is missing or unlike in the data is said before the faults that moved.
        room = max(1, MOST_NOTES - sum(note.severity == "warning" for note in shown.brought))
        further = further[: max(1, room - len(last))]
        last = last[: room - len(further)]
        most = MOST_NOTES - len(further) - len(last)
    unsaid -= len(further) + len(last)
    blocks += [lines([*further, *last], "text"), *below(shown, hidden, most=most, unsaid=unsaid)]
    title, about = wording.against(comparison), wording.compared_on(comparison)
    return Report(title, tuple(blocks), about, verdict=verdict)


def primary_of(comparison: Comparison) -> Comparison:
    """The comparison with its primary metrics alone; what was tested together stays as it is."""
    names = comparison.primary or [difference.name for difference in comparison.differences]
    differences = tuple(d for d in comparison.differences if d.name in names)
    others = {d.name for d in comparison.differences if d.name not in names}
    brought = tuple(
        replace(note, names=kept)
        for note in comparison.brought
        if (kept := tuple(name for name in note.names if name not in others)) or not note.names
    )
    return replace(comparison, differences=differences, brought=brought)


def _most_telling(comparison: Comparison) -> Comparison:
    """The comparison with the metrics that a short table has: first those with a verdict."""
    rows = comparison.with_scores
    kept = sorted(rows, key=lambda d: wording.verdict(d) == "no difference shown")[:MOST_ROWS]
    return replace(comparison, differences=tuple(row for row in rows if row in kept))


def below(
    comparison: Comparison, hidden: int = 0, *, most: int | None = MOST_NOTES, unsaid: int = 0
) -> tuple[Lines, Lines]:
    """Warnings and notes below a comparison: the first ones, where not all are asked for, and how
    many more there are (with those ``unsaid`` above), and ``hidden`` metrics."""
    warnings = list(comparison.warnings)
    notes = wording.all_said(comparison.notes, "note")
    if most is None:
        notes += wording.all_said(comparison.notes, "detail")
    else:
        kept, n = max(most, 0), len(warnings) + len(notes)
        warnings, notes = warnings[:kept], notes[: max(0, kept - len(warnings))]
        unsaid += n - len(warnings) - len(notes)
    counts = (hidden, "more metric"), (unsaid, "more note")
    more = [plural(n, what) for n, what in counts if n]
    where = wording.by_flag("--full", "in .notes and .differences")
    notes += [f"{' and '.join(more)}: {where}, or the HTML page."] * bool(more)
    return lines(warnings, "warning"), lines(notes)


def verdicts(comparison: Comparison, *, tabled: bool = False) -> list[str]:
    """Whether the change is better: right answers in both runs and the classes of failing samples
    that moved (of a comparison `with_change`); else, or where no table says so, the primary metrics
    that are better or worse. Second is the slice that fell although its metric did not."""
    shown = primary_of(comparison)
    said = wording.all_said(shown.notes, "headline")
    too_few = any(note.kind == "too_few" for note in shown.notes)
    change = comparison.change
    corrected = () if comparison.correction == "none" else shown.differences
    right = [] if change is None else right_moved(change, too_few, corrected)
    if too_few or (tabled and change is not None and change.right is not None):
        return [*right[:1], *said, *right[1:]]
    by_word = grouped((wording.claim(d), d.name) for d in shown.differences)
    if not by_word:
        return ["The two runs share no metric."]
    found = [
        f"{word} on {few(names)}{hint}"
        for hint in ("", f" ({wording.HINT})")
        for word in ("better", "worse", "different")
        if (names := by_word.get(f"{word}{hint}", []))
    ]
    if not found:
        if right and {*map(wording.verdict, comparison.findings)} == {"no difference shown"}:
            return [*right[:1], *said, *right[1:]]
        others = (f"{_PLAIN.get(word, word)} on {len(names)}" for word, names in by_word.items())
        found = [f"{', '.join(others)} of {plural(len(shown.differences), 'metric')}"]
    first = "; ".join(found)
    first = f"{first[0].upper()}{first[1:]}."
    return [*right[:1], *said, *right[1:], first] if right else [first, *said]


_PLAIN = {"exploratory": "no test", "unknown": "nothing to compare"}
"""What the sentence of a comparison calls a verdict otherwise than its table."""


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


def differences(comparison: Comparison) -> Table:
    """A row a metric: both means, the difference and the verdict."""
    columns = [
        Column("metric", "name"),
        *map(Column, ("new", "old")),
        Column("difference", style="strong"),
        Column("verdict", "label"),
        Column("interval", drop=1, style="dim", under="difference"),
        Column("← old, new →", "figure"),
    ]
    metrics = {} if comparison.runs is None else comparison.runs[0].summary.metrics
    scales = {
        d.name: scale_of(metrics[d.name]) if d.name in metrics else d.name
        for d in comparison.differences
    }
    reach = reach_of(comparison.differences, scales)
    rows = []
    for d in comparison.with_scores:
        extent = 1.08 * reach[scales[d.name]] or 1.0
        style = _VERDICT_STYLES.get(d.verdict, "doubt" if d.hint else "")
        cells: list[Cell | str] = [
            name_of(d.name, d.higher_is_better),
            wording.number(d.a_mean),
            wording.number(d.b_mean),
            wording.number(d.diff, sign=True),
            Cell(wording.verdict(d), style=style),
            wording.bounds(d.low, d.high, sign=True),
            Cell(figure=partial(svg.difference_bar, d, extent)),
        ]
        rows.append(cells)
    return table(columns, rows)


def statistics(comparison: Comparison) -> Table:
    """A row a metric: what the verdict rests on."""
    heads = ("interval", "p", "p, t-test", "p, corrected", "n", "detectable")
    rows: Iterable[Sequence[Cell | str]] = (
        (
            name_of(d.name, d.higher_is_better),
            wording.bounds(d.low, d.high, sign=True),
            *map(wording.p_value, (d.p_value, d.t_p_value, d.p_adjusted)),
            f"{d.n:,}",
            wording.number(d.detectable),
        )
        for d in comparison.with_scores
    )
    return table([Column("metric", "name"), *map(Column, heads)], rows)
