"""Charts as SVG: shapes that pages and pictures share, the small figures of pages (the trend of a
metric, too), and pictures of panels. A page colours the shapes by its theme (``report.css``), a
picture by its own style."""

from __future__ import annotations

import math
import textwrap
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragassay.base import files
from ragassay.base.errors import UsageError, extra_needed
from ragassay.base.printable import few
from ragassay.engine.results.summary import MetricSummary
from ragassay.engine.results.verdict import Difference
from ragassay.reports.text import wording

if TYPE_CHECKING:
    from markupsafe import Markup

Values = NDArray[np.float64]
Axis = Callable[[float], float]

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666", "#661100")
"""Okabe and Ito's colours and one more, which differ for any kind of colour vision."""

INK, MUTED = "#1c2330", "#5b6472"

WIDTH, HEIGHT, MARGIN = 1280.0, 720.0, 28.0
"""Of a picture for a slide in CSS pixels (it grows with its panels); a PNG has twice as many."""

SMALL, NORMAL, HEADING, TITLE = 11.5, 12.5, 14.5, 22.0
"""Font sizes."""

NOTE_PITCH, GAP = 17.0, 30.0
"""From one line of the notes to the next, and between panels."""

CHAR = 0.6
"""Width of a character as a share of the font size: DejaVu Sans, rounded up."""

DASHED = "A dashed interval is a hint, not a verdict."
"""The note of a picture that has such intervals."""

NOTE_LINES = 3
"""The lines that all notes of a picture take at most."""

_GOLDEN = 0.618_033_988_749_895
_BAR_W, _BAR_H = 180, 22
_CARD_W, _CARD_H = 340, 112
_CARD_POINTS = 250

_STYLE = f"""
text {{ font-family: "DejaVu Sans", "Liberation Sans", Arial, Helvetica, sans-serif }}
.grid {{ stroke: #e3e6ea }} .track {{ fill: #eef0f3 }} .share {{ fill: currentColor; opacity: .6 }}
.whisker {{ stroke: currentColor; stroke-width: 1.5 }}
.box {{ fill: currentColor; fill-opacity: .2; stroke: currentColor; stroke-width: 1.5 }}
.points {{ stroke: currentColor; stroke-width: 5; stroke-linecap: round; fill: none; opacity: .5 }}
.median {{ stroke: {INK}; stroke-width: 2.5 }}
.mean {{ fill: #fff; stroke: {INK}; stroke-width: 1.6 }}
.mean-interval {{ stroke: {INK}; stroke-width: 3.5 }} .dashed {{ stroke-dasharray: 6 5 }}
.zero {{ stroke: {INK}; stroke-width: 1.2; stroke-dasharray: 4 3 }}
.iv {{ stroke: currentColor; stroke-width: 3 }} .dot {{ fill: currentColor }}
"""


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A line of a class."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle of a class."""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )


def text(words: str, x: float, y: float, anchor: str = "start", **style: object) -> str:
    """Words whose baseline begins, has its middle or ends at a place."""
    own = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    shown = escape(wording.one_line(words))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{own}>{shown}</text>'


def words(said: str, x: float, y: float, anchor: str = "start", *, size: float = NORMAL,
          color: str = INK, bold: bool = False) -> str:  # fmt: skip
    """Words of a picture; ``y`` is their middle."""
    style: dict[str, object] = {"font_size": size, "fill": color}
    style |= {"font_weight": "bold"} if bold else {}
    return text(said, x, y + 0.35 * size, anchor, **style)


