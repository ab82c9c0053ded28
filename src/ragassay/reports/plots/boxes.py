"""Box plots of several files: a panel a metric, a row a file.

All numbers are the results' own; the chart library only draws them. Names from the data stand in
values, never in field names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ragassay.engine.comparison import offline_reason
from ragassay.reports.charts import GRID, INK, MAX_POINTS, MUTED, Spec, Values, distribution_chart
from ragassay.reports.plots import key, marks, sheet
from ragassay.reports.plots.marks import Channel, mark
from ragassay.reports.plots.panels import (
    AXIS,
    GAP,
    KEY_GAP,
    LINE,
    RAIN,
    Geometry,
    Panel,
    axis,
    between,
    geometry,
    in_words,
    spelled,
)
from ragassay.reports.plots.series import Series
from ragassay.reports.plots.sheet import HEADING, NORMAL, SMALL
from ragassay.reports.text import wording

_UNDER = -8
"""Where the line below a panel's title ends."""

_INSET, _PITCH = 6.0, 13.0
"""Of the words in a row without a value: how far they begin within the panel, and from one line to
the next."""

_BINS = 40
"""Slices of an axis in which like values are counted."""

_TRACK = "#eef0f3"


def boxes(
    series: Sequence[Series],
    panels: Sequence[Panel],
    title: str,
    notes: Sequence[str],
    point: str = "value",
) -> Spec:
    """For each metric a panel, in it for each file a box, its points, mean, interval, median and n;
    for a share a bar instead. A metric without a value has a panel that says why.

    Args:
        series: the files.
        panels: one for each metric.
        title: of the chart.
        notes: sentences below the title.
        point: what a point is, such as ``query``.
    """
    told = [*notes, *_thinned_note(series, panels)]
    shape = geometry(series, panels, told)
    drawn = [
        (_share_panel if panel.share else _box_panel)(series, panel, shape, at % shape.columns == 0)
        for at, panel in enumerate(panels)
    ]
    across = sum(shape.stats) + between(shape.columns)
    chart: Spec = {
        "concat": drawn,
        "columns": shape.columns,
        "bounds": "flush",
        "spacing": {"row": shape.head + AXIS + GAP, "column": across},
    }
    if any(not panel.share for panel in panels):
        below = key.box_key(series, point, left=shape.names)
        chart = {"vconcat": [chart, below], "spacing": KEY_GAP}
    return sheet.finished(chart, title, told)


def _thinned_note(series: Sequence[Series], panels: Sequence[Panel]) -> list[str]:
    shown = [panel.metric for panel in panels if not panel.share]
    most = max((one.size(name) for one in series for name in shown), default=0)
    if most <= MAX_POINTS:
        return []
    return [
        f"Points: at most {MAX_POINTS:,} a row are drawn, evenly spaced by rank (of up to "
        f"{most:,}); boxes, means and intervals are of all values."
    ]


def _box_panel(series: Sequence[Series], panel: Panel, shape: Geometry, first: bool) -> Spec:
    rain = shape.row >= RAIN
    middle = -0.2 if rain else 0.0
    half = min(0.2 if rain else 0.33, 20 / shape.row)
    (low, high), ticks = axis(series, panel.metric)
    x, y, fill = partial(marks.along, low=low, high=high), _rows(series), _fill(series)
    drawn: list[Spec] = []
    clouds: list[Spec] = []
    for at, one in enumerate(series):
        metric = one.metric(panel.metric)
        if metric is None or not one.size(panel.metric):
            continue
        columns = one.result.columns
        values = columns.values(panel.metric)[columns.scored(panel.metric)]
        box = distribution_chart.box(values)
        assert box is not None
        level = at + middle
        drawn.append(
            {"file": one.name, "row": at, "y": level, "top": level - half, "bottom": level + half}
            | {"cap_top": level - half / 2, "cap_bottom": level + half / 2}
            | {"whisker_low": box.low, "q1": box.q1, "median": box.median}
            | {"q3": box.q3, "whisker_high": box.high, "n": int(values.size)}
            | {"mean": metric.mean, "low": metric.low, "high": metric.high}
            | {"indicative": bool(offline_reason(metric))}
        )
        shown = distribution_chart.thinned(values, MAX_POINTS)
        centre, reach = (at + 0.25, 0.36) if rain else (float(at), 0.78)
        points = [
            {"row": at, "value": float(value), "at": round(centre + reach * float(offset), 4)}
            for value, offset in zip(shown, _cloud(shown, low, high), strict=True)
        ]
        # On its box a point needs more contrast; where there are many they must not fill it.
        most, fade = (0.5, 0.3) if rain else (0.75, 0.45)
        opacity = min(most, most * (100 / shown.size) ** fade)
        size = (26 if rain else 15) if shown.size <= 300 else (13 if rain else 8)
        places = {"x": x("value"), "y": y("at"), "color": fill}
        clouds.append(mark("circle", points, places, size=size, opacity=opacity))

    def line(left: str, right: str) -> Spec:
        ends = {"x": x(left), "x2": marks.to(right), "y": y("y"), "color": fill}
        return mark("rule", drawn, ends, size=1.5)

    def cap(end: str) -> Spec:
        ends = {"x": x(end), "y": y("cap_top"), "y2": marks.to("cap_bottom"), "color": fill}
        return mark("rule", drawn, ends, size=1.5)

    sides = {"y": y("top"), "y2": marks.to("bottom")}
    corners = sides | {"x": x("q1"), "x2": marks.to("q3")}
    layers = [
        *_grid(ticks, x, shape.height, lambda tick: f"{tick:,g}"),
        line("whisker_low", "q1"),
        line("q3", "whisker_high"),
        cap("whisker_low"),
        cap("whisker_high"),
        mark("rect", drawn, corners | {"color": fill, "stroke": fill},
             fillOpacity=0.2 if rain else 0.1, strokeWidth=1.5),
        *clouds,
        # Dark, or it would be lost among points of its own colour.
        mark("rule", drawn, sides | {"x": x("median")}, size=2.5, color=INK),
        *_means(drawn, x, y),
        *_texts(series, panel, shape, first, ("mean", "median", "n")),
    ]  # fmt: skip
    return _as_panel(layers, panel, series, shape)


