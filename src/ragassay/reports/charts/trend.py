"""The mean of a metric over reports, in their order: a line with the band of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from ragassay.base.printable import few
from ragassay.reports.charts import svg
from ragassay.reports.text import wording

if TYPE_CHECKING:
    from markupsafe import Markup

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 340.0, 150.0, 44.0, 20.0, 130.0
_LABEL, _NAMED = 13, 6
"""Characters of a version's name above its mark, and reports that the description names."""


@dataclass(frozen=True, slots=True)
class Point:
    """A report: its name and address, the mean with its interval, the version of the system that
    it is of, and the metric's signature (empty where it is not known)."""

    name: str
    address: str
    mean: float
    interval: tuple[float, float] | None
    version: str
    signature: str


def trend(metric: str, points: Sequence[Point]) -> Markup:
    """The figure of a metric. The line breaks where its signature changes, because such numbers do
    not compare; a dashed line marks the first report of another version. Points are links."""
    ends = [end for point in points for end in (point.mean, *(point.interval or ()))]
    spare = 0.06 * (max(ends) - min(ends)) or 0.05
    low, high = min(ends) - spare, max(ends) + spare
    across = svg.axis(0, max(len(points) - 1, 1), _LEFT + 8, _WIDTH - 12)
    y = svg.axis(low, high, _BOTTOM, _TOP)
    shapes = []
    for value in svg.ticks(low, high):
        shapes.append(svg.line(_LEFT, y(value), _WIDTH, y(value), "grid"))
        shapes.append(svg.scale_number(value, _LEFT - 5, y(value) + 4, "end"))
    free = 0.0
    for at, point in enumerate(points):
        if at == 0 or point.version != points[at - 1].version:
            x = across(at)
            shapes.append(svg.line(x, _TOP, x, _BOTTOM, "zero dashed"))
            if point.version and x >= free:
                side = "end" if x > _WIDTH / 2 else "start"
                name = f"{point.version[:_LABEL]}{'…' if len(point.version) > _LABEL else ''}"
                shapes.append(svg.text(name, x, _TOP - 7, side))
                free = x + 7 * len(name)
    for _, alike in groupby(range(len(points)), lambda at: points[at].signature):
        places = [(across(at), points[at]) for at in alike]
        known = [(x, *point.interval) for x, point in places if point.interval]
        edge = [(x, top) for x, _, top in known] + [(x, end) for x, end, _ in reversed(known)]
        corners = " ".join(f"{x:.1f},{y(end):.1f}" for x, end in edge)
        shapes.append(f'<polygon class="interval" points="{corners}"/>')
        shapes += [
            svg.line(x, y(one.mean), then, y(other.mean), "trend")
            for (x, one), (then, other) in pairwise(places)
        ]
    for at, point in enumerate(points):
        title = f"<title>{escape(wording.one_line(_said(point)))}</title>"
        dot = f'<circle class="point" cx="{across(at):.1f}" cy="{y(point.mean):.1f}" r="4"/>'
        link = f'<a href="{escape(point.address)}" tabindex="-1">{title}{dot}</a>'
        shapes.append(link)
    description = f"{metric}: {few([_said(point) for point in points], _NAMED)}"
    return svg.figure(_WIDTH, _HEIGHT, shapes, description)


def _said(point: Point) -> str:
    """A report's name with its mean and interval."""
    interval = f" {wording.bounds(*point.interval)}" if point.interval else ""
    return f"{point.name} {wording.number(point.mean)}{interval}"
