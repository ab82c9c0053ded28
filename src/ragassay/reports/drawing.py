"""The house style of charts, and how a chart becomes a file. Everything is drawn offline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragassay import files
from ragassay.engine.summary import MetricSummary
from ragassay.errors import UsageError
from ragassay.reports import wording

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
"""Okabe and Ito's colours, which people with any kind of colour vision can tell apart."""

WIDTH = 520
INK, MUTED = "#1c2330", "#5b6472"
LABEL_LINES = "split(datum.label, '\\n')"
"""Vega's expression that shows a label's lines."""

_GRID = "#e3e6ea"
_FONT = "DejaVu Sans, Liberation Sans, Arial, Helvetica, sans-serif"

Spec = dict[str, Any]


def save(spec: Spec, path: str | Path) -> None:
    """Draws a Vega-Lite chart into a file, without any network or file access.

    Raises:
        UsageError: the suffix is not ``.png``, ``.svg`` or ``.json``, or the file cannot be
            written.
    """
    import altair as alt
    import orjson
    import vl_convert

    target = Path(path)
    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    options: dict[str, Any] = {"vl_version": version, "allowed_base_urls": []}
    match target.suffix.casefold():
        case ".png":
            content = vl_convert.vegalite_to_png(spec, scale=2.0, **options)
        case ".svg":
            content = vl_convert.vegalite_to_svg(spec, **options).encode()
        case ".json":
            content = orjson.dumps(spec)
        case other:
            raise UsageError(
                f"{target}: a chart cannot be written as {other or 'a file without a suffix'!r}. "
                "Use .png, .svg or .json."
            )
    files.write_bytes(target, content)


def spec(chart: Any, title: str, notes: Sequence[str]) -> Spec:
    """The chart as a dictionary, in the house style, without the menu that sends data away."""
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
            domainColor=_GRID,
            gridColor=_GRID,
            tickColor=_GRID,
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
    found: Spec = styled.to_dict(validate=False)
    found["usermeta"] = {"embedOptions": {"actions": False}}
    return found


def data(values: Sequence[Spec]) -> Spec:
    """Rows that stand in the chart itself. Their field names are ours, never from the data."""
    return {"values": list(values)}


def by_bounds(metrics: Iterable[MetricSummary]) -> list[list[MetricSummary]]:
    """Metrics with the same closed range share a scale; each other one has its own."""
    groups: dict[object, list[MetricSummary]] = {}
    for metric in metrics:
        closed = None not in metric.bounds
        groups.setdefault(metric.bounds if closed else metric.name, []).append(metric)
    return list(groups.values())


def label(name: str, higher: bool | None, tail: str) -> str:
    """A metric's name with its direction, and a second line."""
    head = " ".join(filter(None, (wording.one_line(name), wording.arrow(higher))))
    return f"{head}\n{tail}" if tail else head
