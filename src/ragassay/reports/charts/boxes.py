"""Pictures: box plots of files (a panel a metric, a row a file), and two runs compared (a line a
metric with its difference, interval and verdict; metrics of one scale above one axis)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.printable import grouped
from ragassay.engine.comparison.offline_agreement import judge_agreement
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import MetricSummary
from ragassay.engine.results.verdict import Difference
from ragassay.reports.charts import svg
from ragassay.reports.charts.svg import MUTED, NORMAL, SMALL, Chart, words
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import below, primary_of, reach_of, scale_of

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

_WIDTH, _ROW = 130.0, 34.0
"""The least width of a panel, and the least height of a row."""

_ABOVE, _AXIS = 56.0, 34.0
"""The heights that the lines above a panel and its axis take."""

_MEAN, _MEDIAN, _N, _BESIDE = 62, 118, 128, 178
"""Where the numbers beside a panel end, where their number begins, and the width that all take."""

_SCALE, _LINE, _HEADS, _TICKS, _WORDS = 520.0, 56.0, 26.0, 38.0, 330.0
"""Width of the scale; heights of a line, what is above it, and the axis; width beside it."""

_NOTHING = 1e-9
"""Differences below this are no reason for an axis of their own size: it would show rounding."""

_COLORS = {"better": svg.COLORS[0], "worse": svg.COLORS[1], "different": svg.COLORS[3]}
"""What a verdict looks like; the others are muted."""

_UNSETTLED = ("indicative", "not comparable")
"""Standings whose intervals are dashed: nothing may be concluded from them."""


def judges_of(result: Result) -> list[str]:
    """All judges that a run or file names, sorted."""
    return sorted({m.judge for m in result.summary.metrics.values() if m.judge})


def values_of(result: Result, name: str) -> svg.Values:
    """The values of a metric, shape ``(n,)``; empty where the file does not have it."""
    columns, known = result.columns, name in result.summary.metrics
    return columns.values(name)[columns.scored(name)] if known else np.empty(0)


def _why(result: Result, name: str) -> str:
    """Why a metric has no value: how many samples went unscored for which reason."""
    if name not in result.summary.metrics:
        return "not in this file"
    reasons = result.columns.tally(name).reasons.items()
    return f"no value: {', '.join(f'{wording.reason(code)} ({n:,})' for code, n in reasons)}"


@dataclass(frozen=True)
class BoxPanel:
    """A metric: for each file a box (a bar where the metric is a share of answers) with its points,
    mean, interval, median and n, or why there is no value. ``below`` is below the title,
    ``names`` is the width of the files' names (0 for none), ``row`` the height of a row."""

    metric: str
    title: str
    below: str
    series: tuple[Result, ...]
    share: bool = False
    names: float = 0.0
    width: float = _WIDTH
    row: float = _ROW

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with all that is around the scale."""
        height = _ABOVE + self.row * len(self.series) + _AXIS
        return self.names + self.width + _BESIDE, height

    def ends(self) -> tuple[float, float]:
        """The scale of the metric, the same for all files."""
        if self.share:
            return 0.0, 1.0
        metrics = [m for series in self.series if (m := series.summary.metrics.get(self.metric))]
        ends = [end for metric in metrics for end in svg.scale_of(metric)]
        ends += [end for metric in metrics for end in (metric.low, metric.high) if end is not None]
        return min(ends), max(ends)

    def shapes(self) -> str:
        """SVG, from the upper left corner."""
        left, beside = self.names, self.names + self.width
        metrics = [series.summary.metrics.get(self.metric) for series in self.series]
        notes = [wording.aggregate_note(m) for m in metrics if m is not None]
        word = next(filter(None, notes), "share" if self.share else "mean")
        heads = [(_MEAN, word)] + ([] if self.share else [(_MEDIAN, "median")])
        small = [words(head, beside + x, 48, "end", size=SMALL, color=MUTED) for x, head in heads]
        low, high = self.ends()
        x = svg.axis(low, high, 0, self.width)
        rows = [
            f'<g transform="translate(0,{at * self.row:.1f})" '
            f'color="{svg.COLORS[at % len(svg.COLORS)]}">{self._row(series, metric, x)}</g>'
            for at, (series, metric) in enumerate(zip(self.series, metrics, strict=True))
        ]
        form = ".0%" if self.share else ",.6g"
        scale = svg.grid(x, svg.ticks(low, high), self.row * len(self.series), form)
        return "".join(
            [
                words(self.title, left, 12, size=svg.HEADING, bold=True),
                words(self.below, left, 29, size=SMALL, color=MUTED),
                *small,
                words("n", beside + _N, 48, size=SMALL, color=MUTED),
                f'<g transform="translate({left:.1f},{_ABOVE})">{scale}{"".join(rows)}</g>',
            ]
        )

    def _row(self, series: Result, metric: MetricSummary | None, x: svg.Axis) -> str:
        half = min((0.33 if self.share else 0.2) * self.row, 60.0)
        y = (0.5 if self.share else 0.3) * self.row
        shapes = [words(series.name, -12, y, "end")] if self.names else []
        if metric is None or metric.mean is None:
            room = self.width + _N
            lines = svg.wrapped(_why(series, self.metric), room, SMALL, max(int(self.row / 15), 1))
            top = (self.row - 13 * (len(lines) - 1)) / 2
            shapes += [
                words(said, 6, top + 13 * at, size=SMALL, color=MUTED)
                for at, said in enumerate(lines)
            ]
            return "".join(shapes)
        values = values_of(series, self.metric)
        if self.share:
            for width, kind in ((self.width, "track"), (x(metric.mean), "share")):
                shapes.append(svg.rect(0, y - half, width, 2 * half, kind))
        elif box := svg.box_of(values):
            drawn, below = svg.thinned(values, MAX_POINTS), 0.4 * self.row
            shapes += svg.box_shapes(box, drawn, x, y, half, below)
        shapes += svg.mean_shapes(metric, x, y, dashed=is_hint(metric))
        shapes.append(words(self._number(metric.mean), self.width + _MEAN, y, "end", bold=True))
        if metric.low is not None and metric.high is not None:
            interval = f"[{self._number(metric.low)}, {self._number(metric.high)}]"
            shapes.append(words(interval, self.width + _MEDIAN, y + 14, "end", size=SMALL))
        if not self.share:
            shapes.append(words(svg.short_number(metric.median), self.width + _MEDIAN, y, "end"))
        n = wording.coverage(metric)
        return "".join([*shapes, words(n, self.width + _N, y, size=SMALL, color=MUTED)])

    def _number(self, value: float) -> str:
        return f"{value * 100:.3g} %" if self.share else svg.short_number(value)


def is_hint(metric: MetricSummary) -> bool:
    """Whether nothing may be concluded from a metric's values, by who judged them."""
    judged = judge_agreement(metric)
    return judged is not None and judged.indicative


