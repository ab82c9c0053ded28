"""A chart that a notebook shows and that is saved to a file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.reports.charts import drawing


@dataclass(frozen=True)
class Chart:
    """A picture, drawn offline when it is shown or saved.

    Attributes:
        spec: of Vega-Lite.
    """

    spec: drawing.Spec

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
        drawing.save(self.spec, path)
        return Path(path)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """What a notebook shows: an SVG, which needs no script."""
        return {"image/svg+xml": drawing.as_svg(self.spec), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "<Chart: a notebook shows it, save('chart.png') writes it to a file>"
