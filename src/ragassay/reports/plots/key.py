"""What the marks of a picture mean, drawn small below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.reports.charts import INK, MUTED, Spec
from ragassay.reports.plots import marks, sheet
from ragassay.reports.text import wording

if TYPE_CHECKING:
    from ragassay.reports.plots.series import Series

_GREY = "#8a93a0"
_ARROW = "↑ higher is better"
HEIGHT = 26.0
"""Of the key in pixels."""

CHAR = 0.545
"""Width of a character of a sentence as a share of the font size."""

_GLYPH, _SPACE = 54.0, 20.0


def interval_words(series: Sequence[Series]) -> str:
    """Level and kind of the intervals drawn, where they agree."""
    kinds = [
        (m.level, m.interval)
        for one in series
        for m in one.result.summary.metrics.values()
        if m.low is not None
    ]
    if not kinds:
        return "mean"
    if len(set(kinds)) > 1:
        return "mean with its interval"
    level, kind = kinds[0]
    return f"mean, {wording.percent(level)} interval ({wording.interval_name(kind)})"


def box_key(series: Sequence[Series], point: str, *, left: float) -> Spec:
    """The key of a box plot: box, whiskers, points, mean and interval, each beside its meaning.

    Args:
        series: the files.
        point: what a point is.
        left: pixels by which it begins to the left of its own place, under the names of the files.
    """
    words = [
        f"point: one {point}",
        "box: middle half, with the median",
        "whiskers: up to 1.5 boxes long",
        interval_words(series),
    ]
    starts, x = [], -left
    for meaning in words:
        starts.append(x)
        x += _GLYPH + 8 + len(meaning) * sheet.SMALL * CHAR + _SPACE
    mid = HEIGHT / 2
    texts = [(start + _GLYPH + 8, meaning) for start, meaning in zip(starts, words, strict=True)]
    if any(m.higher_is_better for one in series for m in one.result.summary.metrics.values()):
        texts.append((x, _ARROW))
        x += len(_ARROW) * sheet.SMALL * CHAR
    width = x
    dots, box, whiskers, mean = starts
    cloud = [{"x": dots + 8 + 7 * at, "y": mid + dy} for at, dy in enumerate((3, -4, 5, -1, 4, -5))]
    place = {"x": marks.along("x", 0, width), "y": marks.along("y", HEIGHT, 0)}
    layers = [
        marks.mark("circle", cloud, place, size=26, color=_GREY, opacity=0.7),
        _box(box + 8, box + 48, width),
        _line(box + 31, box + 31, 9, width, size=2.5, color=INK),
        _line(whiskers + 2, whiskers + 18, 0, width),
        _line(whiskers + 38, whiskers + 54, 0, width),
        _line(whiskers + 2, whiskers + 2, 5, width),
        _line(whiskers + 54, whiskers + 54, 5, width),
        _box(whiskers + 18, whiskers + 38, width),
        _line(mean + 6, mean + 50, 0, width, size=3.5, color=INK),
        marks.diamond([{"x": mean + 28, "y": mid}], place),
        *(
            marks.text(meaning, at, mid, align="left", baseline="middle", fontSize=sheet.SMALL,
                       color=MUTED)
            for at, meaning in texts
        ),
    ]  # fmt: skip
    return marks.layered(layers, width, HEIGHT)


def _box(x: float, x2: float, width: float) -> Spec:
    row = {"x": x, "x2": x2, "y": HEIGHT / 2 - 9, "y2": HEIGHT / 2 + 9}
    style = {"fill": _GREY, "fillOpacity": 0.2, "stroke": _GREY, "strokeWidth": 1.5}
    return marks.mark("rect", [row], _ends(width) | {"y2": marks.to("y2")}, **style)


def _line(
    x: float, x2: float, reach: float, width: float, size: float = 1.5, color: str = _GREY
) -> Spec:
    """A line across, or down where it has a reach."""
    row = {"x": x, "x2": x2, "y": HEIGHT / 2 - reach, "y2": HEIGHT / 2 + reach}
    ends = _ends(width)
    if reach:
        ends = {"x": ends["x"], "y": ends["y"], "y2": marks.to("y2")}
    return marks.mark("rule", [row], ends, size=size, color=color)


def _ends(width: float) -> dict[str, marks.Channel]:
    return {
        "x": marks.along("x", 0, width),
        "x2": marks.to("x2"),
        "y": marks.along("y", HEIGHT, 0),
    }
