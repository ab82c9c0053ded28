"""Small figures for pages and notebooks: inline SVG that takes its colours from the page's theme,
and says in words what it shows."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from ragassay.engine.results.comparison_result import Difference
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart
from ragassay.reports.charts.distribution_chart import Values
from ragassay.reports.text import wording

if TYPE_CHECKING:
    from markupsafe import Markup

_BAR_W, _BAR_H = 180, 22
_ENDS_H = 11
"""Below a bar, for the numbers at the ends of its scale."""

_CARD_W, _CARD_H = 340, 168
_CARD_POINTS = 250


def interval_bar(metric: MetricSummary) -> Markup:
    """The place of the mean and its interval on the metric's scale."""
    if metric.mean is None or metric.aggregate == "sum":
        return markup("")
    low, high = distribution_chart.scale(metric)
    x = _axis(low, high, 6, _BAR_W - 6)
    middle = _BAR_H / 2
    shapes = [_line(6, middle, _BAR_W - 6, middle, "track")]
    if metric.low is not None and metric.high is not None:
        left, right = x(metric.low), x(metric.high)
        shapes.append(_rect(left, middle - 5, max(right - left, 3), 10, "interval", radius=2))
    shapes.append(_line(x(metric.mean), middle - 8, x(metric.mean), middle + 8, "mean-line"))
    for value, anchor in ((low, "start"), (high, "end")):
        shapes.append(_number(value, x(value), _BAR_H + _ENDS_H - 2, anchor, "end"))
    description = f"{wording.number(metric.mean)} on a scale from {low:g} to {high:g}"
    return _svg(_BAR_W, _BAR_H + _ENDS_H, shapes, description, fixed=True)


def distribution(metric: MetricSummary, values: Values) -> Markup:
    """Histogram, box plot and points of a metric's values, with the mean and its interval. The
    lower part is drawn as ``ragassay plot`` draws it."""
    box = distribution_chart.box(values)
    if box is None:
        return markup("")
    low, high = distribution_chart.scale(metric)
    x = _axis(low, high, 12, _CARD_W - 12)
    top, base, strip, half, cloud, reach = 4, 62, 82, 12, 122, 36
    counts = distribution_chart.histogram(values, low, high)
    shapes = _bars(counts, 12, _CARD_W - 12, top, base)
    for value, anchor in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
        shapes.append(_line(x(value), base, x(value), cloud + reach / 2 + 4, "grid"))
        shapes.append(_number(value, x(value), _CARD_H - 6, anchor))
    shapes.append(_line(12, base, _CARD_W - 12, base, "track"))
    shown = distribution_chart.thinned(values, _CARD_POINTS)
    dots = "".join(
        f"M{x(float(value)):.1f} {cloud + float(offset) * reach:.1f}h0"
        for value, offset in zip(shown, distribution_chart.spread(shown.size), strict=True)
    )
    left, right = x(box.q1), x(box.q3)
    shapes += [
        _line(x(box.low), strip, left, strip, "whisker"),
        _line(right, strip, x(box.high), strip, "whisker"),
        *(_line(x(end), strip - 6, x(end), strip + 6, "whisker") for end in (box.low, box.high)),
        _rect(left, strip - half, max(right - left, 1), 2 * half, "box"),
        f'<path class="points" d="{dots}"/>',
        _line(x(box.median), strip - half, x(box.median), strip + half, "median"),
    ]
    if metric.mean is not None and metric.aggregate != "sum":
        if metric.low is not None and metric.high is not None:
            shapes.append(_line(x(metric.low), strip, x(metric.high), strip, "mean-interval"))
        diamond = "l4.2 -4.2 4.2 4.2 -4.2 4.2z"
        shapes.append(f'<path class="mean" d="M{x(metric.mean) - 4.2:.1f} {strip}{diamond}"/>')
    description = (
        f"{metric.name}: quartiles {wording.number(box.q1)}, {wording.number(box.median)} "
        f"and {wording.number(box.q3)} of {wording.plural(values.size, 'value')}"
    )
    return _svg(_CARD_W, _CARD_H, shapes, description)


def difference_bar(difference: Difference, extent: float) -> Markup:
    """A difference and its interval around zero, on a scale from ``-extent`` to ``extent``."""
    if difference.diff is None:
        return markup("")
    width, middle = 190, _BAR_H / 2
    x = _axis(-extent, extent, 6, width - 6)
    shapes = [_line(x(0), 0, x(0), _BAR_H, "zero")]
    kind = difference.verdict.split()[0]
    if difference.low is not None and difference.high is not None:
        left, right = x(difference.low), x(difference.high)
        shapes.append(_line(left, middle, right, middle, f"iv {kind}"))
        shapes += [_line(end, middle - 4, end, middle + 4, f"iv {kind}") for end in (left, right)]
    shapes.append(
        f'<circle class="dot {kind}" cx="{x(difference.diff):.1f}" cy="{middle:.1f}" r="3.5"/>'
    )
    description = f"difference {wording.number(difference.diff, sign=True)}, {difference.verdict}"
    return _svg(width, _BAR_H, shapes, description, fixed=True)


def _axis(low: float, high: float, left: float, right: float) -> Callable[[float], float]:
    """From a value to a coordinate; what lies outside is drawn at the edge."""

    def place(value: float) -> float:
        return left + min(1.0, max(0.0, (value - low) / ((high - low) or 1.0))) * (right - left)

    return place


def _bars(counts: list[int], left: float, right: float, top: float, base: float) -> list[str]:
    step, most = (right - left) / len(counts), max(counts, default=0) or 1
    return [
        _rect(left + at * step + 0.5, base - height, step - 1, height, "bar")
        for at, count in enumerate(counts)
        if count and (height := max(1.0, (base - top) * count / most))
    ]


def _svg(
    width: float, height: float, shapes: list[str], description: str, *, fixed: bool = False
) -> Markup:
    size = f' width="{width:g}" height="{height:g}"' if fixed else ""
    label = escape(wording.one_line(description))
    return markup(
        f'<svg class="figure" viewBox="0 0 {width:g} {height:g}"{size} role="img" '
        f'aria-label="{label}">{"".join(shapes)}</svg>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str, radius: float = 0) -> str:
    rounding = f' rx="{radius:g}"' if radius else ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"{rounding}/>'
    )


def _number(value: float, x: float, y: float, anchor: str, kind: str = "") -> str:
    """A number of a scale, short."""
    spelled = f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}"
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{x:.1f}" y="{y:g}" text-anchor="{anchor}">{spelled}</text>'


def markup(text: str) -> Markup:
    """A text that is HTML already."""
    from markupsafe import Markup

    return Markup(text)
