"""Box plots of several files: a panel a metric, a row a file.

All numbers are the results' own; the chart library only draws them. Names from the data stand in
values, never in field names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results import Result
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart
from ragassay.reports.charts.drawing import INK, MUTED, Spec
from ragassay.reports.plots import marks
from ragassay.reports.plots.marks import HEADING, NORMAL, SMALL, Channel, mark
from ragassay.reports.plots.series import PlotPanel, Series, bare
from ragassay.reports.text import wording

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

_WIDTH, _ROWS = 130.0, (34.0, 170.0)
"""The least width of a panel, and the least and the greatest height of a row."""

_MIDDLE, _HALF = -0.2, 0.2
"""Of a box, as shares of its row: its points lie below."""

_TITLE, _BELOW, _HEADS, _AXIS = -42, -25, -8, 90
"""Where the lines above a panel end, and the height that they and its axis take."""

_MEAN, _MEDIAN, _N, _BESIDE = 52, 108, 120, 200
"""Where the numbers beside a panel end, where their number begins, and the width that all take."""

_INSET, _PITCH = 6.0, 13.0
"""Of the words in a row without a value: how far they begin within the panel, and from one line to
the next."""

_TRACK = "#eef0f3"


def boxplots(result: Result) -> Spec:
    """A box with its points for each metric of a run, and the mean with its interval.

    Raises:
        UsageError: the run has no number.
    """
    name = wording.one_line(result.name)
    one = Series(name, result)
    panels = [bare(m) for m in result.summary.metrics.values() if one.size(m.name)]
    if not panels:
        raise UsageError("There is nothing to draw: no metric has a number.")
    judged = f" (judged by {', '.join(one.judges)})" if one.judges else ""
    return boxes([one], panels, f"{name}: scores of all samples{judged}", [], "sample")


def boxes(
    series: Sequence[Series],
    panels: Sequence[PlotPanel],
    title: str,
    notes: Sequence[str],
    point: str,
) -> Spec:
    """For each metric a panel, in it for each file a box, its points, mean, interval, median and n;
    for a share a bar instead. A metric without a value has a panel that says why. ``point`` is what
    a point is, such as ``query``."""
    n = len(panels)
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    head = marks.note_lines([*notes, *_key(series, panels, point)])
    width, row = _size(series, columns, math.ceil(n / columns), len(head))
    size = {"width": width, "height": row * len(series)}
    drawn = []
    for at, panel in enumerate(panels):
        layers = (_bars if panel.share else _boxes)(series, panel.metric)
        texts = _texts(series, panel, width, row, first=at % columns == 0)
        drawn.append({"layer": [*layers, *texts], **size})
    chart = {"concat": drawn, "columns": columns, "spacing": {"row": 20, "column": 30}}
    return marks.titled(chart, title, head)


def _size(series: Sequence[Series], across: int, down: int, notes: int) -> tuple[float, float]:
    """The width of a panel and the height of a row with which the picture is about 16 to 9."""
    names = max(len(one.name) for one in series) * NORMAL * marks.CHAR
    width = (marks.WIDTH - 2 * marks.MARGIN - names) / across - _BESIDE
    head = 2 * marks.TITLE + notes * marks.NOTE_PITCH
    room = (marks.HEIGHT - 2 * marks.MARGIN - head) / down - _AXIS
    return max(width, _WIDTH), min(max(room / len(series), _ROWS[0]), _ROWS[1])


def _key(series: Sequence[Series], panels: Sequence[PlotPanel], point: str) -> list[str]:
    """What the marks mean."""
    shown = [panel.metric for panel in panels if not panel.share]
    most = max((one.size(name) for one in series for name in shown), default=0)
    if not shown:
        return []
    metrics = [m for one in series for m in one.result.summary.metrics.values()]
    better = " ↑ higher is better." if any(m.higher_is_better for m in metrics) else ""
    notes = [
        f"Point: one {point}. Box: middle half and median; whiskers: up to 1.5 boxes. "
        f"Diamond: {_interval_words(metrics)}.{better}"
    ]
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
    return f"mean, {wording.percent(level)} interval ({wording.interval_name(kind)})"


def _axis(series: Sequence[Series], name: str) -> Callable[[str], Channel]:
    """From a field to a place on the scale of a metric, the same for all files."""
    metrics = [m for one in series if (m := one.metric(name)) is not None]
    ends = [end for metric in metrics for end in distribution_chart.scale(metric)]
    ends += [end for metric in metrics for end in (metric.low, metric.high) if end is not None]
    return partial(marks.along, low=min(ends), high=max(ends), axis={"tickCount": 5})


def _boxes(series: Sequence[Series], name: str) -> list[Spec]:
    x, y, fill = _axis(series, name), _rows(series), _fill(series)
    drawn: list[Spec] = []
    clouds: list[Spec] = []
    for at, one in enumerate(series):
        metric, values = one.metric(name), one.values(name)
        box = distribution_chart.box(values)
        if metric is None or box is None:
            continue
        level = at + _MIDDLE
        drawn.append(
            {"file": one.name, "row": at, "y": level, "top": level - _HALF, "bottom": level + _HALF}
            | {"whisker_low": box.low, "q1": box.q1, "median": box.median}
            | {"q3": box.q3, "whisker_high": box.high, "n": values.size}
            | _mean_of(metric)
        )
        shown = distribution_chart.thinned(values, MAX_POINTS)
        points = [
            {"row": at, "value": float(value), "at": round(at + 0.25 + 0.36 * float(offset), 4)}
            for value, offset in zip(shown, distribution_chart.spread(shown.size), strict=True)
        ]
        places = {"x": x("value"), "y": y("at"), "color": fill}
        opacity = min(0.5, 0.5 * (100 / shown.size) ** 0.3)
        size = 26 if shown.size <= 300 else 13
        clouds.append(mark("circle", points, places, size=size, opacity=opacity))
    sides = {"y": y("top"), "y2": marks.to("bottom")}
    corners = sides | {"x": x("q1"), "x2": marks.to("q3"), "color": fill, "stroke": fill}
    whiskers = {"x": x("whisker_low"), "x2": marks.to("whisker_high"), "y": y("y"), "color": fill}
    return [
        mark("rule", drawn, whiskers, size=1.5),
        mark("rect", drawn, corners, fillOpacity=0.2, strokeWidth=1.5),
        *clouds,
        # Dark, or it would be lost among points of its own colour.
        mark("rule", drawn, sides | {"x": x("median")}, size=2.5, color=INK),
        *marks.mean(drawn, x, y("y")),
    ]


def _bars(series: Sequence[Series], name: str) -> list[Spec]:
    drawn = [
        {"file": one.name, "row": at, "y": at, "top": at - 0.33, "bottom": at + 0.33}
        | {"zero": 0.0, "one": 1.0, "n": metric.n_scored, **_mean_of(metric)}
        for at, one in enumerate(series)
        if (metric := one.metric(name)) is not None and metric.mean is not None
    ]
    axis = {"format": ".0%", "tickCount": 5}
    x, y = partial(marks.along, low=0.0, high=1.0, axis=axis), _rows(series)
    corners = {"x": x("zero"), "y": y("top"), "y2": marks.to("bottom")}
    full_bar, share_bar = corners | {"x2": marks.to("one")}, corners | {"x2": marks.to("mean")}
    return [
        mark("rect", drawn, full_bar, color=_TRACK),
        mark("rect", drawn, share_bar | {"color": _fill(series)}, opacity=0.6),
        *marks.mean(drawn, x, y("y")),
    ]


def _mean_of(metric: MetricSummary) -> Spec:
    """The mean with its interval; of a metric that is a sum, nothing."""
    if metric.aggregate == "sum":
        return dict.fromkeys(("mean", "low", "high")) | {"indicative": False}
    judged = judge_agreement(metric)
    indicative = judged is not None and judged.indicative
    ends = {"low": metric.low, "high": metric.high}
    return {"mean": metric.mean, **ends, "indicative": indicative}


def _texts(
    series: Sequence[Series], panel: PlotPanel, width: float, row: float, *, first: bool
) -> list[Spec]:
    """Title and headings; mean, median and n beside each row, or why there are none; names at the
    left of the first panel of a line."""
    small = {"baseline": "bottom", "fontSize": SMALL, "color": MUTED}
    bold = small | {"fontSize": HEADING, "fontWeight": "bold", "color": INK}
    y = _rows(series)("at")

    def column(cells: Sequence[Spec], x: float, align: str = "right", **style: Any) -> Spec:
        place = {"x": marks.here(x), "y": y, "text": marks.WORDS}
        return mark("text", cells, place, baseline="middle", align=align, **style)

    middle = 0.0 if panel.share else _MIDDLE
    number: dict[str, Any] = {"fontSize": NORMAL, "color": INK}
    means, medians, counts, empty = [], [], [], []
    word = "share" if panel.share else "mean"
    for at, one in enumerate(series):
        metric = one.metric(panel.metric)
        if metric is None or metric.mean is None:
            lines = _in_place(one.why(panel.metric), width, row)
            empty += [{"at": at + offset, "text": line} for offset, line in lines]
            continue
        word = wording.aggregate_note(metric) or word
        mean = f"{metric.mean * 100:.1f} %" if panel.share else marks.number(metric.mean)
        means.append({"at": at + middle, "text": mean})
        medians.append({"at": at + middle, "text": marks.number(metric.median)})
        counts.append({"at": at + middle, "text": wording.coverage(metric)})
    heads = [(_MEAN, word), *([] if panel.share else [(_MEDIAN, "median")])]
    names = [
        {"at": at + middle, "text": wording.one_line(one.name)} for at, one in enumerate(series)
    ]
    return [
        marks.text(panel.title, 0, _TITLE, align="left", **bold),
        marks.text(panel.below, 0, _BELOW, align="left", **small),
        *(marks.text(head, width + x, _HEADS, align="right", **small) for x, head in heads),
        marks.text("n", width + _N, _HEADS, align="left", **small),
        column(means, width + _MEAN, fontWeight="bold", **number),
        column([] if panel.share else medians, width + _MEDIAN, **number),
        column(counts, width + _N, "left", fontSize=SMALL, color=MUTED),
        column(empty, _INSET, "left", fontSize=SMALL, fontStyle="italic", color=MUTED),
        *([column(names, -12, **number)] if first else []),
    ]


def _in_place(words: str, width: float, row: float) -> list[tuple[float, str]]:
    """A text in place of a row's box and numbers, in as many lines as there is room for."""
    lines = marks.wrapped(words, width + _N - _INSET, SMALL, max(int(row / (_PITCH + 2)), 1))
    middle = (len(lines) - 1) / 2
    return [((line - middle) * _PITCH / row, text) for line, text in enumerate(lines)]


def _rows(series: Sequence[Series]) -> Callable[[str], Channel]:
    """From a field that counts rows to a place: one unit a file, from the top."""
    return partial(marks.along, low=len(series) - 0.5, high=-0.5)


def _fill(series: Sequence[Series]) -> Channel:
    places = list(range(len(series)))
    return marks.colored("row", places, [marks.color(at) for at in places])
