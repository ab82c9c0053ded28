"""The sheet of a picture: 16 to 9, for a slide, with room for every label.

Panels are laid out by their own size alone (flush), so that what stands beside one moves no other;
what is left of the sheet becomes its margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ragassay.errors import UsageError
from ragassay.reports.charts import INK, PALETTE, Spec, drawing
from ragassay.reports.text import wording

WIDTH, HEIGHT = 1280.0, 720.0
"""Of a sheet in CSS pixels; a PNG has twice as many. A larger sheet keeps the ratio."""

MARGIN = 28.0
SMALL, NORMAL, HEADING, TITLE = 11.5, 12.5, 14.5, 22.0
"""Font sizes."""

CHAR = 0.6
"""Width of a character as a share of the font size: DejaVu Sans, rounded up."""

COLORS = (*PALETTE, "#661100")
"""Eight colours that people with any kind of colour vision can distinguish."""

_TALL = 0.7
"""A picture that is narrower than this share of a sheet of its height is no slide."""

_SIZE = re.compile(r'<svg[^>]*?\bwidth="([\d.]+)"[^>]*?\bheight="([\d.]+)"')
_LINE_CHARS = 165


def color(at: int) -> str:
    """The colour of the file at a place."""
    return COLORS[at % len(COLORS)]


def text_width(text: str, size: float = NORMAL) -> float:
    """The approximate width of a text, in pixels.

    Args:
        text: to be written.
        size: of the font, in pixels.
    """
    return len(text) * size * CHAR


def finished(chart: Spec, title: str, notes: Sequence[str]) -> Spec:
    """The chart on its sheet, with title and notes.

    Args:
        chart: without a title.
        title: of the chart.
        notes: sentences below the title.
    """
    finished_chart = drawing.house(title, [line for note in notes for line in _lines(note)]) | chart
    finished_chart["title"] |= {
        "fontSize": TITLE,
        "color": INK,
        "subtitleFontSize": NORMAL,
        "subtitleLineHeight": 17,
        "subtitlePadding": 6,
        "frame": "bounds",
        "offset": 22,
    }
    return _fitted(finished_chart)


def head_height(notes: Sequence[str]) -> float:
    """How much room title and notes take."""
    return TITLE + 8 + 17 * sum(len(_lines(note)) for note in notes) + 22


def number(value: float | None) -> str:
    """A number short enough for a slide: three decimals, or as many as four digits leave room."""
    if value is None:
        return wording.NOTHING
    size = abs(value)
    text = f"{value:,.{3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def share(value: float | None) -> str:
    """A share in per cent."""
    return wording.NOTHING if value is None else f"{value * 100:.1f} %"


def step(span: float) -> float:
    """A round distance of about five ticks."""
    rough = (span or 1.0) / 5
    size = 10.0 ** math.floor(math.log10(rough) + 1e-9)
    return float(next(one * size for one in (1, 2, 5, 10) if one * size >= rough * 0.999))


def wrapped(text: str, width: float, size: float, most: int) -> list[str]:
    """A text broken into lines.

    Args:
        text: to be broken.
        width: of a line, in pixels.
        size: of the font, in pixels.
        most: number of lines. Text beyond them is left out, and an ellipsis shows it.
    """
    chars = max(int(width / (size * CHAR)), 2)
    lines = _lines(text, chars)
    cut = len(lines) > most
    shown = [line if len(line) <= chars else f"{line[: chars - 1]}…" for line in lines[:most]]
    if cut and not shown[-1].endswith("…"):
        shown[-1] = f"{shown[-1][: chars - 2].rstrip(' ,')} …"
    return shown


def _lines(text: str, chars: int = _LINE_CHARS) -> list[str]:
    """A text in lines of so many characters: those that fit the sheet, for a note."""
    lines = [""]
    for word in wording.one_line(text).split(" "):
        if len(lines[-1]) + len(word) + 1 > chars and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _fitted(chart: Spec) -> Spec:
    """The same with margins that make the sheet 16 to 9 and put the picture into its middle."""
    bare = _without_points(chart) | {"padding": 0}
    size = _SIZE.search(drawing.as_svg(bare))
    if size is None:
        raise UsageError("The chart library drew a picture without a size.")
    width, height = float(size[1]), float(size[2])
    over = max(1.0, (width + 2 * MARGIN) / WIDTH, (height + 2 * MARGIN) / HEIGHT)
    if (width + 2 * MARGIN) / WIDTH < _TALL * (height + 2 * MARGIN) / HEIGHT:
        return chart | {"padding": MARGIN}  # a long list would only get wide margins
    side, above = (over * WIDTH - width) / 2, (over * HEIGHT - height) / 2
    # A short picture hangs from the top, where its title is expected.
    top = min(above, MARGIN + 0.25 * (above - MARGIN))
    chart["padding"] = {
        "left": round(side),
        "right": round(over * WIDTH - width - round(side)),
        "top": round(top),
        "bottom": round(over * HEIGHT - height - round(top)),
    }
    return chart


def _without_points(part: Any) -> Any:
    """The same without the points of panels: they need no room outside, and take long to draw."""
    if isinstance(part, list):
        return [_without_points(piece) for piece in part]
    if "mark" not in part:
        inner = ("layer", "concat", "vconcat")
        return {k: _without_points(v) if k in inner else v for k, v in part.items()}
    is_cloud = part["mark"]["type"] == "circle" and "color" in part["encoding"]
    return part | {"data": {"values": []}} if is_cloud else part
