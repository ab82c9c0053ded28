"""The marks of a picture, and its size: about 16 to 9, for a slide, larger where labels need room.

Marks are plain mappings: a picture has thousands of points.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.reports.charts import drawing
from ragassay.reports.charts.drawing import INK, PALETTE, Spec
from ragassay.reports.text import wording

WIDTH, HEIGHT, MARGIN = 1280.0, 720.0, 28.0
"""Of a picture in CSS pixels; a PNG has twice as many."""

SMALL, NORMAL, HEADING, TITLE = 11.5, 12.5, 14.5, 22.0
"""Font sizes."""

NOTE_PITCH = 17.0
"""From one line of the notes to the next."""

CHAR = 0.6
"""Width of a character as a share of the font size: DejaVu Sans, rounded up."""

COLORS = (*PALETTE, "#661100")
"""Eight colours that people with any kind of colour vision can distinguish."""

DASHED = "Nothing may be concluded from a dashed interval."
"""The note of a picture that has such intervals."""

_LINE_CHARS = 165

Channel = Mapping[str, Any]
WORDS: Channel = {"field": "text", "type": "nominal"}
"""The text that a row holds."""


def color(at: int) -> str:
    """The colour of the file at a place."""
    return COLORS[at % len(COLORS)]


def note_lines(notes: Sequence[str]) -> list[str]:
    """Notes in lines that fit a picture."""
    return [line for note in notes for line in _lines(note, _LINE_CHARS)]


def titled(chart: Spec, title: str, notes: Sequence[str]) -> Spec:
    """A chart with its title, and notes of as many lines below it."""
    whole = drawing.house(title, notes) | chart | {"padding": MARGIN}
    whole["title"] |= {
        "fontSize": TITLE,
        "color": INK,
        "subtitleFontSize": NORMAL,
        "subtitleLineHeight": NOTE_PITCH,
        "subtitlePadding": 6,
        "frame": "bounds",
        "offset": 22,
    }
    return whole


def number(value: float | None) -> str:
    """A number short enough for a slide: three decimals, or as many as four digits leave room."""
    if value is None:
        return wording.NOTHING
    size = abs(value)
    text = f"{value:,.{3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def wrapped(text: str, width: float, size: float, most: int) -> list[str]:
    """A text broken into at most so many lines of a width, by the size of the font, in pixels. Text
    beyond them is left out, and an ellipsis shows it."""
    chars = max(int(width / (size * CHAR)), 2)
    lines = [line.replace(", …", " …") for line in _lines(text, chars, most)]
    return [line if len(line) <= chars else f"{line[: chars - 1]}…" for line in lines]


def _lines(text: str, chars: int, most: int | None = None) -> list[str]:
    return textwrap.wrap(
        wording.one_line(text), chars, max_lines=most, placeholder=" …",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def mark(kind: str, rows: Sequence[Spec], channels: Mapping[str, Channel], **style: Any) -> Spec:
    """One layer: a Vega-Lite mark for each row, with encodings by name."""
    return {
        "data": {"values": list(rows)},
        "mark": {"type": kind, **style},
        "encoding": dict(channels),
    }


def mean(
    rows: Sequence[Spec], x: Callable[[str], Channel], y: Channel, ink: str = INK
) -> list[Spec]:
    """Means on their intervals, dashed where nothing may be concluded from them.

    Rows have ``mean``, ``low``, ``high`` (``None`` where there is none) and ``indicative``.
    """
    lines = [
        mark(
            "rule",
            [row for row in rows if row["low"] is not None and row["indicative"] == indicative],
            {"x": x("low"), "x2": to("high"), "y": y},
            **({"strokeDash": [6, 5]} if indicative else {}),
            size=3.5,
            color=ink,
        )
        for indicative in (False, True)
    ]
    diamonds = mark(
        "point", [row for row in rows if row["mean"] is not None], {"x": x("mean"), "y": y},
        shape="diamond", size=62, filled=True, fill="#ffffff", stroke=ink, strokeWidth=1.6,
        opacity=1,
    )  # fmt: skip
    return [*lines, diamonds]


def text(words: str, x: float, y: float, **style: Any) -> Spec:
    """Words at a place of the panel, in pixels from its upper left corner."""
    place = {"x": here(x), "y": here(y), "text": WORDS}
    return mark("text", [{"text": wording.one_line(words)}], place, **style)


def along(field: str, low: float, high: float, axis: Channel | None = None) -> Channel:
    """A field on a scale; ``low`` may be above ``high``."""
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
