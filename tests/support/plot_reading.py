"""What a picture draws, read back from its chart or its SVG."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from ragassay.reports.charts import layouts, picture, result_files as sources
from ragassay.reports.charts.svg import Chart

TREC = ["umbrela", "nuggets.all", "nuggets.vital", "hhem", "citation.f1", "answered"]


def drawn(
    *files: Path, evaluator: layouts.Evaluator = "trec", metrics: list[str] | None = None
) -> Chart:
    """The picture that ``ragassay plot`` makes of files."""
    found = sources.opened(files, evaluator)
    return picture.draw(found, *sources.chosen(found, metrics))


def words(shown: Chart | Path) -> list[str]:
    """Every text that is drawn, title and notes too."""
    svg = shown.read_text() if isinstance(shown, Path) else shown.svg()
    return [one.text for one in ET.fromstring(svg).iter() if one.tag.endswith("text") and one.text]


def marks(shown: Chart, kind: str) -> list[ET.Element]:
    """The shapes of a class."""
    return [
        one for one in ET.fromstring(shown.svg()).iter() if kind in one.get("class", "").split()
    ]


Label = tuple[str, float, float, float, float]


def overlaps(texts: list[Label]) -> list[tuple[str, str]]:
    """The pairs of texts that lie over each other."""
    return [
        (one[0], two[0])
        for at, one in enumerate(texts)
        for two in texts[:at]
        if one[1] < two[2] and two[1] < one[2] and one[3] < two[4] and two[3] < one[4]
    ]


def labels(shown: Chart) -> list[Label]:
    """Each text of a picture with its left, right, top and bottom (somewhat less than it takes)."""
    found = []

    def walk(element: ET.Element, x: float, y: float) -> None:
        moved = re.search(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag.endswith("text") and element.text:
            size = float(element.get("font-size", "0"))
            width = len(element.text) * size * 0.5
            anchor = element.get("text-anchor", "start")
            left = x + float(element.get("x", "0"))
            left -= {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            bottom = y + float(element.get("y", "0"))
            found.append((element.text, left, left + width, bottom - 0.7 * size, bottom))
        for inner in element:
            walk(inner, x, y)

    walk(ET.fromstring(shown.svg()), 0.0, 0.0)
    return found
