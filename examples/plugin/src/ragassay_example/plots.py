"""A plot: the means of run folders as bars."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from ragassay.engine.results import open_run


def means(files: Sequence[Path], metrics: Sequence[str] | None) -> str:
    """An SVG.

    Args:
        files: run folders.
        metrics: which to draw; all where left out.
    """
    bars = [
        (f"{folder.name}: {name}", one.mean)
        for folder in files
        for name, one in open_run(folder).summary.metrics.items()
        if one.mean is not None and (metrics is None or name in metrics)
    ]
    longest = max((abs(mean) for _, mean in bars), default=1.0) or 1.0
    shapes = "".join(
        f'<text x="4" y="{20 * at + 14}" font-size="12">{escape(name)}</text>'
        f'<rect x="300" y="{20 * at + 3}" width="{300 * abs(mean) / longest:.1f}" height="14"/>'
        for at, (name, mean) in enumerate(bars)
    )
    size = f'width="620" height="{20 * len(bars)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{shapes}</svg>'
