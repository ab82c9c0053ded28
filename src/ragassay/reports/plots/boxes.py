"""Box plots of several files: a panel a metric, a row a file.

All numbers are the results' own; the chart library only draws them. Names from the data stand in
values, never in field names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart
from ragassay.reports.charts.drawing import INK, MUTED, Spec
from ragassay.reports.plots import sheet
from ragassay.reports.plots.series import PlotPanel, Series
from ragassay.reports.plots.sheet import HEADING, NORMAL, SMALL, Channel, mark
from ragassay.reports.text import wording

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

_WIDTH, _ROWS = 130.0, (34.0, 170.0)
"""The least width of a panel, and the least and the greatest height of a row."""

_IN_WORDS = 310.0
"""The least width of a panel that has its numbers above it."""

_MIDDLE, _HALF = -0.2, 0.2
"""Of a box, as shares of its row: its points lie below."""

_TITLE, _BELOW, _HEADS = -42, -25, -8
"""Where the lines above a panel end."""

_MEAN, _MEDIAN, _N = 52, 108, 120
"""Where the numbers beside a panel end, and where their number begins."""

_INSET, _PITCH = 6.0, 13.0
"""Of the words in a row without a value: how far they begin within the panel, and from one line to
the next."""

_TRACK = "#eef0f3"


def boxes(
    series: Sequence[Series],
    panels: Sequence[PlotPanel],
    title: str,
    notes: Sequence[str],
    point: str,
) -> Spec:
    """For each metric a panel, in it for each file a box, its points, mean, interval, median and n;
    for a share a bar instead. A metric without a value has a panel that says why."""
    n = len(panels)
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    inner = [(_bars if panel.share else _boxes)(series, panel.metric) for panel in panels]

    def draw(width: float, row: float) -> Spec:
        size = {"width": width, "height": row * len(series)}
        drawn = [
            {
                "layer": [*layers, *_texts(series, panel, width, row, first=at % columns == 0)],
                **size,
            }
            for at, (panel, layers) in enumerate(zip(panels, inner, strict=True))
        ]
        return {"concat": drawn, "columns": columns, "spacing": {"row": 20, "column": 30}}

    least = _WIDTH if len(series) > 1 else _IN_WORDS
    return sheet.filled(
        draw, title, [*notes, *_key(series, panels, point)], across=columns,
        down=math.ceil(n / columns) * len(series), widths=(least, math.inf), rows=_ROWS,
    )  # fmt: skip


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
        f"Diamond: {interval_words(metrics)}.{better}"
    ]
    if most > MAX_POINTS:
        notes.append(
            f"Points: at most {MAX_POINTS:,} a row are drawn, evenly spaced by rank (of up to "
            f"{most:,}); boxes, means and intervals are of all values."
        )
    return notes


def interval_words(metrics: Sequence[MetricSummary]) -> str:
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
    return partial(sheet.along, low=min(ends), high=max(ends), axis={"tickCount": 5})


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
            | {"cap_top": level - _HALF / 2, "cap_bottom": level + _HALF / 2}
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

    def line(**ends: Channel) -> Spec:
        return mark("rule", drawn, {"y": y("y"), "color": fill, **ends}, size=1.5)

    sides = {"y": y("top"), "y2": sheet.to("bottom")}
    corners = sides | {"x": x("q1"), "x2": sheet.to("q3"), "color": fill, "stroke": fill}
    cap = {"y": y("cap_top"), "y2": sheet.to("cap_bottom")}
    return [
        line(x=x("whisker_low"), x2=sheet.to("q1")),
        line(x=x("q3"), x2=sheet.to("whisker_high")),
        line(x=x("whisker_low"), **cap),
        line(x=x("whisker_high"), **cap),
        mark("rect", drawn, corners, fillOpacity=0.2, strokeWidth=1.5),
        *clouds,
        # Dark, or it would be lost among points of its own colour.
        mark("rule", drawn, sides | {"x": x("median")}, size=2.5, color=INK),
        *sheet.mean(drawn, x, y("y")),
    ]


def _bars(series: Sequence[Series], name: str) -> list[Spec]:
    drawn = [
        {"file": one.name, "row": at, "y": at, "top": at - 0.33, "bottom": at + 0.33}
        | {"zero": 0.0, "one": 1.0, "n": metric.n_scored, **_mean_of(metric)}
        for at, one in enumerate(series)
        if (metric := one.metric(name)) is not None and metric.mean is not None
    ]
    axis = {"format": ".0%", "tickCount": 5}
    x, y = partial(sheet.along, low=0.0, high=1.0, axis=axis), _rows(series)
    corners = {"x": x("zero"), "y": y("top"), "y2": sheet.to("bottom")}
    full_bar, share_bar = corners | {"x2": sheet.to("one")}, corners | {"x2": sheet.to("mean")}
    return [
        mark("rect", drawn, full_bar, color=_TRACK),
        mark("rect", drawn, share_bar | {"color": _fill(series)}, opacity=0.6),
        *sheet.mean(drawn, x, y("y")),
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
    left of the first panel of a line. The numbers of a single file stand in words above it."""
    small = {"baseline": "bottom", "fontSize": SMALL, "color": MUTED}
    bold = small | {"fontSize": HEADING, "fontWeight": "bold", "color": INK}
    layers = [
        sheet.text(panel.title, 0, _TITLE, align="left", **bold),
        sheet.text(panel.below, 0, _BELOW, align="left", **small),
    ]
    if len(series) == 1:
        return [*layers, sheet.text(_in_words(panel, series[0]), 0, _HEADS, align="left", **small)]
    y = _rows(series)("at")

    def column(cells: Sequence[Spec], x: float, align: str = "right", **style: Any) -> Spec:
        place = {"x": sheet.here(x), "y": y, "text": sheet.WORDS}
        return mark("text", cells, place, baseline="middle", align=align, **style)

    middle = 0.0 if panel.share else _MIDDLE
    scored = [
        (at + middle, metric)
        for at, one in enumerate(series)
        if (metric := one.metric(panel.metric)) is not None and metric.mean is not None
    ]
    number: dict[str, Any] = {"fontSize": NORMAL, "color": INK}
    means = [{"at": at, "text": _spelled(panel, metric.mean)} for at, metric in scored]
    medians = [{"at": at, "text": sheet.number(metric.median)} for at, metric in scored]
    counts = [{"at": at, "text": wording.coverage(metric)} for at, metric in scored]
    heads = {_MEAN: "share" if panel.share else "mean", _MEDIAN: "" if panel.share else "median"}
    layers += [
        column(means, width + _MEAN, fontWeight="bold", **number),
        column([] if panel.share else medians, width + _MEDIAN, **number),
        column(counts, width + _N, "left", fontSize=SMALL, color=MUTED),
        *(sheet.text(head, width + x, _HEADS, align="right", **small) for x, head in heads.items()),
        sheet.text("n", width + _N, _HEADS, align="left", **small),
    ]
    empty = [
        {"at": at + offset, "text": line}
        for at, one in enumerate(series)
        if (metric := one.metric(panel.metric)) is None or metric.mean is None
        for offset, line in _in_place(one.why(panel.metric), width, row)
    ]
    layers.append(column(empty, _INSET, "left", fontSize=SMALL, fontStyle="italic", color=MUTED))
    if first:
        names = [
            {"at": at + middle, "text": wording.one_line(one.name)} for at, one in enumerate(series)
        ]
        layers.append(column(names, -12, **number))
    return layers


