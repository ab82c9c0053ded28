"""Pictures are legible: no text lies over another, points and median are seen, colours differ."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import plot_files
from plot_reading import drawn, labels, overlaps, rows
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results import open_run
from ragassay.reports.charts import drawing
from ragassay.reports.plots import boxes, layouts, marks
from ragassay.reports.plots.compared import overview
from ragassay.reports.plots.series import PlotPanel, Series
from ragassay.reports.run_reports import write_comparison
from reports_examples import Kind, pair, result, samples


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