def _cloud(values: Values, low: float, high: float) -> Values:
    """The offset of each point from its row's middle, in [-0.5, 0.5); it grows with the number of
    similar values. The values must be sorted; the result is always the same.
    """
    bins = np.clip((values - low) / ((high - low) or 1.0) * _BINS, 0, _BINS - 1).astype(np.int64)
    counts = np.bincount(bins, minlength=_BINS)
    offsets: Values = distribution_chart.spread(values.size) * (
        0.25 + 0.75 * counts[bins] / max(int(counts.max()), 1)
    )
    return offsets


def _share_panel(series: Sequence[Series], panel: Panel, shape: Geometry, first: bool) -> Spec:
    half = min(0.33, 15 / shape.row)
    drawn = [
        {"file": one.name, "row": at, "y": at, "top": at - half, "bottom": at + half}
        | {"zero": 0.0, "one": 1.0, "mean": metric.mean, "low": metric.low, "high": metric.high}
        | {"n": metric.n_scored, "indicative": bool(offline_reason(metric))}
        for at, one in enumerate(series)
        if (metric := one.metric(panel.metric)) is not None and metric.mean is not None
    ]
    x, y = partial(marks.along, low=0.0, high=1.0), _rows(series)
    corners = {"x": x("zero"), "y": y("top"), "y2": marks.to("bottom")}
    full_bar, share_bar = corners | {"x2": marks.to("one")}, corners | {"x2": marks.to("mean")}
    layers = [
        *_grid([0.0, 0.25, 0.5, 0.75, 1.0], x, shape.height, lambda tick: f"{tick:.0%}"),
        mark("rect", drawn, full_bar, color=_TRACK),
        mark("rect", drawn, share_bar | {"color": _fill(series)}, opacity=0.6),
        *_means(drawn, x, y),
        *_texts(series, panel, shape, first, ("share", "", "n")),
    ]
    return _as_panel(layers, panel, series, shape)


def _means(
    drawn: Sequence[Spec], x: Callable[[str], Channel], y: Callable[[str], Channel]
) -> list[Spec]:
    """Each row's mean on its interval, which is dashed where the values are only indicative."""
    bounded = [one for one in drawn if one["low"] is not None]
    plain = [one for one in bounded if not one["indicative"]]
    dashed = [one for one in bounded if one["indicative"]]
    ends = {"x": x("low"), "x2": marks.to("high"), "y": y("y")}
    return [
        mark("rule", plain, ends, size=3.5, color=INK),
        mark("rule", dashed, ends, size=3.5, color=INK, strokeDash=list(marks.DASHES)),
        marks.diamond(drawn, {"x": x("mean"), "y": y("y")}),
    ]