def boxplots(result: Result) -> Chart:
    """A box with its points for each metric of a run, and the mean with its interval."""
    panels = [
        BoxPanel(m.name, m.name, wording.direction(m.higher_is_better), (result,))
        for m in result.summary.metrics.values()
        if values_of(result, m.name).size
    ]
    if not panels:
        raise UsageError("There is nothing to draw: no metric has a number.")
    judges = judges_of(result)
    judged = f" (judged by {', '.join(judges)})" if judges else ""
    return boxes(panels, f"{result.name}: scores of all samples{judged}", [], "sample")


def boxes(panels: Sequence[BoxPanel], title: str, notes: Sequence[str], point: str) -> Chart:
    """A picture of panels, about 16 to 9. ``point`` is what a point is, such as ``query``."""
    n, series = len(panels), panels[0].series
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    notes = [*notes, *_key(panels, point)]
    names = max(len(wording.one_line(item.name)) for item in series) * NORMAL * svg.CHAR + 12
    across = (svg.WIDTH - 2 * svg.MARGIN - names + svg.GAP) / columns - svg.GAP
    around = 2 * svg.TITLE + svg.NOTE_LINES * svg.NOTE_PITCH
    down = (svg.HEIGHT - 2 * svg.MARGIN - around) / math.ceil(n / columns) - _ABOVE - _AXIS
    width, row = max(across - _BESIDE, _WIDTH), max(down / len(series), _ROW)
    placed = (
        replace(panel, names=0.0 if at % columns else names, width=width, row=row)
        for at, panel in enumerate(panels)
    )
    return Chart(title, tuple(notes), tuple(placed), columns)


def _key(panels: Sequence[BoxPanel], point: str) -> list[str]:
    """What the marks mean."""
    series = panels[0].series
    shown = [panel.metric for panel in panels if not panel.share]
    if not shown:
        return []
    metrics = [m for item in series for m in item.summary.metrics.values()]
    better = " ↑ higher is better." if any(m.higher_is_better for m in metrics) else ""
    levels = {wording.percent(m.level) for m in metrics if m.low is not None}
    mean = f"mean, {' and '.join(sorted(levels))} interval" if levels else "mean"
    notes = [wording.sentence("box_key", point=point, mean=mean) + better]
    most = max(values_of(item, name).size for item in series for name in shown)
    if most > MAX_POINTS:
        notes.append(wording.sentence("points_left_out", drawn=MAX_POINTS, most=most))
    return notes


