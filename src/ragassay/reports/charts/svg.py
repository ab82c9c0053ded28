"""Charts as SVG: the shapes that pages and pictures share, and pictures made of panels. A page
colours the shapes by its theme (``report.css``), a picture by its own style."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol

from ragassay.base import files
from ragassay.base.errors import UsageError, extra_needed
from ragassay.reports.text import wording

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666", "#661100")
"""Okabe and Ito's colours and one more, which people with any kind of colour vision can
distinguish."""

INK, MUTED = "#1c2330", "#5b6472"

WIDTH, HEIGHT, MARGIN = 1280.0, 720.0, 28.0
"""Of a picture for a slide in CSS pixels (it grows with its panels); a PNG has twice as many."""

SMALL, NORMAL, HEADING, TITLE = 11.5, 12.5, 14.5, 22.0
"""Font sizes."""

NOTE_PITCH, GAP = 17.0, 30.0
"""From one line of the notes to the next, and between panels."""

CHAR = 0.6
"""Width of a character as a share of the font size: DejaVu Sans, rounded up."""

DASHED = "Nothing may be concluded from a dashed interval."
"""The note of a picture that has such intervals."""

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


def axis(low: float, high: float, left: float, right: float) -> Callable[[float], float]:
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


def grid(x: Callable[[float], float], places: Sequence[float], height: float, form: str) -> str:
    """Lines of a panel's scale with their numbers below."""
    return "".join(
        line(x(value), 0, x(value), height, "grid")
        + words(
            format(value, form) if value else "0",
            x(value),
            height + 14,
            "middle",
            size=SMALL,
            color=MUTED,
        )
        for value in places
    )


def short_number(value: float | None) -> str:
    """A number short enough for a slide: three decimals, or as many as four digits leave room."""
    if value is None:
        return wording.NOTHING
    size = abs(value)
    said = f"{value:,.{3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0}f}"
    return said.lstrip("-") if float(said.replace(",", "")) == 0 else said


def wrapped(said: str, width: float, size: float, most: int | None = None) -> list[str]:
    """A text broken into at most so many lines of a width, by the size of the font, in pixels. Text
    beyond them is left out, and an ellipsis shows it."""
    chars = max(int(width / (size * CHAR)), 2)
    lines = textwrap.wrap(
        wording.one_line(said), chars, max_lines=most, placeholder=" …",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [one if len(one) <= chars or most is None else f"{one[: chars - 1]}…" for one in lines]


class Panel(Protocol):
    """A part of a picture: its size with all that stands around it, and its shapes."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""

    def shapes(self) -> str:
        """SVG, from the panel's upper left corner."""


@dataclass(frozen=True)
class Chart:
    """A picture, drawn offline when it is shown or saved.

    Attributes:
        title: above it.
        notes: sentences below the title.
        panels: its parts, from left to right.
        columns: how many panels stand beside each other.
    """

    title: str
    notes: tuple[str, ...]
    panels: tuple[Panel, ...]
    columns: int = 1

    def svg(self) -> str:
        """The picture as SVG, which needs no script and no other file."""
        rows = [
            self.panels[at : at + self.columns]
            for at in range(0, len(self.panels), self.columns)
        ]  # fmt: skip
        across = [sum(one.size[0] + GAP for one in row) - GAP for row in rows]
        width = max(2 * MARGIN + max(across), WIDTH)
        notes = [one for note in self.notes for one in wrapped(note, width - 2 * MARGIN, NORMAL)]
        shapes = [words(self.title, MARGIN, MARGIN + TITLE / 2, size=TITLE, bold=True)]
        y = MARGIN + TITLE + 16
        for note in notes:
            shapes.append(words(note, MARGIN, y, color=MUTED))
            y += NOTE_PITCH
        for row in rows:
            x = MARGIN
            for panel in row:
                moved = f'<g transform="translate({x:.1f},{y:.1f})">'
                shapes.append(f"{moved}{panel.shapes()}</g>")
                x += panel.size[0] + GAP
            y += max(panel.size[1] for panel in row)
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

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """What a notebook shows: an SVG, which needs no script."""
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

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
    with extra_needed("A picture as PNG needs its package", "plots"):
        import vl_convert
    return vl_convert
