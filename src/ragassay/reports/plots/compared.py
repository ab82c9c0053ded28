"""Two runs compared in one picture: a line a metric, with its difference, interval and verdict.

All numbers are the comparison's own. Metrics of one scale stand together, above an axis of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.drawing import INK, MUTED, PALETTE, Spec
from ragassay.reports.plots import marks
from ragassay.reports.plots.marks import DASHED, NORMAL, SMALL
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import below, reach_of, scale_of

_WIDTH, _ROW = 520.0, 56.0
"""The width of a panel, and the height of a line."""

_NOTHING = 1e-9
"""Differences below this are no reason for an axis of their own size: it would show rounding."""

VERDICT_COLORS = {"better": PALETTE[0], "worse": PALETTE[1], "different": PALETTE[3]}
"""What a verdict looks like; the others are muted."""

UNSETTLED = ("indicative", "not comparable")
"""Standings whose intervals are dashed: nothing may be concluded from them."""


def overview(comparison: Comparison, a: Result, b: Result) -> Spec:
    """The comparison of a new run (A) with an old one (B).

    Raises:
        UsageError: no metric has a difference.
    """
    tested = [d for d in comparison.differences if d.diff is not None]
    if not tested:
        raise UsageError("The comparison has no difference to draw.")
    metrics = a.summary.metrics
    scales = {d.name: scale_of(metrics[d.name]) for d in tested}
    reach = reach_of(tested, scales)
    groups = grouped((scales[d.name], d) for d in tested)
    panels = [
        _panel(members, metrics, reach[scale], first=not at)
        for at, (scale, members) in enumerate(groups.items())
    ]
    chart = {"concat": panels, "columns": 1, "spacing": 24}
    title = f"A = {comparison.a} against B = {comparison.b}"
    return marks.titled(chart, title, marks.note_lines(_notes(comparison)))


def _notes(comparison: Comparison) -> list[str]:
    test = "No metric is tested."
    if comparison.n_tested:
        kind = "Welch's test" if comparison.unpaired else "paired sign-flip test"
        test = f"Verdicts: {kind}, {wording.percent(1 - comparison.level)} level."
    notes = [
        f"Compared on {wording.compared_on(comparison)}. {test}",
        *(str(note) for note in comparison.notes if note.kind == "clustered"),
        *(line.text for block in below(comparison) for line in block.lines),
    ]
    if any(d.standing in UNSETTLED for d in comparison.differences):
        notes.append(DASHED)
    return notes


def _panel(
    members: Sequence[Difference],
    metrics: Mapping[str, MetricSummary],
    reach: float,
    *,
    first: bool,
) -> Spec:
    """The metrics of one scale: mean differences with their intervals around zero; names at the
    left, numbers and verdicts at the right."""
    half = 1.1 * reach if reach > _NOTHING else 1.0
    axis = {"tickCount": 5, "format": "+,~f"} if reach > _NOTHING else None
    x = partial(marks.along, low=-half, high=half, axis=axis)
    y = marks.along("y", len(members) - 0.5, -0.5)
    zero = [{"zero": 0.0}]
    layers = [
        marks.mark("rule", zero, {"x": x("zero")}, color=INK, size=1.2, strokeDash=[4, 3]),
    ]
    for at, d in enumerate(members):
        color, middle = VERDICT_COLORS.get(d.verdict, MUTED), (at + 0.5) * _ROW
        row = {"y": at, "diff": d.diff, "mean": d.diff, "low": d.low, "high": d.high}
        layers += marks.mean([row | {"indicative": d.standing in UNSETTLED}], x, y, ink=color)
        small = {"baseline": "middle", "fontSize": SMALL, "color": MUTED}
        bold = small | {"fontSize": NORMAL, "fontWeight": "bold"}
        direction = wording.direction(metrics[d.name].higher_is_better)
        texts: list[tuple[str, float, dict[str, Any]]] = [
            (d.name, -8, bold | {"x": -14, "align": "right", "color": INK}),
            (direction, 9, small | {"x": -14, "align": "right"}),
            (f"{_signed(d.diff)} · {wording.verdict(d)}", -16, bold | {"color": color}),
            (_interval(d), 1, small | {"color": INK}),
            (_wins(d), 17, small),
        ]
        place: dict[str, Any] = {"x": _WIDTH + 16, "align": "left"}
        layers += [marks.text(one, y=middle + off, **place | style) for one, off, style in texts]
    if first:
        heads = {"left": (0, "← old higher"), "center": (_WIDTH / 2, "mean difference A - B"),
                 "right": (_WIDTH, "new higher →")}  # fmt: skip
        layers += [
            marks.text(words, at, -10, align=align, fontSize=SMALL, color=MUTED)
            for align, (at, words) in heads.items()
        ]
    return {"layer": layers, "width": _WIDTH, "height": _ROW * len(members)}


def _interval(d: Difference) -> str:
    spread = wording.NOTHING
    if d.low is not None and d.high is not None:
        spread = f"[{_signed(d.low)}, {_signed(d.high)}]"
    p = wording.p_value(d.p_adjusted)
    tested = "" if d.p_adjusted is None else f"p {p}" if p.startswith("<") else f"p = {p}"
    return " · ".join(filter(None, (spread, tested)))


def _wins(d: Difference) -> str:
    equal = f", {d.ties:,} equal" if d.ties else ""
    return f"new higher on {d.wins:,}, lower on {d.losses:,}{equal}"


def _signed(value: float | None) -> str:
    size = value or 0.0
    text = marks.number(abs(size))
    return f"{'+' if size > 0 else '-'}{text}" if float(text.replace(",", "")) else "0"