def axis(low: float, high: float, left: float, right: float) -> Axis:
    """From a value to a coordinate; what lies outside is drawn at the edge."""

    def place(value: float) -> float:
        return left + min(1.0, max(0.0, (value - low) / ((high - low) or 1.0))) * (right - left)

    return place


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers of a scale."""
    if not 0 < high - low < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(power * by for by in (1, 2, 5, 10) if (high - low) / (power * by) <= 5.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, 12) for at in range(first, last + 1)]


def grid(x: Axis, places: Sequence[float], height: float, form: str) -> str:
    """Lines of a panel's scale with their numbers below, as many as have room."""
    shapes = [line(x(value), 0, x(value), height, "grid") for value in places]
    said = [format(value, form) if value else "0" for value in places]
    room = x(places[1]) - x(places[0]) if len(places) > 1 else math.inf
    every = math.ceil(0.75 * SMALL * max(map(len, said), default=0) / room)
    for value, number in [*zip(places, said, strict=True)][:: every or 1]:
        shapes.append(words(number, x(value), height + 14, "middle", size=SMALL, color=MUTED))
    return "".join(shapes)


def short_number(value: float | None) -> str:
    """A number short enough for a slide: three decimals, or as many as four digits leave room."""
    if value is None:
        return wording.NOTHING
    size = abs(value)
    said = f"{value:,.{3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0}f}"
    return said.lstrip("-") if float(said.replace(",", "")) == 0 else said


