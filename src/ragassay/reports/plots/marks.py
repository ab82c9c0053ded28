"""Marks of a Vega-Lite chart as plain mappings: a picture has thousands of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.reports.charts.drawing import INK, Spec
from ragassay.reports.text import wording

Channel = Mapping[str, Any]

DASHED = "Nothing may be concluded from a dashed interval."
"""The note of a picture that has such intervals."""


def mark(kind: str, rows: Sequence[Spec], channels: Mapping[str, Channel], **style: Any) -> Spec:
    """One layer: a mark for each row.

    Args:
        kind: of Vega-Lite.
        rows: data of the mark.
        channels: encodings by name.
        style: properties of the mark.
    """
    return {
        "data": {"values": list(rows)},
        "mark": {"type": kind, **style},
        "encoding": dict(channels),
    }


def mean(
    rows: Sequence[Spec], x: Callable[[str], Channel], y: Channel, ink: str = INK, size: float = 3.5
) -> list[Spec]:
    """Means on their intervals, which are dashed where nothing may be concluded from them.

    Args:
        rows: each with ``mean``, ``low`` and ``high`` (which may be missing), and ``indicative``.
        x: from a field to a place on the scale.
        y: place of a row.
        ink: colour of lines.
        size: of the intervals' lines.
    """
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
    """Words at a place of the panel.

    Args:
        words: to write.
        x, y: in pixels from the upper left corner of the panel.
        style: properties of the mark.
    """
    place = {"x": here(x), "y": here(y), "text": WORDS}
    return mark("text", [{"text": wording.one_line(words)}], place, **style)


def along(field: str, low: float, high: float, axis: Channel | None = None) -> Channel:
    """A field on a scale.

    Args:
        field: of the rows.
        low, high: ends of the scale; ``low`` may be above ``high``.
        axis: of the scale; none where left out.
    """
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
