"""Tables for the terminal: they fit its width, and carry no colour where none is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.summary import MetricSummary, Slice, Summary, missing_by_accident
from ragassay.reports.text import grouping, wording
from ragassay.reports.text.footnotes import comparison_footnotes, summary_footnotes
from ragassay.reports.text.footnotes.comparison_footnotes import Lines
from ragassay.reports.text.responsive_table import Name, responsive, ruled, table_width

_VERDICT_STYLE = {"better": "green", "worse": "red", "different": "yellow"}
_BAR_WIDTH = 12
_WIDE_SUMMARY, _BAR_SUMMARY = 110, 80

_MEANS = ("new", "old")
_COMPARED = {
    96: (*_MEANS, "difference", "interval", "verdict"),
    60: (*_MEANS, "difference", "verdict"),
    0: ("/".join(_MEANS), "difference/verdict"),
}
_EVERYTHING = {
    134: (*_MEANS, "difference", "interval", "p", "t-test p", "corrected p", "verdict", "n",
          "detectable"),
    100: (*_MEANS, "difference/interval", "p/corrected p", "t-test p", "verdict/n, detectable"),
    60: ("/".join(_MEANS), "difference/interval", "p, t-test p, corrected p/verdict/n, detectable"),
    0: ("/".join(_MEANS), "difference/interval/p, t-test p/corrected p/verdict/n, detectable"),
}  # fmt: skip
"""The columns of a comparison by the least width that they need: the lines of a cell stand between
slashes."""

_COMPARED_STYLES = {
    "difference": "bold",
    "interval": "dim",
    "n, detectable": "dim",
    "detectable": "dim",
}


@responsive
def summary_table(summary: Summary, width: int, plain: bool) -> Iterator[RenderableType]:
    """The metrics of a run, with what must be known to read them."""
    wide, bars = width >= _WIDE_SUMMARY, width >= _BAR_SUMMARY
    bars = bars and any(_bar(metric, plain) for metric in summary.metrics.values())
    suite = summary.suite and f"suite {summary.suite}"
    yield _heading(summary.title, suite, summary.system, wording.size(summary))
    table = ruled("metric", "mean", "interval", "scored")
    if bars:
        table.add_column("", no_wrap=True, width=_BAR_WIDTH)
    judged = wide and any(metric.judge for metric in summary.metrics.values())
    if judged:
        table.add_column("judge", style="dim", overflow="fold")
    if wide:
        table.add_column("unscored", style="dim", overflow="fold")
    group = ""
    for metric in summary.metrics.values():
        if metric.group != group:
            group = metric.group
            table.add_row(Text(wording.one_line(group.partition(" (")[0]), "italic dim"))
        cells: list[RenderableType] = [
            _name(metric.name, metric.higher_is_better, wording.aggregate_note(metric), plain),
            Text(_dash(wording.number(metric.mean), plain), style="bold"),
            Text(_dash(wording.bounds(metric.low, metric.high), plain), style="dim"),
            Text(
                wording.coverage(metric),
                style="" if metric.n_scored == metric.n_total else "yellow",
            ),
        ]
        if bars:
            cells.append(Text(_bar(metric, plain), style="cyan"))
        if judged:
            cells.append(Text(wording.judge_and_agreement(metric)))
        if wide:
            cells.append(Text(wording.reasons(metric.unscored)))
        table.add_row(*cells)
    if summary.is_empty:
        yield notes_below((), summary.warnings, plain)
        return
    yield Padding(table, (0, 0, 0, 1))
    notes = summary_footnotes.summary_notes(
        summary, judged_marked=wide
    ) + summary_footnotes.label_notes(summary)
    if not wide:
        notes += [f"Unscored: {note}." for note in summary_footnotes.unscored_notes(summary)]
    yield notes_below(notes, summary.warnings, plain)
    if summary.incomplete:
        where = " (see 'unscored')" if summary.n_missing else ""
        yield _warning(f"{missing_by_accident(summary)}{where}: this run is incomplete.", plain)


@responsive
def slices_table(summary: Summary, width: int, plain: bool) -> Iterator[RenderableType]:
    """The means of each slice; nothing when the run has no slices."""
    columns = grouping.by_column(summary.slices)
    names = max((len(name) for name in summary.metrics), default=0)
    fit = max(1, (width - min(names, width // 3) - 5) // 17)
    for column, pieces in columns.items():
        for first in range(0, len(pieces), fit):
            yield _slice_block(column, pieces[first : first + fit], plain)
    if columns:
        yield notes_below(["Each cell: mean, and scored/total of the slice."], (), True)


@responsive
def comparison_table(comparison: Comparison, width: int, plain: bool) -> Iterator[RenderableType]:
    """The differences between two runs: means, difference, interval and verdict, and what must be
    known to read them."""
    lines = comparison_footnotes.comparison_lines(comparison, width - 2)
    yield from _comparison(comparison, _COMPARED, lines, width, plain)


@responsive
def full_comparison(comparison: Comparison, width: int, plain: bool) -> Iterator[RenderableType]:
    """The differences between two runs with their tests, and how they were made."""
    lines = comparison_footnotes.every_line(comparison)
    yield from _comparison(comparison, _EVERYTHING, lines, width, plain)


def _comparison(
    comparison: Comparison,
    layouts: Mapping[int, Sequence[str]],
    lines: Lines,
    width: int,
    plain: bool,
) -> Iterator[RenderableType]:
    yield _heading(wording.against(comparison))
    rows = comparison.with_scores
    names = [_name(d.name, d.higher_is_better, "", plain) for d in rows]
    least_name = max((name.least for name in names), default=0)
    for shown in (columns for least, columns in layouts.items() if width >= least):
        columns = [column.split("/") for column in shown]
        cells = [
            [Text("\n").join(_compared(d, line, plain) for line in lines) for lines in columns]
            for d in rows
        ]
        heads = ["\n".join(one) for one in columns]
        sizes = [
            max(
                cell_len(line)
                for cell in (head, *(row[at] for row in cells))
                for line in str(cell).split("\n")
            )
            for at, head in enumerate(heads)
        ]
        if least_name + table_width(sizes) < width:
            break
    table = ruled()
    table.add_column("\n" * (max(map(len, columns)) > 1) + "metric", overflow="fold")
    for at, head in enumerate(heads):
        table.add_column(
            head, justify="left" if "verdict" in columns[at][0] else "right", no_wrap=True
        )
    for name, row in zip(names, cells, strict=True):
        table.add_row(name, *row)
    if rows:
        yield Padding(table, (0, 0, 0, 1))
    yield Padding(
        Text(wording.one_line(comparison_footnotes.verdict_line(comparison)), "bold"), (0, 1)
    )
    yield notes_below(lines.notes, lines.warnings, plain)


def _compared(d: Difference, line: str, plain: bool) -> Text:
    """One line of a cell of a comparison."""
    cells = wording.compared(d)
    pieces = [_dash(cells[head], plain) for head in line.split(", ")]
    if line == "n, detectable":
        pieces[0] = f"n={pieces[0]}"
    style = _VERDICT_STYLE.get(d.verdict, "") if line == "verdict" else _COMPARED_STYLES.get(line)
    return Text(", ".join(pieces), style or "")


def _slice_block(column: str, pieces: Sequence[Slice], plain: bool) -> RenderableType:
    table = ruled()
    table.add_column(Text(f"{wording.one_line(column)}\n", "bold"), overflow="fold")
    for piece in pieces:
        head = Text(f"{wording.one_line(piece.value)}\nn={piece.n:,}")
        table.add_column(head, justify="right", overflow="fold")
    for name in dict.fromkeys(name for piece in pieces for name in piece.metrics):
        metrics = [piece.metrics.get(name) for piece in pieces]
        higher = next((m.higher_is_better for m in metrics if m), None)
        cells = [Text("") if metric is None else _slice_cell(metric, plain) for metric in metrics]
        table.add_row(_name(name, higher, "", plain), *cells)
    return Padding(table, (0, 0, 0, 1))


def _slice_cell(metric: MetricSummary, plain: bool) -> Text:
    mean = _dash(wording.number(metric.mean), plain)
    return Text.assemble(mean, (f" {wording.coverage(metric)}", "dim"))


def _heading(*pieces: str) -> RenderableType:
    first, *rest = (wording.one_line(piece) for piece in pieces if piece)
    text = Text(first, style="bold")
    for piece in rest:
        text.append(f", {piece}", style="not bold")
    return Padding(text, (1, 1, 0, 1))


def _name(name: str, higher: bool | None, note: str, plain: bool) -> Name:
    text = Text(wording.one_line(name))
    if note:
        text.append(f" ({note})", style="dim")
    mark = wording.arrow(higher, ascii_only=plain)
    return Name(text.append(f" {mark}", style="dim") if mark else text)


def notes_below(notes: Iterable[str], warnings: Iterable[str], plain: bool) -> RenderableType:
    """The notes and warnings below a table."""
    lines: list[RenderableType] = [Text(wording.one_line(note), style="dim") for note in notes]
    lines += [_warning(warning, plain, pad=False) for warning in warnings]
    return Padding(Group(*lines), (0, 1, 1, 1)) if lines else Text("")


def _warning(text: str, plain: bool, *, pad: bool = True) -> RenderableType:
    line = Text(f"{'!' if plain else '⚠'} {wording.one_line(text)}", style="yellow")
    return Padding(line, (0, 1)) if pad else line


def _dash(text: str, plain: bool) -> str:
    return "-" if plain and text == wording.NOTHING else text


def _bar(metric: MetricSummary, plain: bool) -> str:
    """Where the mean lies between the metric's bounds."""
    low, high = metric.bounds
    if low is None or high is None or metric.mean is None or high <= low:
        return ""
    share = min(1.0, max(0.0, (metric.mean - low) / (high - low)))
    if plain:
        full = round(share * _BAR_WIDTH)
        return "#" * full + "." * (_BAR_WIDTH - full)
    eighths = round(share * _BAR_WIDTH * 8)
    full, rest = divmod(eighths, 8)
    bar = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return bar.ljust(_BAR_WIDTH, "·")
