"""A plot: the means of run folders as bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragassay.engine.results import open_run


def means(files: Sequence[Path], metrics: Sequence[str] | None) -> dict[str, Any]:
    """A Vega-Lite chart.

    Args:
        files: run folders.
        metrics: which to draw; all where left out.
    """
    bars = [
        {"run": folder.name, "metric": name, "mean": one.mean}
        for folder in files
        for name, one in open_run(folder).summary.metrics.items()
        if one.mean is not None and (metrics is None or name in metrics)
    ]
    return {
        "data": {"values": bars},
        "mark": "bar",
        "encoding": {
            "y": {"field": "metric", "type": "nominal"},
            "x": {"field": "mean", "type": "quantitative"},
            "row": {"field": "run", "type": "nominal"},
        },
    }
