"""Marks of a Vega-Lite chart as plain mappings: a picture has thousands of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.reports.charts import INK, Spec
from ragassay.reports.text import wording

Channel = Mapping[str, Any]

DASHES = (6, 5)
"""Dashes and gaps, in pixels, of an interval from which nothing may be concluded."""

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


def diamond(rows: Sequence[Spec], channels: Mapping[str, Channel], ink: str = INK) -> Spec:
    """The mark of a mean.

    Args:
        rows: data of the mark.
        channels: encodings by name.
        ink: colour of the outline.
    """
    return mark(
        "point", rows, channels, shape="diamond", size=62, filled=True, fill="#ffffff", stroke=ink,
        strokeWidth=1.4 if ink == INK else 2, opacity=1,
    )  # fmt: skip


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
    """A colour for each of some values, without a legend.

    Args:
        field: of the rows.
        domain: its values.
        colors: one for each value.
    """
    scale = {"domain": list(domain), "range": list(colors)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


WORDS: Channel = {"field": "text", "type": "nominal"}
"""The text that a row holds."""
