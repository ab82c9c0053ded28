"""Box plots of several files: a panel a metric, a row a file. All numbers are the results' own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results import Result
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import figures, svg
from ragassay.reports.charts.svg import MUTED, NORMAL, SMALL, Chart, words
from ragassay.reports.text import wording

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

_WIDTH, _ROWS = 130.0, (34.0, 170.0)
"""The least width of a panel, and the least and the greatest height of a row."""

_ABOVE, _AXIS = 56.0, 34.0
"""The heights that the lines above a panel and its axis take."""

_MEAN, _MEDIAN, _N, _BESIDE = 52, 108, 120, 170
"""Where the numbers beside a panel end, where their number begins, and the width that all take."""


@dataclass(frozen=True, slots=True)
class Series:
    """One file, or one system of a file, under its name in the picture."""

    name: str
    result: Result

    def metric(self, name: str) -> MetricSummary | None:
        """The metric's summary; ``None`` where the file does not have it."""
        return self.result.summary.metrics.get(name)

    @property
    def judges(self) -> list[str]:
        """All judges that the file names, sorted."""
        return sorted({m.judge for m in self.result.summary.metrics.values() if m.judge})

    def why(self, name: str) -> str:
        """Why a metric has no value: how many samples went unscored for which reason."""
        if name not in self.result.summary.metrics:
            return "not in this file"
        reasons = self.result.columns.tally(name).reasons.items()
        why = ", ".join(f"{wording.reason(code)} ({n:,})" for code, n in reasons)
        return f"no value: {why}"

    def values(self, name: str) -> figures.Values:
        """The values of a metric, shape ``(n,)``; empty where the file does not have it."""
        columns = self.result.columns
        if name not in self.result.summary.metrics:
            return np.empty(0)
        return columns.values(name)[columns.scored(name)]


@dataclass(frozen=True)
class BoxPanel:
    """A metric: for each file a box (a bar where the metric is a share of answers) with its points,
    mean, interval, median and n, or why there is no value. ``below`` stands below the title,
    ``names`` is the width of the files' names (0 for none), ``row`` the height of a row."""

    metric: str
    title: str
    below: str
    series: tuple[Series, ...]
    share: bool = False
    names: float = 0.0
    width: float = _WIDTH
    row: float = _ROWS[0]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with all that is around the scale."""
        height = _ABOVE + self.row * len(self.series) + _AXIS
        return self.names + self.width + _BESIDE, height

    def ends(self) -> tuple[float, float]:
        """The scale of the metric, the same for all files."""
        if self.share:
            return 0.0, 1.0
        metrics = [m for one in self.series if (m := one.metric(self.metric)) is not None]
        ends = [end for metric in metrics for end in figures.scale_of(metric)]
        ends += [end for metric in metrics for end in (metric.low, metric.high) if end is not None]
        return min(ends), max(ends)

    def shapes(self) -> str:
        """SVG, from the upper left corner."""
        left, beside = self.names, self.names + self.width
        metrics = [one.metric(self.metric) for one in self.series]
        notes = [wording.aggregate_note(m) for m in metrics if m is not None]
        word = next(filter(None, notes), "share" if self.share else "mean")
        heads = [(_MEAN, word)] + ([] if self.share else [(_MEDIAN, "median")])
        small = [words(head, beside + x, 48, "end", size=SMALL, color=MUTED) for x, head in heads]
        low, high = self.ends()
        x = svg.axis(low, high, 0, self.width)
        rows = [
            f'<g transform="translate(0,{at * self.row:.1f})" '
            f'color="{svg.COLORS[at % len(svg.COLORS)]}">{self._row(one, metric, x)}</g>'
            for at, (one, metric) in enumerate(zip(self.series, metrics, strict=True))
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

    def _row(self, one: Series, metric: MetricSummary | None, x: figures.Axis) -> str:
        half = min(0.2 * self.row, 30.0)
        y = (0.5 if self.share else 0.3) * self.row
        shapes = [words(one.name, -12, y, "end")] if self.names else []
        if metric is None or metric.mean is None:
            room = self.width + _N
            lines = svg.wrapped(one.why(self.metric), room, SMALL, max(int(self.row / 15), 1))
            top = (self.row - 13 * (len(lines) - 1)) / 2
            shapes += [
                words(said, 6, top + 13 * at, size=SMALL, color=MUTED)
                for at, said in enumerate(lines)
            ]
            return "".join(shapes)
        values = one.values(self.metric)
        if self.share:
            shapes.append(svg.rect(0, y - 0.33 * self.row, self.width, 0.66 * self.row, "track"))
            width = x(metric.mean)
            shapes.append(svg.rect(0, y - 0.33 * self.row, width, 0.66 * self.row, "share"))
        elif box := figures.box_of(values):
            drawn, below = figures.thinned(values, MAX_POINTS), 0.4 * self.row
            shapes += figures.box_shapes(box, drawn, x, y, half, below)
        shapes += figures.mean_shapes(metric, x, y, dashed=is_hint(metric))
        mean = f"{metric.mean * 100:.1f} %" if self.share else svg.short_number(metric.mean)
        shapes.append(words(mean, self.width + _MEAN, y, "end", bold=True))
        if not self.share:
            shapes.append(words(svg.short_number(metric.median), self.width + _MEDIAN, y, "end"))
        n = wording.coverage(metric)
        return "".join([*shapes, words(n, self.width + _N, y, size=SMALL, color=MUTED)])


def is_hint(metric: MetricSummary) -> bool:
    """Whether nothing may be concluded from a metric's values, by who judged them."""
    judged = judge_agreement(metric)
    return judged is not None and judged.indicative


