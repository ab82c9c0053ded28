"""The distribution of a metric's values and the place of a difference, as pages, notebooks and
pictures draw them, and the small figures of pages, which say in words what they show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.results.comparison_result import Difference
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.svg import axis, line, rect, text
from ragassay.reports.text import wording

if TYPE_CHECKING:
    from markupsafe import Markup

Values = NDArray[np.float64]
Axis = Callable[[float], float]

_GOLDEN = 0.618_033_988_749_895
_BAR_W, _BAR_H = 180, 22
_CARD_W, _CARD_H = 340, 112
_CARD_POINTS = 250


@dataclass(frozen=True, slots=True)
class Box:
    """Tukey's box: quartiles (linear interpolation), whiskers within 1.5 boxes."""

    low: float
    q1: float
    median: float
    q3: float
    high: float


def box_of(values: Values) -> Box | None:
    """The box of all values, or ``None`` when there are none."""
    if not values.size:
        return None
    q1, median, q3 = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = float(inside.min()), float(inside.max())
    # Interpolated quartiles can lie outside the values that are left; whiskers never point inwards.
    return Box(min(low, q1), q1, median, q3, max(high, q3))


def thinned(values: Values, limit: int) -> Values:
    """At most ``limit`` of the values, evenly spaced by rank, with the smallest and the largest."""
    ordered = np.sort(values)
    if ordered.size <= limit:
        return ordered
    return ordered[np.linspace(0, ordered.size - 1, limit).round().astype(np.int64)]


def scale_of(metric: MetricSummary) -> tuple[float, float]:
    """The axis of a metric: its bounds where it has them, else the range of its values; from 0
    where only the upper bound is set."""
    low, high = metric.bounds
    if low is None:
        low = metric.minimum
        if low is not None and high is not None:
            low = min(low, 0.0)
    high = metric.maximum if high is None else high
    low = 0.0 if low is None else low
    high = low + 1.0 if high is None or high <= low else high
    return float(low), float(high)


def box_shapes(box: Box, values: Values, x: Axis, y: float, half: float, below: float) -> list[str]:
    """A box at a height with its points below it; points keep apart from each other by a fixed
    rule."""
    apart = np.arange(1, values.size + 1) * _GOLDEN % 1.0
    dots = "".join(
        f"M{x(float(value)):.1f} {y + half + 6 + float(at) * below:.1f}h0"
        for value, at in zip(values, apart, strict=True)
    )
    left, right = x(box.q1), x(box.q3)
    return [
        line(x(box.low), y, left, y, "whisker"),
        line(right, y, x(box.high), y, "whisker"),
        *(line(x(end), y - half / 2, x(end), y + half / 2, "whisker")
          for end in (box.low, box.high)),
        rect(left, y - half, max(right - left, 1), 2 * half, "box"),
        f'<path class="points" d="{dots}"/>',
        line(x(box.median), y - half, x(box.median), y + half, "median"),
    ]  # fmt: skip


def mean_shapes(metric: MetricSummary, x: Axis, y: float, *, dashed: bool = False) -> list[str]:
    """A mean as a diamond on its interval, dashed where nothing may be concluded from it; nothing
    for a sum."""
    if metric.mean is None or metric.aggregate == "sum":
        return []
    kind = "mean-interval dashed" if dashed else "mean-interval"
    known = metric.low is not None and metric.high is not None
    interval = [line(x(metric.low), y, x(metric.high), y, kind)] if known else []  # type: ignore[arg-type]
    diamond = f"M{x(metric.mean) - 4.2:.1f} {y:.1f}l4.2 -4.2 4.2 4.2 -4.2 4.2z"
    return [*interval, f'<path class="mean" d="{diamond}"/>']


def difference_shapes(difference: Difference, x: Axis, y: float) -> list[str]:
    """A difference as a dot on its interval, of the class of its verdict; nothing where there is
    none."""
    if difference.diff is None:
        return []
    kind, shapes = difference.verdict.split()[0], []
    if difference.low is not None and difference.high is not None:
        left, right = x(difference.low), x(difference.high)
        shapes.append(line(left, y, right, y, f"iv {kind}"))
        shapes += [line(end, y - 4, end, y + 4, f"iv {kind}") for end in (left, right)]
    dot = f'<circle class="dot {kind}" cx="{x(difference.diff):.1f}" cy="{y:.1f}" r="3.5"/>'
    return [*shapes, dot]


def interval_bar(metric: MetricSummary) -> Markup:
    """The place of the mean and its interval on the metric's scale."""
    if metric.mean is None or metric.aggregate == "sum":
        return markup("")
    low, high = scale_of(metric)
    x = axis(low, high, 6, _BAR_W - 6)
    middle = _BAR_H / 2
    shapes = [line(6, middle, _BAR_W - 6, middle, "track")]
    if metric.low is not None and metric.high is not None:
        left, right = x(metric.low), x(metric.high)
        shapes.append(rect(left, middle - 5, max(right - left, 3), 10, "interval"))
    shapes.append(line(x(metric.mean), middle - 8, x(metric.mean), middle + 8, "mean-line"))
    shapes.append(_end(low, 6, _BAR_H + 9, "start"))
    shapes.append(_end(high, _BAR_W - 6, _BAR_H + 9, "end"))
    description = f"{wording.number(metric.mean)} on a scale from {low:g} to {high:g}"
    return _figure(_BAR_W, _BAR_H + 11, shapes, description, fixed=True)


def distribution(metric: MetricSummary, values: Values) -> Markup:
    """Box plot and points of a metric's values, with the mean and its interval, as ``ragassay
    plot`` draws them."""
    box = box_of(values)
    if box is None:
        return markup("")
    low, high = scale_of(metric)
    x = axis(low, high, 12, _CARD_W - 12)
    shapes = []
    for value, anchor in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
        shapes.append(line(x(value), 4, x(value), _CARD_H - 20, "grid"))
        shapes.append(_end(value, x(value), _CARD_H - 6, anchor))
    shapes += box_shapes(box, thinned(values, _CARD_POINTS), x, 22, 12, 46)
    shapes += mean_shapes(metric, x, 22)
    description = (
        f"{metric.name}: quartiles {wording.number(box.q1)}, {wording.number(box.median)} "
        f"and {wording.number(box.q3)} of {wording.plural(values.size, 'value')}"
    )
    return _figure(_CARD_W, _CARD_H, shapes, description)


def difference_bar(difference: Difference, extent: float) -> Markup:
    """A difference and its interval around zero, on a scale from ``-extent`` to ``extent``."""
    if difference.diff is None:
        return markup("")
    x = axis(-extent, extent, 6, _BAR_W - 6)
    shapes = [line(x(0), 0, x(0), _BAR_H, "zero"), *difference_shapes(difference, x, _BAR_H / 2)]
    description = f"difference {wording.number(difference.diff, sign=True)}, {difference.verdict}"
    return _figure(_BAR_W, _BAR_H, shapes, description, fixed=True)


def _figure(
    width: float, height: float, shapes: list[str], description: str, *, fixed: bool = False
) -> Markup:
    size = f' width="{width:g}" height="{height:g}"' if fixed else ""
    label = escape(wording.one_line(description))
    return markup(
        f'<svg class="figure" viewBox="0 0 {width:g} {height:g}"{size} role="img" '
        f'aria-label="{label}">{"".join(shapes)}</svg>'
    )


def _end(value: float, x: float, y: float, anchor: str) -> str:
    """A number of a scale, short."""
    return text(f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}", x, y, anchor)


def markup(text: str) -> Markup:
    """A text that is HTML already."""
    from markupsafe import Markup

    return Markup(text)
