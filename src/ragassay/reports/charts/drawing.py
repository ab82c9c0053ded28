"""The house style of charts, and how a chart becomes a file. Everything is drawn offline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragassay import files
from ragassay.engine.results import MetricSummary
from ragassay.errors import UsageError
from ragassay.reports.text import wording

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
"""Okabe and Ito's colours, which people with any kind of colour vision can distinguish."""

WIDTH = 520
INK, MUTED = "#1c2330", "#5b6472"
LABEL_LINES = "split(datum.label, '\\n')"
"""Vega's expression that shows a label's lines."""

GRID = "#e3e6ea"
_FONT = "DejaVu Sans, Liberation Sans, Arial, Helvetica, sans-serif"

_SUFFIXES = (".png", ".svg", ".json")

Spec = dict[str, Any]


def save(spec: Spec, path: str | Path) -> None:
    """Draws a Vega-Lite chart into a file, without any network or file access.

    Args:
        spec: of Vega-Lite.
        path: of the file; its suffix names the form.

    Raises:
        UsageError: the suffix is not ``.png``, ``.svg`` or ``.json``, or the file cannot be
            written.
    """
    import orjson
    import vl_convert

    target = Path(path)
    check_suffix(target)
    match target.suffix.casefold():
        case ".png":
            content = vl_convert.vegalite_to_png(spec, scale=2.0, **_offline())
        case ".svg":
            content = as_svg(spec).encode()
        case _:
            content = orjson.dumps(spec)
    files.write_bytes(target, content)


def as_svg(spec: Spec) -> str:
    """The chart as SVG, drawn without any network or file access."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, **_offline())
    return drawn


def _offline() -> dict[str, Any]:
    """Altair's own version of Vega-Lite where the drawing library has it, and nothing loaded."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    return {"vl_version": version, "allowed_base_urls": []}


def check_suffix(path: Path) -> None:
    """Raises an error, before any work, where a chart cannot be written under a name.

    Raises:
        UsageError: the suffix is not ``.png``, ``.svg`` or ``.json``.
    """
    suffix = path.suffix.casefold()
    if suffix not in _SUFFIXES:
        raise UsageError(
            f"{path}: a chart cannot be written as {suffix or 'a file without a suffix'!r}. "
            "Use .png, .svg or .json."
        )


def spec(chart: Any, title: str, notes: Sequence[str]) -> Spec:
    """The chart as a dictionary, in the house style, without the menu that sends data away.

    Args:
        chart: of Altair.
        title: of the chart.
        notes: sentences below the title.
    """
    import altair as alt

    styled = (
        chart.properties(
            title=alt.TitleParams(
                wording.one_line(title),
                subtitle=[wording.one_line(note) for note in notes],
                anchor="start",
                fontSize=16,
                subtitleFontSize=11,
                subtitleColor=MUTED,
                offset=16,
            ),
            background="#ffffff",
            padding=20,
        )
        .configure(font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            domainColor=GRID,
            gridColor=GRID,
            tickColor=GRID,
            labelColor=INK,
            labelFontSize=11,
            titleColor=MUTED,
            titleFontWeight="normal",
            labelFlush=False,
            tickCount=6,
        )
        .configure_axisX(tickCount=10)
        .configure_legend(labelFontSize=11)
    )
    chart_spec: Spec = styled.to_dict(validate=False)
    chart_spec["usermeta"] = {"embedOptions": {"actions": False}}
    return chart_spec


def house(title: str, notes: Sequence[str]) -> Spec:
    """The house style for a chart that is written as a mapping and has no axes.

    Args:
        title: of the chart.
        notes: sentences below the title.
    """
    return {
        "title": {
            "text": wording.one_line(title),
            "subtitle": [wording.one_line(note) for note in notes],
            "anchor": "start",
            "subtitleColor": MUTED,
        },
        "background": "#ffffff",
        "config": {"font": _FONT, "view": {"stroke": None}},
        "usermeta": {"embedOptions": {"actions": False}},
    }


def data(values: Sequence[Spec]) -> Spec:
    """Rows that the chart itself contains. Their field names are ours, never from the data."""
    return {"values": list(values)}


def by_bounds(metrics: Iterable[MetricSummary]) -> list[list[MetricSummary]]:
    """Metrics with the same closed range share a scale; each other one has its own."""
    groups: dict[object, list[MetricSummary]] = {}
    for metric in metrics:
        closed = None not in metric.bounds
        groups.setdefault(metric.bounds if closed else metric.name, []).append(metric)
    return list(groups.values())


def label(name: str, higher: bool | None, tail: str) -> str:
    """A metric's name with its direction, and a second line.

    Args:
        name: of the metric.
        higher: whether higher values are better; ``None`` where neither is.
        tail: the second line.
    """
    head = " ".join(filter(None, (wording.one_line(name), wording.arrow(higher))))
    return f"{head}\n{tail}" if tail else head