def wrapped(said: str, width: float, size: float, most: int) -> list[str]:
    """A text broken into at most so many lines of a width, by the size of the font, in pixels. Text
    beyond them is left out, and an ellipsis shows it."""
    chars = max(int(width / (size * CHAR)), 2)
    lines = textwrap.wrap(
        wording.one_line(said), chars, max_lines=most, placeholder=" …",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [name if len(name) <= chars else f"{name[: chars - 1]}…" for name in lines]


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
    """The axis of a metric: its bounds, else the range of its values; 0 below an upper bound."""
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
    """A box at a height with its points below it, apart from each other by a fixed rule."""
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
    """A mean as a diamond on its interval; nothing for a sum."""
    if metric.mean is None or metric.aggregate == "sum":
        return []
    kind = "mean-interval dashed" if dashed else "mean-interval"
    known = metric.low is not None and metric.high is not None
    interval = [line(x(metric.low), y, x(metric.high), y, kind)] if known else []  # type: ignore[arg-type]
    diamond = f"M{x(metric.mean) - 4.2:.1f} {y:.1f}l4.2 -4.2 4.2 4.2 -4.2 4.2z"
    return [*interval, f'<path class="mean" d="{diamond}"/>']


def difference_shapes(difference: Difference, x: Axis, y: float) -> list[str]:
    """A difference (where there is one) as a dot on its interval, of the class of its verdict."""
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
    shapes.append(scale_number(low, 6, _BAR_H + 9, "start"))
    shapes.append(scale_number(high, _BAR_W - 6, _BAR_H + 9, "end"))
    description = f"{wording.number(metric.mean)} on a scale from {low:g} to {high:g}"
    return figure(_BAR_W, _BAR_H + 11, shapes, description, fixed=True)


def distribution(metric: MetricSummary, values: Values) -> Markup:
    """Box plot and points of a metric's values, with the mean and its interval."""
    box = box_of(values)
    if box is None:
        return markup("")
    low, high = scale_of(metric)
    x = axis(low, high, 12, _CARD_W - 12)
    shapes = []
    for value, anchor in ((low, "start"), ((low + high) / 2, "middle"), (high, "end")):
        shapes.append(line(x(value), 4, x(value), _CARD_H - 20, "grid"))
        shapes.append(scale_number(value, x(value), _CARD_H - 6, anchor))
    shapes += box_shapes(box, thinned(values, _CARD_POINTS), x, 22, 12, 46)
    shapes += mean_shapes(metric, x, 22)
    description = (
        f"{metric.name}: quartiles {wording.number(box.q1)}, {wording.number(box.median)} "
        f"and {wording.number(box.q3)} of {wording.plural(values.size, 'value')}"
    )
    return figure(_CARD_W, _CARD_H, shapes, description)


def difference_bar(difference: Difference, extent: float) -> Markup:
    """A difference and its interval around zero, on a scale from ``-extent`` to ``extent``."""
    if difference.diff is None:
        return markup("")
    x = axis(-extent, extent, 6, _BAR_W - 6)
    shapes = [line(x(0), 0, x(0), _BAR_H, "zero"), *difference_shapes(difference, x, _BAR_H / 2)]
    said = wording.verdict(difference)
    description = f"difference {wording.number(difference.diff, sign=True)}, {said}"
    return figure(_BAR_W, _BAR_H, shapes, description, fixed=True)


_TREND_W, _TREND_H, _LEFT, _TOP, _BOTTOM = 340.0, 150.0, 44.0, 20.0, 130.0
_LABEL, _NAMED = 13, 6
"""Characters of a version's name above its mark, and reports that the description names."""


@dataclass(frozen=True, slots=True)
class Point:
    """A report: its name and address, the mean with its interval, the version of the system that
    it is of, the metric's signature, and the day of its last record (empty where not known)."""

    name: str
    address: str
    mean: float
    interval: tuple[float, float] | None
    version: str
    signature: str
    day: str = ""


def trend(metric: str, points: Sequence[Point]) -> Markup:
    """The figure of a metric. The line breaks where its signature changes, because such numbers do
    not compare; a dashed line marks the first report of another version. Points are links. Below
    the first and the last are their days."""
    ends = [end for point in points for end in (point.mean, *(point.interval or ()))]
    spare = 0.06 * (max(ends) - min(ends)) or 0.05
    low, high = min(ends) - spare, max(ends) + spare
    across = axis(0, max(len(points) - 1, 1), _LEFT + 8, _TREND_W - 12)
    y = axis(low, high, _BOTTOM, _TOP)
    shapes = []
    for value in ticks(low, high):
        shapes.append(line(_LEFT, y(value), _TREND_W, y(value), "grid"))
        shapes.append(scale_number(value, _LEFT - 5, y(value) + 4, "end"))
    shapes.append(text(points[0].day, across(0), _TREND_H - 5))
    if points[-1].day != points[0].day:
        shapes.append(text(points[-1].day, _TREND_W, _TREND_H - 5, "end"))
    free = 0.0
    for at, point in enumerate(points):
        if at == 0 or point.version != points[at - 1].version:
            x = across(at)
            shapes.append(line(x, _TOP, x, _BOTTOM, "zero dashed"))
            if point.version and x >= free:
                side = "end" if x > _TREND_W / 2 else "start"
                name = f"{point.version[:_LABEL]}{'…' if len(point.version) > _LABEL else ''}"
                shapes.append(text(name, x, _TOP - 7, side))
                free = x + 7 * len(name)
    for _, alike in groupby(range(len(points)), lambda at: points[at].signature):
        places = [(across(at), points[at]) for at in alike]
        known = [(x, *point.interval) for x, point in places if point.interval]
        edge = [(x, top) for x, _, top in known] + [(x, end) for x, end, _ in reversed(known)]
        corners = " ".join(f"{x:.1f},{y(end):.1f}" for x, end in edge)
        shapes.append(f'<polygon class="interval" points="{corners}"/>')
        shapes += [
            line(x, y(item.mean), then, y(other.mean), "trend")
            for (x, item), (then, other) in pairwise(places)
        ]
    for at, point in enumerate(points):
        title = f"<title>{escape(wording.one_line(_said(point)))}</title>"
        dot = f'<circle class="point" cx="{across(at):.1f}" cy="{y(point.mean):.1f}" r="4"/>'
        link = f'<a href="{escape(point.address)}" tabindex="-1">{title}{dot}</a>'
        shapes.append(link)
    description = f"{metric}: {few([_said(point) for point in points], _NAMED)}"
    return figure(_TREND_W, _TREND_H, shapes, description)


def _said(point: Point) -> str:
    """A report's name with its mean, interval and day."""
    day = f" ({point.day})" if point.day else ""
    interval = f" {wording.bounds(*point.interval)}" if point.interval else ""
    return f"{point.name} {wording.number(point.mean)}{interval}{day}"


def figure(
    width: float, height: float, shapes: list[str], description: str, *, fixed: bool = False
) -> Markup:
    """A small figure of a page: its shapes, and what a screen reader says of it."""
    size = f' width="{width:g}" height="{height:g}"' if fixed else ""
    label = escape(wording.one_line(description))
    return markup(
        f'<svg class="figure" viewBox="0 0 {width:g} {height:g}"{size} role="img" '
        f'aria-label="{label}">{"".join(shapes)}</svg>'
    )


def scale_number(value: float, x: float, y: float, anchor: str) -> str:
    """A number of a scale, short."""
    return text(f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}", x, y, anchor)


def markup(text: str) -> Markup:
    """A text that is HTML already."""
    from markupsafe import Markup

    return Markup(text)


@dataclass(frozen=True)
class Chart:
    """A picture, drawn offline when it is shown or saved.

    Attributes:
        title: above it.
        notes: sentences below its parts, the most important first; three lines of them are drawn.
        panels: its parts, from left to right: each has a ``size`` (width and height with all that
            is around it), and makes its ``shapes``, SVG from its upper left corner.
        columns: how many panels stand beside each other.
    """

    title: str
    notes: tuple[str, ...]
    panels: tuple[Any, ...]
    columns: int = 1

    def svg(self) -> str:
        """The picture as SVG, which needs no script and no other file."""
        starts = range(0, len(self.panels), self.columns)
        rows = [self.panels[at : at + self.columns] for at in starts]
        across = [sum(panel.size[0] + GAP for panel in row) - GAP for row in rows]
        width = max(2 * MARGIN + max(across), WIDTH)
        shapes = [words(self.title, MARGIN, MARGIN + TITLE / 2, size=TITLE, bold=True)]
        y = MARGIN + 2 * TITLE
        for row in rows:
            x = MARGIN
            for panel in row:
                moved = f'<g transform="translate({x:.1f},{y:.1f})">'
                shapes.append(f"{moved}{panel.shapes()}</g>")
                x += panel.size[0] + GAP
            y += max(panel.size[1] for panel in row)
        for note in wrapped(" ".join(self.notes), width - 2 * MARGIN, NORMAL, NOTE_LINES):
            y += NOTE_PITCH
            shapes.append(words(note, MARGIN, y, color=MUTED))
        height = y + MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}"><style>{_STYLE}</style>'
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(shapes)}</svg>'
        )

    def save(self, path: str | Path) -> Path:
        """Writes the picture.

        Args:
            path: of the file; its suffix names the form: ``.png`` (needs the extra ``plots``) or
                ``.svg``.

        Returns:
            The path.

        Raises:
            UsageError: another suffix, or the file cannot be written, or the extra is not
                installed.
        """
        return save(self.svg(), path)

    def _repr_html_(self) -> str:
        """What a notebook shows: an SVG, which needs no script, as wide as the cell at most."""
        data = b64encode(self.svg().encode()).decode()
        return f'<img style="max-width:100%" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return "<Chart: a notebook shows it, save('chart.png') writes it to a file>"


def save(svg: str, path: str | Path) -> Path:
    """Writes an SVG as the form that the suffix of the path names, see `Chart.save`."""
    target = Path(path)
    renderer = renderer_for(target)
    content = svg.encode()
    if renderer is not None:
        content = renderer.svg_to_png(svg, scale=2.0)
    files.write_bytes(target, content)
    return target


def renderer_for(path: Path) -> Any:
    """The library that makes a PNG of an SVG (84 MB, so it is no part of the core); ``None`` for an
    SVG. Raises an error, before any work, where a picture cannot be written under a name."""
    suffix = path.suffix.casefold()
    if suffix == ".svg":
        return None
    if suffix != ".png":
        raise UsageError(
            f"{path}: a chart cannot be written as {suffix or 'a file without a suffix'!r}. "
            "Use .png or .svg."
        )
    with extra_needed("A picture as .svg needs no package. One as .png does", "plots"):
        import vl_convert
    return vl_convert