def _as_panel(
    layers: Sequence[Spec], panel: Panel, series: Sequence[Series], shape: Geometry
) -> Spec:
    """The panel under its title; the numbers of a single file stand in its second line."""
    style: Mapping[str, Any] = {"baseline": "bottom", "fontSize": SMALL, "color": MUTED}
    bold = {"baseline": "bottom", "fontSize": HEADING, "fontWeight": "bold", "color": INK}
    above = _UNDER - LINE
    heads = [marks.text(panel.title, 0, above - LINE * shape.stacked, align="left", **bold)]
    below = panel.below
    if len(series) == 1:
        below = in_words(panel, series[0])
        x, align = (0.0, "left") if shape.stacked else (shape.width, "right")
        heads.append(marks.text(panel.below, x, above - 1, align=align, **style))
    heads.append(marks.text(below, 0, _UNDER, align="left", **style))
    return marks.layered([*layers, *heads], shape.width, shape.height)


def _grid(
    ticks: Sequence[float],
    x: Callable[[str], Channel],
    height: float,
    told: Callable[[float], str],
) -> list[Spec]:
    """Grid lines and their numbers. An axis of the library's own leaves some numbers out."""
    rows = [{"tick": tick, "text": told(tick)} for tick in ticks]
    place = {"x": x("tick"), "y": marks.here(height + 7), "text": marks.WORDS}
    return [
        mark("rule", rows, {"x": x("tick")}, color=GRID, size=1),
        mark("text", rows, place, baseline="top", fontSize=SMALL, color=MUTED),
    ]


def _texts(
    series: Sequence[Series],
    panel: Panel,
    shape: Geometry,
    first: bool,
    heads: tuple[str, str, str],
) -> list[Spec]:
    """Names at the left of the first panel of a line; mean, median and n beside each."""
    if len(series) == 1:
        return []
    texts: list[Spec] = []
    for at, one in enumerate(series):
        metric = one.metric(panel.metric)
        if metric is None or metric.mean is None:
            words = "not in this file" if metric is None else f"no value: {one.why(panel.metric)}"
            texts += [{**line, "at": at + line["at"]} for line in _in_place(words, shape)]
            continue
        texts.append({"at": at, "text": spelled(panel, metric.mean), "kind": "mean"})
        if not panel.share:
            texts.append({"at": at, "text": sheet.number(metric.median), "kind": "median"})
        texts.append({"at": at, "text": wording.coverage(metric), "kind": "n"})
    right = shape.width + shape.stats[0]
    places = {"mean": right, "median": right + shape.stats[1], "n": right + sum(shape.stats[1:])}
    if panel.share:
        places["n"] = right + shape.stats[2]
    y = _rows(series)("at")
    lift = -0.2 * shape.row if shape.row >= RAIN and not panel.share else 0.0

    def column(kind: str, x: float, align: str = "right", **style: Any) -> Spec:
        rows = [row for row in texts if row["kind"] == kind]
        place = {"x": marks.here(x), "y": y, "text": marks.WORDS}
        return mark("text", rows, place, baseline="middle", align=align, **style)

    numbers: dict[str, Any] = {"dy": lift, "fontSize": NORMAL, "color": INK}
    layers = [
        column("mean", places["mean"], fontWeight="bold", **numbers),
        column("median", places["median"], **numbers),
        column("n", places["n"], dy=lift, fontSize=SMALL, color=MUTED),
        column("nothing", _INSET, "left", dy=lift, fontSize=SMALL, fontStyle="italic",
               color=MUTED),
        *(
            marks.text(words, x, _UNDER, align="right", baseline="bottom", fontSize=SMALL,
                       color=MUTED)
            for words, x in zip(heads, places.values(), strict=True)
            if words
        ),
    ]  # fmt: skip
    if first:
        names = [{"at": at, "text": wording.one_line(one.name)} for at, one in enumerate(series)]
        place = {"x": marks.here(-12), "y": y, "text": marks.WORDS}
        layers.append(mark("text", names, place, align="right", baseline="middle", **numbers))
    return layers


def _in_place(words: str, shape: Geometry) -> list[Spec]:
    """A text in place of a row's box and numbers, in as many lines as there is room for."""
    room = shape.width + sum(shape.stats) - 2 * _INSET
    lines = sheet.wrapped(words, room, SMALL, max(int(shape.row / (_PITCH + 2)), 1))
    middle = (len(lines) - 1) / 2
    return [
        {"at": (line - middle) * _PITCH / shape.row, "text": text, "kind": "nothing"}
        for line, text in enumerate(lines)
    ]


def _rows(series: Sequence[Series]) -> Callable[[str], Channel]:
    """From a field that counts rows to a place: one unit a file, from the top."""
    return partial(marks.along, low=len(series) - 0.5, high=-0.5)


def _fill(series: Sequence[Series]) -> Channel:
    places = list(range(len(series)))
    return marks.colored("row", places, [sheet.color(at) for at in places])