def _in_words(panel: PlotPanel, one: Series) -> str:
    """The numbers of a single file."""
    metric = one.metric(panel.metric)
    if metric is None or metric.mean is None:
        return one.why(panel.metric)
    mean = _spelled(panel, metric.mean)
    if metric.low is not None and metric.high is not None:
        mean += f" [{_spelled(panel, metric.low)}, {_spelled(panel, metric.high)}]"
    tail = f"n = {wording.coverage(metric)}"
    if panel.share:
        return f"{mean} · {tail}"
    word = wording.aggregate_note(metric) or "mean"
    return f"{word} {mean} · median {sheet.number(metric.median)} · {tail}"


def _spelled(panel: PlotPanel, value: float | None) -> str:
    return f"{(value or 0.0) * 100:.1f} %" if panel.share else sheet.number(value)


def _in_place(words: str, width: float, row: float) -> list[tuple[float, str]]:
    """A text in place of a row's box and numbers, in as many lines as there is room for."""
    lines = sheet.wrapped(words, width + _N - _INSET, SMALL, max(int(row / (_PITCH + 2)), 1))
    middle = (len(lines) - 1) / 2
    return [((line - middle) * _PITCH / row, text) for line, text in enumerate(lines)]


def _rows(series: Sequence[Series]) -> Callable[[str], Channel]:
    """From a field that counts rows to a place: one unit a file, from the top."""
    return partial(sheet.along, low=len(series) - 0.5, high=-0.5)


def _fill(series: Sequence[Series]) -> Channel:
    places = list(range(len(series)))
    return sheet.colored("row", places, [sheet.color(at) for at in places])
