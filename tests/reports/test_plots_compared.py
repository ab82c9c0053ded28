"""Pictures of two runs compared: the tests of ``ragassay compare``, legible for many metrics."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import plot_files
from plot_reading import labels, overlaps, rows
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results import open_run
from ragassay.reports.charts import drawing
from ragassay.reports.plots.compared import overview
from ragassay.reports.run_reports import write_comparison
from reports_examples import pair


def test_compare_writes_the_same_picture_of_two_runs(tmp_path: Path) -> None:
    found, a, b = pair(30)
    write_comparison(found, a, b, tmp_path / "d.svg")
    texts = {element.text for element in ET.parse(tmp_path / "d.svg").iter() if element.text}
    assert {d.name for d in found.differences} <= texts
    drawn_rows = rows(overview(found, a, b), "diff", "low", "high")
    shown = {(d.diff, d.low, d.high) for d in found.differences}
    assert {(row["diff"], row["low"], row["high"]) for row in drawn_rows} == shown
    assert {d.verdict for d in found.differences} <= {
        text.rpartition(" · ")[2] for text in texts if " · " in text
    }


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The picture of two runs compared on 42 metrics, and their names."""
    place = tmp_path_factory.mktemp("many")
    folders = [plot_files.many_metrics(place / name, new=name == "new") for name in ("new", "old")]
    new, old = map(open_run, folders)
    return overview(compare(new, old), new, old), list(new.summary.metrics)


def test_labels_of_many_metrics_never_overlap(many: Any, tmp_path: Path) -> None:
    drawing.save(many[0], tmp_path / "d.svg")
    texts = labels(tmp_path / "d.svg")
    assert len(texts) > 42 * 5
    assert overlaps(texts) == []


def test_metrics_of_one_scale_stand_together_above_an_axis(many: Any) -> None:
    spec, order = many
    drawn_order = [row["text"] for row in rows(spec, "text") if row["text"] in order]
    closed = [name for at, name in enumerate(order) if at % 3]
    first = [name for name in drawn_order if name in closed]
    assert first == closed, "in the order given"
    at = drawn_order.index(closed[0])
    assert drawn_order[at : at + len(closed)] == closed
