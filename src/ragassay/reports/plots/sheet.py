"""The marks of a picture, and its sheet: 16 to 9, for a slide, with room for every label.

Vega lays the panels out by what stands in and beside them; what is left of the sheet goes to the
panels, and then to its margin. Marks are plain mappings: a picture has thousands of points.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.reports.charts import drawing
from ragassay.reports.charts.drawing import INK, PALETTE, Spec
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

Draw = Callable[[float, float], Spec]
"""Gives a chart without a title, from the width of a panel and the height of a row in pixels."""


def color(at: int) -> str:
    """The colour of the file at a place."""
    return COLORS[at % len(COLORS)]


def filled(
    draw: Draw,
    title: str,
    notes: Sequence[str],
    *,
    across: int,
    down: int,
    widths: tuple[float, float],
    rows: tuple[float, float],
) -> Spec:
    """A picture whose panels fill the sheet, with title and notes; a larger sheet where they need
    it."""
    head = [line for note in notes for line in _lines(note)]
    # The title may be wider than all panels, and leaves no room for them to grow into.
    width, height = _size(_titled(draw(widths[0], rows[0]), "", ["x"] * len(head)))
    wide, high = (width + 2 * MARGIN) / WIDTH, (height + 2 * MARGIN) / HEIGHT
    larger = max(1.0, wide, high)
    room = (larger * WIDTH - 2 * MARGIN - width) / across, (larger - high) * HEIGHT / down
    chart = draw(min(widths[0] + room[0], widths[1]), min(rows[0] + room[1], rows[1]))
    return _fitted(_titled(chart, title, head))


def _titled(chart: Spec, title: str, notes: Sequence[str]) -> Spec:
    titled = drawing.house(title, notes) | chart
    titled["title"] |= {
        "fontSize": TITLE,
        "color": INK,
        "subtitleFontSize": NORMAL,
        "subtitleLineHeight": 17,
        "subtitlePadding": 6,
        "frame": "bounds",
        "offset": 22,
    }
    return titled


def number(value: float | None) -> str:
    """A number short enough for a slide: three decimals, or as many as four digits leave room."""
    if value is None:
        return wording.NOTHING
    size = abs(value)
    text = f"{value:,.{3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def wrapped(text: str, width: float, size: float, most: int) -> list[str]:
    """A text broken into lines."""
    chars = max(int(width / (size * CHAR)), 2)
    lines = [line.replace(", …", " …") for line in _lines(text, chars, most)]
    return [line if len(line) <= chars else f"{line[: chars - 1]}…" for line in lines]


def _lines(text: str, chars: int = _LINE_CHARS, most: int | None = None) -> list[str]:
    """A text in lines of so many characters: those that fit the sheet, for a note."""
    return textwrap.wrap(
        wording.one_line(text), chars, max_lines=most, placeholder=" …",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _size(chart: Spec) -> tuple[float, float]:
    """Width and height of what a chart draws. Its points need no room, and take long to draw."""
    size = _SIZE.search(drawing.as_svg(_outline(chart)))
    if size is None:
        raise UsageError("The chart library drew a picture without a size.")
    return float(size[1]), float(size[2])


def _fitted(chart: Spec) -> Spec:
    """The same with margins that make the sheet 16 to 9 and put the picture into its middle."""
    width, height = _size(chart)
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


def _outline(chart: Spec) -> Spec:
    """The parts of a chart that need room: texts, and the first mark of each panel for its axes."""
    panels = [
        panel
        | {
            "layer": [
                one for at, one in enumerate(panel["layer"]) if "text" in one["encoding"] or not at
            ]
        }
        for panel in chart["concat"]
    ]
    return chart | {"concat": panels, "padding": 0}


Channel = Mapping[str, Any]

DASHED = "Nothing may be concluded from a dashed interval."
"""The note of a picture that has such intervals."""


def mark(kind: str, rows: Sequence[Spec], channels: Mapping[str, Channel], **style: Any) -> Spec:
    """One layer: a mark for each row."""
    return {
        "data": {"values": list(rows)},
        "mark": {"type": kind, **style},
        "encoding": dict(channels),
    }


def mean(
    rows: Sequence[Spec], x: Callable[[str], Channel], y: Channel, ink: str = INK, size: float = 3.5
) -> list[Spec]:
    """Means on their intervals, which are dashed where nothing may be concluded from them."""
    lines = [
        mark(
            "rule",
            [row for row in rows if row["low"] is not None and row["indicative"] == indicative],
            {"x": x("low"), "x2": to("high"), "y": y},
            **({"strokeDash": [6, 5]} if indicative else {}),
            size=size,
            color=ink,
        )
        for indicative in (False, True)
    ]
    diamonds = mark(
        "point", [row for row in rows if row["mean"] is not None], {"x": x("mean"), "y": y},
        shape="diamond", size=62, filled=True, fill="#ffffff", stroke=ink,
        strokeWidth=1.4 if ink == INK else 2, opacity=1,
    )  # fmt: skip
    return [*lines, diamonds]


def text(words: str, x: float, y: float, **style: Any) -> Spec:
    """Words at a place of the panel."""
    place = {"x": here(x), "y": here(y), "text": WORDS}
    return mark("text", [{"text": wording.one_line(words)}], place, **style)


def along(field: str, low: float, high: float, axis: Channel | None = None) -> Channel:
    """A field on a scale."""
    scale = {"domain": [low, high], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "title": None, "axis": axis, "scale": scale}


def to(field: str) -> Channel:
    """The other end of a mark."""
    return {"field": field}


def here(pixels: float) -> Channel:
    """A fixed place."""
    return {"value": pixels}


def colored(field: str, domain: Sequence[Any], colors: Sequence[str]) -> Channel:
    """A colour for each of some values, without a legend."""
    scale = {"domain": list(domain), "range": list(colors)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


WORDS: Channel = {"field": "text", "type": "nominal"}
"""The text that a row holds."""