def boxplots(result: Result) -> Chart:
    """A box with its points for each metric of a run, and the mean with its interval.

    Raises:
        UsageError: the run has no number.
    """
    name = wording.one_line(result.name)
    one = Series(name, result)
    panels = [
        BoxPanel(m.name, m.name, wording.direction(m.higher_is_better), (one,))
        for m in result.summary.metrics.values()
        if one.values(m.name).size
    ]
    if not panels:
        raise UsageError("There is nothing to draw: no metric has a number.")
    judged = f" (judged by {', '.join(one.judges)})" if one.judges else ""
    return boxes(panels, f"{name}: scores of all samples{judged}", [], "sample")


def boxes(panels: Sequence[BoxPanel], title: str, notes: Sequence[str], point: str) -> Chart:
    """A picture of panels, about 16 to 9. ``point`` is what a point is, such as ``query``."""
    n, series = len(panels), panels[0].series
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    notes = [*notes, *_key(panels, point)]
    names = max(len(wording.one_line(one.name)) for one in series) * NORMAL * svg.CHAR + 12
    across = (svg.WIDTH - 2 * svg.MARGIN - names + svg.GAP) / columns - svg.GAP
    head = 2 * svg.TITLE + len(notes) * svg.NOTE_PITCH
    down = (svg.HEIGHT - 2 * svg.MARGIN - head) / math.ceil(n / columns) - _ABOVE - _AXIS
    width, row = max(across - _BESIDE, _WIDTH), min(max(down / len(series), _ROWS[0]), _ROWS[1])
    placed = (
        replace(one, names=0.0 if at % columns else names, width=width, row=row)
        for at, one in enumerate(panels)
    )
    return Chart(title, tuple(notes), tuple(placed), columns)


def _key(panels: Sequence[BoxPanel], point: str) -> list[str]:
    """What the marks mean."""
    series = panels[0].series
    shown = [panel.metric for panel in panels if not panel.share]
    if not shown:
        return []
    metrics = [m for one in series for m in one.result.summary.metrics.values()]
    better = " ↑ higher is better." if any(m.higher_is_better for m in metrics) else ""
    notes = [
        f"Point: one {point}. Box: middle half and median; whiskers: up to 1.5 boxes. "
        f"Diamond: {_interval_words(metrics)}.{better}"
    ]
    most = max(one.values(name).size for one in series for name in shown)
    if most > MAX_POINTS:
        notes.append(
            f"Points: at most {MAX_POINTS:,} a row are drawn, evenly spaced by rank (of up to "
            f"{most:,}); boxes, means and intervals are of all values."
        )
    return notes


def _interval_words(metrics: Sequence[MetricSummary]) -> str:
    """Level and kind of the intervals drawn, where they agree."""
    kinds = {(m.level, m.interval) for m in metrics if m.low is not None}
    if len(kinds) != 1:
        return "mean with its interval" if kinds else "mean"
    ((level, kind),) = kinds
    return f"mean, {wording.percent(level)} interval ({wording.INTERVALS.get(kind, kind)})"
