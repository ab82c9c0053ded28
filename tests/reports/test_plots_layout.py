"""Pictures are legible: no text lies over another, points and median are seen, colours differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plot_files
from plot_reading import drawn, labels, overlaps, walk
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.reports.charts import drawing
from ragassay.reports.plots import boxes, layouts, marks
from ragassay.reports.plots.series import PlotPanel, Series
from reports_examples import Kind, result, samples


def test_no_heading_runs_into_the_next_panel(tmp_path: Path) -> None:
    cells = {
        f"q{at}": {
            name: plot_files.stats([0.1 * at, 0.2, 0.4])
            for name in (
                *layouts.CONSISTENCY_TITLES,
                *(f"another-one-with-a-name-{n}" for n in range(6)),
            )
        }
        for at in range(5)
    }
    paths = [plot_files.consistency(tmp_path / f"{name}.csv", cells) for name in ("new", "old")]
    for files in (paths[:1], paths):
        for wanted in (None, list(cells["q0"])):
            target = tmp_path / "c.svg"
            drawing.save(drawn(*files, evaluator="consistency", metrics=wanted), target)
            heads = [text for text in labels(target) if not text[0].replace(".", "").isdigit()]
            assert "mean_nugget_assignment_score ↑" in {text for text, *_ in heads}
            assert overlaps(heads) == []


def test_points_lie_above_the_boxes_and_the_median_above_the_points(tmp_path: Path) -> None:
    paths = [plot_files.ore(tmp_path / f"{at}.csv", plot_files.many(30, at)) for at in range(8)]
    spec = drawn(*paths, metrics=["nuggets.all"])
    (panel,) = [part for part in walk(spec) if rows_of(part, "circle")]
    kinds = [layer["mark"]["type"] for layer in panel["layer"]]
    box, clouds = kinds.index("rect"), [at for at, kind in enumerate(kinds) if kind == "circle"]
    median = next(
        at for at, layer in enumerate(panel["layer"])
        if layer["encoding"].get("x", {}).get("field") == "median"
    )  # fmt: skip
    assert box < min(clouds) and max(clouds) < median
    opacity = [panel["layer"][at]["mark"]["opacity"] for at in clouds]
    assert min(opacity) > 2 * panel["layer"][box]["mark"]["fillOpacity"]
    assert panel["layer"][median]["mark"]["color"] == drawing.INK


def rows_of(part: Any, kind: str) -> bool:
    """Whether a part of a chart is a panel with marks of a kind."""
    return any(
        layer.get("mark", {}).get("type") == kind and "color" in layer["encoding"]
        and "field" in layer["encoding"]["color"]
        for layer in part.get("layer", ())
    )  # fmt: skip


def test_eight_colours_stay_apart_for_every_kind_of_colour_vision() -> None:
    """Machado, Oliveira and Fernandes 2009, full severity, on linear RGB; distances in CIE Lab."""
    visions = {
        "all": np.eye(3),
        "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
        "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
        "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                    [0.004733, 0.691367, 0.303900]],
    }  # fmt: skip
    bytes_ = np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in marks.COLORS]) / 255
    linear = np.where(bytes_ <= 0.04045, bytes_ / 12.92, ((bytes_ + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    for name, seen in visions.items():
        xyz = np.clip(linear @ np.array(seen).T, 0, 1) @ to_xyz.T / [0.9505, 1.0, 1.089]
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        lab = np.stack(
            [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
        )
        distances = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 100 * np.eye(8)
        assert distances.min() > 15, f"{name}: {distances.min():.1f}"


@pytest.mark.parametrize("n_metrics", [2, 5, 12])
def test_why_there_is_no_value_stands_within_its_panel(tmp_path: Path, n_metrics: int) -> None:
    reasons = [Reason.NEEDS_EXTRA] * 15 + [Reason.MISSING_INPUT, Reason.CONTEXT_TOO_LONG]
    outcomes: list[Outcome] = [Unscored(reason, "") for reason in reasons]
    names = [f"metric-{at}" for at in range(n_metrics)]
    kinds = tuple(Kind(name, "", "answer") for name in names)
    series = []
    for name in ("new", "a-system-with-a-longer-name", *(f"system-{at}" for at in range(6))):
        run = result(samples(len(reasons)), dict.fromkeys(names, outcomes), kinds)
        series.append(Series(name, run))
    panels = [PlotPanel(name, name, "↑") for name in names]
    target = tmp_path / "p.svg"
    drawing.save(boxes.boxes(series, panels, "title", [], "value"), target)
    found = labels(target)
    told = [text for text in found if text[0].startswith("no value: needs extra")]
    assert len(told) == n_metrics * len(series)
    assert overlaps(found) == []
    lefts = {round(left) for text, left, *_ in found if text in names}
    assert {round(left - boxes._INSET) for _, left, *_ in told} == lefts


def test_a_text_is_wrapped_to_its_room_or_cut_with_an_ellipsis() -> None:
    text = "no value: needs extra (15), missing input (1), undefined (1)"
    chars = marks.CHAR * 10
    assert marks.wrapped(text, 100 * chars, 10, 1) == [text]
    two = marks.wrapped(text, 32 * chars, 10, 2)
    assert " ".join(two) == text and max(map(len, two)) <= 32
    assert marks.wrapped(text, 32 * chars, 10, 1) == ["no value: needs extra (15) …"]
    assert marks.wrapped("x" * 40, 10 * chars, 10, 3) == ["x" * 9 + "…"]
