"""Two runs compared on one sheet: a line a metric, with its difference and interval, and the
difference of each query, sorted.

The differences, their intervals and the verdicts are the comparison's own. Metrics of one scale
stand together, above an axis of theirs; the more there are, the taller the picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.pairs import query_differences
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.reports.charts import distribution_chart
from ragassay.reports.charts.distribution_chart import Values
from ragassay.reports.charts.drawing import INK, MUTED, PALETTE, Spec
from ragassay.reports.plots import sheet
from ragassay.reports.plots.series import PlotPanel, bare
from ragassay.reports.plots.sheet import DASHED, NORMAL, SMALL
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import below, reach_of, scale_of

_WIDTHS, _ROWS = (300.0, 340.0), (48.0, 105.0)
"""The least and the greatest width of a line's two panels, and height of it: three lines of small
text, or a fifth of a slide."""

_ON_ONE_AXIS = 10
"""Lines above one axis; further ones get the same axis once more."""

_NOTHING = 1e-9
"""Differences below this are no reason for an axis of their own size: it would show rounding."""


MAX_BARS = 2_000
"""Bars drawn in a chart of differences at most."""

VERDICT_COLORS = {"better": PALETTE[0], "worse": PALETTE[1], "different": PALETTE[3]}
"""What a verdict looks like; the others are muted."""

UNSETTLED = ("indicative", "not comparable")
"""Standings whose intervals are dashed: nothing may be concluded from them."""


@dataclass(frozen=True, slots=True)
class _Line:
    panel: PlotPanel
    difference: Difference
    diffs: Values
    n_all: int
    scale: object
    """The same for metrics that share an axis of differences."""
    reach: float
    """Half the width of that axis; 0 where there is no difference to show."""
    extent: float
    """The largest difference of a query; 0 where there is none to show."""


def overview(
    comparison: Comparison,
    a: Result,
    b: Result,
    panels: Mapping[str, PlotPanel] | None = None,
    notes: Sequence[str] = (),
) -> Spec:
    """The whole comparison as a picture."""
    lines = _lines(comparison, a, b, panels or {})
    blocks = _blocks(lines)

    def draw(width: float, height: float) -> Spec:
        views: list[Spec] = []
        for block in blocks:
            for line in block:
                first, last = not views, line is block[-1]
                views.append(_forest(line, width, height, first=first, last=last))
                views.append(_bars(line, width, height, first=first))
        return {"concat": views, "columns": 2, "spacing": {"row": 12, "column": 20}}

    return sheet.filled(
        draw, f"A = {comparison.a} against B = {comparison.b}",
        [*notes, *_notes(comparison, lines)], across=2, down=len(lines), widths=_WIDTHS, rows=_ROWS,
    )  # fmt: skip


def _lines(
    comparison: Comparison, a: Result, b: Result, panels: Mapping[str, PlotPanel]
) -> list[_Line]:
    tested = [d for d in comparison.differences if d.diff is not None]
    if not tested:
        raise UsageError("The comparison has no difference to draw.")
    metrics = a.summary.metrics
    scales = {d.name: scale_of(metrics[d.name], metrics) for d in tested}
    reach = reach_of(tested, scales)
    every = query_differences(a, aligned(b, a), [d.name for d in tested])
    return [
        _Line(
            panels.get(d.name) or bare(metrics[d.name]),
            d,
            distribution_chart.thinned(diffs, MAX_BARS),
            int(diffs.size),
            scales[d.name],
            1.1 * _shown(reach[scales[d.name]]),
            _shown(float(np.abs(diffs).max(initial=0.0))),
        )
        for d, diffs in zip(tested, every, strict=True)
    ]


def _shown(size: float) -> float:
    return size if size > _NOTHING else 0.0


def _blocks(lines: Sequence[_Line]) -> list[list[_Line]]:
    """The lines that share an axis: those of one scale together, in their order."""
    blocks = []
    for group in grouped((line.scale, line) for line in lines).values():
        n = math.ceil(len(group) / _ON_ONE_AXIS)
        blocks += [group[at * len(group) // n : (at + 1) * len(group) // n] for at in range(n)]
    return blocks


def _notes(comparison: Comparison, lines: Sequence[_Line]) -> list[str]:
    notes = [
        f"Compared on {wording.compared_on(comparison)}. {_test(comparison)}",
        *(str(note) for note in comparison.notes if note.kind == "clustered"),
        *(line.text for block in below(comparison) for line in block.lines),
    ]
    if any(line.difference.standing in UNSETTLED for line in lines):
        notes.append(DASHED)
    most = max(line.n_all for line in lines)
    if most > MAX_BARS:
        notes.append(f"{MAX_BARS:,} of up to {most:,} queries drawn, evenly spaced by rank.")
    return notes


def _test(comparison: Comparison) -> str:
    """The test, correction and level that the verdicts rest on."""
    if not comparison.n_tested:
        return "No metric is tested."
    test = "Welch's test" if comparison.unpaired else "paired sign-flip test"
    return f"Verdicts: {test}, {wording.percent(1 - comparison.level)} level."


def _forest(line: _Line, width: float, height: float, *, first: bool, last: bool) -> Spec:
    """The mean difference with its interval around zero; the metric's name at the left."""
    d = line.difference
    drawn = [
        {"diff": d.diff, "mean": d.diff, "low": d.low, "high": d.high, "zero": 0.0}
        | {"indicative": d.standing in UNSETTLED}
    ]
    color = VERDICT_COLORS.get(d.verdict, MUTED)
    half = line.reach or 1.0
    signed = {"tickCount": 5, "labels": last, "format": "+,~f"}
    x = partial(sheet.along, low=-half, high=half, axis=signed if line.reach else None)
    middle = sheet.here(height / 2)
    right = {"align": "right", "baseline": "middle"}
    layers = [
        sheet.mark("rule", drawn, {"x": x("zero")}, color=INK, size=1.2, strokeDash=[4, 3]),
        sheet.text(line.panel.title, -14, height / 2 - 8, fontSize=NORMAL, fontWeight="bold",
                   color=INK, **right),
        sheet.text(line.panel.below, -14, height / 2 + 9, fontSize=SMALL, color=MUTED, **right),
        *sheet.mean(drawn, x, middle, ink=color, size=4),
    ]  # fmt: skip
    if first:
        layers += [
            _head("← old higher", 0, "left"),
            _head("mean difference A - B", width / 2, "center"),
            _head("new higher →", width, "right"),
        ]
    return {"layer": layers, "width": width, "height": height}


