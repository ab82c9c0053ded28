"""The house style of charts, and how a chart becomes a file. Everything is drawn offline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.base import files
from ragassay.base.errors import UsageError, extra_needed
from ragassay.reports.text import wording

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
"""Okabe and Ito's colours, which people with any kind of colour vision can distinguish."""

INK, MUTED, GRID = "#1c2330", "#5b6472", "#e3e6ea"
_FONT = "DejaVu Sans, Liberation Sans, Arial, Helvetica, sans-serif"

_CONFIG = {
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": GRID,
        "labelColor": MUTED,
        "labelFontSize": 11.5,
        "labelPadding": 7,
        "labelFlush": False,
        "format": ",~f",
    },
}

_SUFFIXES = (".png", ".svg", ".json")

Spec = dict[str, Any]


def save(spec: Spec, path: str | Path) -> None:
    """Draws a Vega-Lite chart into a file, without any network or file access.

    Args:
        spec: of Vega-Lite.
        path: of the file; its suffix names the form.

    Raises:
        UsageError: the suffix is not ``.png``, ``.svg`` or ``.json``, or the file cannot be
            written, or the extra ``plots`` is not installed.
    """
    import orjson

    target = Path(path)
    check_suffix(target)
    match target.suffix.casefold():
        case ".png":
            content = renderer().vegalite_to_png(spec, scale=2.0, allowed_base_urls=[])
        case ".svg":
            content = as_svg(spec).encode()
        case _:
            content = orjson.dumps(spec)
    files.write_bytes(target, content)


def as_svg(spec: Spec) -> str:
    """The chart as SVG, drawn without any network or file access."""
    drawn: str = renderer().vegalite_to_svg(spec, allowed_base_urls=[])
    return drawn


def renderer() -> Any:
    """The library that draws Vega-Lite charts, which is no part of the core: it is 84 MB large."""
    with extra_needed("Pictures of charts need their package", "plots"):
        import vl_convert
    return vl_convert


def check_suffix(path: Path) -> None:
    """Raises an error, before any work, where a chart cannot be written under a name."""
    suffix = path.suffix.casefold()
    if suffix not in _SUFFIXES:
        raise UsageError(
            f"{path}: a chart cannot be written as {suffix or 'a file without a suffix'!r}. "
            "Use .png, .svg or .json."
        )


def house(title: str, notes: Sequence[str]) -> Spec:
    """The house style for a chart, without the menu that sends data away."""
    return {
        "title": {
            "text": wording.one_line(title),
            "subtitle": [wording.one_line(note) for note in notes],
            "anchor": "start",
            "subtitleColor": MUTED,
        },
        "background": "#ffffff",
        "config": _CONFIG,
        "usermeta": {"embedOptions": {"actions": False}},
    }


@dataclass(frozen=True)
class Chart:
    """A picture, drawn offline when it is shown or saved.

    Attributes:
        spec: of Vega-Lite.
    """

    spec: Spec

    def save(self, path: str | Path) -> Path:
        """Writes the picture.

        Args:
            path: of the file; its suffix names the form: ``.png``, ``.svg`` or ``.json`` (of
                Vega-Lite).

        Returns:
            The path.

        Raises:
            UsageError: another suffix, or the file cannot be written.
        """
        save(self.spec, path)
        return Path(path)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """What a notebook shows: an SVG, which needs no script."""
        return {"image/svg+xml": as_svg(self.spec), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "<Chart: a notebook shows it, save('chart.png') writes it to a file>"
