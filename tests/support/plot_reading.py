"""What a picture draws, read back from its chart or its SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from ragassay.reports.plots import layouts, picture, result_files as sources

TREC = ["umbrela", "nuggets.all", "nuggets.vital", "hhem", "citation.f1", "answered"]


def walk(part: Any) -> Any:
    """Every mapping of a chart."""
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from walk(value)
    elif isinstance(part, list):
        for value in part:
            yield from walk(value)


def rows(spec: Any, *fields: str) -> list[dict[str, Any]]:
    """The rows of data that have these fields; layers that draw the same rows count once."""
    layers: list[Any] = []
    for part in walk(spec):
        if "mark" in part and part["data"]["values"] not in layers:
            layers.append(part["data"]["values"])
    return [row for values in layers for row in values if set(fields) <= set(row)]


def words(spec: Any) -> list[str]:
    """Every text that is drawn, title and notes too."""
    title = spec["title"]
    return [row["text"] for row in rows(spec, "text")] + [title["text"], *title["subtitle"]]


def drawn(
    *files: Path,
    evaluator: layouts.Evaluator = "trec",
    metrics: list[str] | None = None,
) -> Any:
    found = sources.opened(files, evaluator)
    chosen = sources.chosen(found, metrics)
    return picture.draw(found, chosen, chosen=metrics is not None)


Label = tuple[str, float, float, float, float]


def overlaps(texts: list[Label]) -> list[tuple[str, str]]:
    """The pairs of texts that lie over each other."""
    return [
        (one[0], two[0])
        for at, one in enumerate(texts)
        for two in texts[:at]
        if one[1] < two[2] and two[1] < one[2] and one[3] < two[4] and two[3] < one[4]
    ]


def labels(svg: Path) -> list[Label]:
    """Each text of a picture with its left, right, top and bottom (somewhat less than it takes)."""
    found = []

    def walk_svg(element: ET.Element, x: float, y: float) -> None:
        moved = re.search(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag.endswith("text") and element.text:
            size = float(element.get("font-size", "0").removesuffix("px"))
            width = len(element.text) * size * 0.5
            anchor = element.get("text-anchor", "start")
            left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            found.append((element.text, left, left + width, y - 0.7 * size, y))
        for inner in element:
            walk_svg(inner, x, y)

    walk_svg(ET.parse(svg).getroot(), 0.0, 0.0)
    return found