def _bars(line: _Line, width: float, height: float, *, first: bool) -> Spec:
    """Each query's difference, sorted; beside them the numbers."""
    d = line.difference
    step = line.n_all / max(line.diffs.size, 1)
    bars = [
        {"from": at * step, "to": (at + 1) * step, "value": float(diff), "zero": 0.0}
        | {"sign": "old higher" if diff < 0 else "new higher"}
        for at, diff in enumerate(line.diffs)
    ]
    half = line.extent or 1.0
    y = partial(sheet.along, low=-half, high=half)
    places = {
        "x": sheet.along("from", 0, line.n_all or 1),
        "x2": sheet.to("to"),
        "y": y("value"),
        "y2": sheet.to("zero"),
        "color": sheet.colored("sign", ["new higher", "old higher"], PALETTE[:2]),
    }
    p = wording.p_value(d.p_adjusted)
    tested = "" if d.p_adjusted is None else f"p {p}" if p.startswith("<") else f"p = {p}"
    spread = wording.NOTHING
    if d.low is not None and d.high is not None:
        spread = f"[{_signed(d.low)}, {_signed(d.high)}]"
    equal = f", {d.ties:,} equal" if d.ties else ""
    right = {"x": width + 16, "align": "left", "fontSize": SMALL, "color": MUTED}
    left = {"x": -6, "align": "right", "fontSize": SMALL, "color": MUTED}
    bold = {"fontSize": NORMAL, "fontWeight": "bold"}
    bold["color"] = VERDICT_COLORS.get(d.verdict, MUTED)
    middle = height / 2
    texts: list[tuple[str, float, dict[str, Any]]] = [
        (f"{_signed(d.diff or 0.0)} · {wording.verdict(d)}", middle - 16, right | bold),
        (" · ".join(filter(None, (spread, tested))), middle + 1, right | {"color": INK}),
        (f"new higher on {d.wins:,}, lower on {d.losses:,}{equal}", middle + 17, right),
    ]
    if line.extent:
        ends = ((line.extent, 4), (-line.extent, height - 4))
        texts += [(f"{end:+.3g}", place, left) for end, place in ends]
    layers = [
        sheet.mark("rule", [{"zero": 0.0}], {"y": y("zero")}, color=MUTED, size=1),
        sheet.mark("rect", bars, places, opacity=0.85),
        *(sheet.text(text, y=place, baseline="middle", **style) for text, place, style in texts),
    ]
    if first:
        layers.append(_head("difference of each query, sorted", width / 2, "center"))
    return {"layer": layers, "width": width, "height": height}


def _head(words: str, x: float, align: str) -> Spec:
    return sheet.text(words, x, -10, align=align, baseline="middle", fontSize=SMALL, color=MUTED)


def _signed(value: float) -> str:
    text = sheet.number(abs(value))
    return f"{'+' if value > 0 else '-'}{text}" if float(text.replace(",", "")) else "0"