@dataclass(frozen=True)
class DifferencePanel:
    """The metrics of one scale, a line each; see `reach_of`; ``names`` is their names' width."""

    differences: tuple[Difference, ...]
    reach: float
    names: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with all that is around the scale."""
        height = _HEADS + _LINE * len(self.differences) + _TICKS
        return self.names + _SCALE + _WORDS, height

    def shapes(self) -> str:
        """SVG, from the upper left corner."""
        half = 1.1 * self.reach if self.reach > _NOTHING else 1.0
        x = svg.axis(-half, half, 0, _SCALE)
        height = _LINE * len(self.differences)
        places = svg.ticks(-half, half) if self.reach > _NOTHING else []
        heads = (("start", 0.0, "← old higher"), ("middle", _SCALE / 2, "mean, new - old"),
                 ("end", _SCALE, "new higher →"))  # fmt: skip
        drawn = [svg.grid(x, places, height, "+,.6g"), svg.line(x(0), 0, x(0), height, "zero")]
        drawn += [words(said, at, -14, end, size=SMALL, color=MUTED) for end, at, said in heads]
        for at, difference in enumerate(self.differences):
            drawn.append(self._line(difference, x, (at + 0.5) * _LINE))
        return f'<g transform="translate({self.names:.1f},{_HEADS})">{"".join(drawn)}</g>'

    def _line(self, d: Difference, x: svg.Axis, y: float) -> str:
        color, right = _COLORS.get(d.verdict, MUTED), _SCALE + 16
        dashed = ' class="dashed"' if d.standing in _UNSETTLED else ""
        bounds = ""
        if d.low is not None and d.high is not None:
            bounds = f"[{_signed(d.low)}, {_signed(d.high)}]"
        p = "" if d.p_adjusted is None else f"p {wording.p_value(d.p_adjusted)}"
        equal = f", {d.ties:,} equal" if d.ties else ""
        wins = f"new higher on {d.wins:,}, lower on {d.losses:,}{equal}"
        direction = wording.direction(d.higher_is_better)
        return "".join(
            [
                f'<g color="{color}"{dashed}>{"".join(svg.difference_shapes(d, x, y))}</g>',
                words(d.name, -14, y - 8, "end", bold=True),
                words(direction, -14, y + 9, "end", size=SMALL, color=MUTED),
                words(f"{_signed(d.diff)} · {wording.verdict(d)}", right, y - 16, color=color,
                      bold=True),
                words(" · ".join(filter(None, (bounds, p))), right, y + 1, size=SMALL),
                words(wins, right, y + 17, size=SMALL, color=MUTED),
            ]
        )  # fmt: skip


def overview(comparison: Comparison, new: Result) -> Chart:
    """The comparison of a new run (A) with an old one (B)."""
    comparison = primary_of(comparison)
    tested = [d for d in comparison.differences if d.diff is not None]
    if not tested:
        raise UsageError("The comparison has no difference to draw.")
    scales = {d.name: scale_of(new.summary.metrics[d.name]) for d in tested}
    reach = reach_of(tested, scales)
    names = max(len(wording.one_line(d.name)) for d in tested) * svg.NORMAL * 0.68 + 14
    panels = (
        DifferencePanel(tuple(members), reach[scale], max(names, 200.0))
        for scale, members in grouped((scales[d.name], d) for d in tested).items()
    )
    title = wording.against(comparison)
    return Chart(title, tuple(_compared_notes(comparison)), tuple(panels))


def _compared_notes(comparison: Comparison) -> list[str]:
    test = "No metric is tested."
    if comparison.n_tested:
        kind = "Welch's test" if comparison.unpaired else "paired sign-flip test"
        test = f"Verdicts: {kind}, {wording.percent(1 - comparison.level)} level."
    dashed = any(d.standing in _UNSETTLED for d in comparison.differences)
    return [
        *[svg.DASHED] * dashed,
        f"Compared on {wording.compared_on(comparison)}. {test}",
        *(line.text for block in below(comparison) for line in block.lines),
        *(str(note) for note in comparison.notes if note.kind == "clustered"),
    ]


def _signed(value: float | None) -> str:
    size = value or 0.0
    said = svg.short_number(abs(size))
    return f"{'+' if size > 0 else '-'}{said}" if float(said.replace(",", "")) else "0"
