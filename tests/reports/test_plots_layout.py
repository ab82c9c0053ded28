"""Pictures are legible: no text lies over another, and each is where it belongs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import plot_files
from plot_reading import drawn, labels, marks, overlaps, words
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results import open_run
from ragassay.reports.charts import boxes, layouts, result_files as sources, svg
from ragassay.reports.charts.boxes import BoxPanel, Series, overview
from reports_examples import Kind, pair, result, samples


def test_no_heading_runs_into_the_next_panel(tmp_path: Path) -> None:
    names = (*layouts.CONSISTENCY_TITLES, *(f"another-one-with-a-name-{n}" for n in range(6)))
    cells = {
        f"q{at}": {name: plot_files.stats([0.1 * at, 0.2, 0.4]) for name in names}
        for at in range(5)
    }
    paths = [plot_files.consistency(tmp_path / f"{name}.csv", cells) for name in ("new", "old")]
    for files in (paths[:1], paths):
        for wanted in (None, list(cells["q0"])):
            found = labels(drawn(*files, evaluator="consistency", metrics=wanted))
            assert "mean_nugget_assignment_score ↑" in {text for text, *_ in found}
            assert overlaps(found) == []


@pytest.mark.parametrize("n_files", [1, 2])
def test_intervals_have_numbers_and_notes_take_three_lines_below(tmp_path, n_files: int) -> None:
    queries = plot_files.many(40)
    paths = [plot_files.ore(tmp_path / f"{at}.csv", queries) for at in range(n_files)]
    shown = drawn(*paths, metrics=["nuggets.all"])
    texts = labels(replace(shown, notes=(*shown.notes, "word " * 200)))
    for series in sources.opened(paths, "trec").series:
        found = series.metric("nuggets.all")
        assert found is not None
        assert f"[{found.low:.3f}, {found.high:.3f}]" in {text for text, *_ in texts}
    assert overlaps(texts) == []
    scale = max(top for text, *_, top, _ in texts if text == "0.2")
    below = [text for text, *_, top, _ in texts if top > scale + 10]
    assert len(below) == svg.NOTE_LINES and below[-1].endswith("…")
    assert drawn(*paths, metrics=["nuggets.all"]).panels[0].size[1] > 0.7 * svg.HEIGHT
    answered = drawn(*paths, metrics=["answered"])
    (panel,) = answered.panels
    edge = svg.MARGIN + panel.size[0] - boxes._BESIDE
    shares = [left for text, left, right, *_ in labels(answered) if text.endswith(" %")]
    assert len(shares) == n_files and min(shares) > edge + 20, "beside the mark at 100 %"


@pytest.mark.parametrize("n_metrics", [2, 5, 12])
def test_why_there_is_no_value_is_said_within_its_panel(n_metrics: int) -> None:
    reasons = [Reason.NEEDS_EXTRA] * 15 + [Reason.MISSING_INPUT, Reason.CONTEXT_TOO_LONG]
    outcomes: list[Outcome] = [Unscored(reason, "") for reason in reasons]
    names = [f"metric-{at}" for at in range(n_metrics)]
    kinds = tuple(Kind(name, "", "answer") for name in names)
    run = result(samples(len(reasons)), dict.fromkeys(names, outcomes), kinds)
    systems = ("new", "a-system-with-a-longer-name", *(f"system-{at}" for at in range(6)))
    series = tuple(Series(name, run) for name in systems)
    panels = [BoxPanel(name, name, "↑", series) for name in names]
    found = labels(boxes.boxes(panels, "title", [], "value"))
    told = [text for text in found if text[0].startswith("no value: needs extra")]
    assert len(told) == n_metrics * len(series)
    assert overlaps(found) == []
    lefts = {round(left) for text, left, *_ in found if text in names}
    assert {round(left - 6) for _, left, *_ in told} == lefts


def test_a_text_is_wrapped_to_its_room_or_cut_with_an_ellipsis() -> None:
    text = "no value: needs extra (15), missing input (1), undefined (1)"
    chars = svg.CHAR * 10
    assert svg.wrapped(text, 100 * chars, 10, 1) == [text]
    two = svg.wrapped(text, 32 * chars, 10, 2)
    assert " ".join(two) == text and max(map(len, two)) <= 32
    (cut,) = svg.wrapped(text, 32 * chars, 10, 1)
    assert cut.startswith("no value: needs extra (15)") and cut.endswith("…") and len(cut) <= 32
    assert svg.wrapped("x" * 40, 10 * chars, 10, 3) == ["x" * 9 + "…"]


def test_a_scale_has_a_few_round_numbers() -> None:
    assert svg.ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert svg.ticks(-0.262, 0.262) == [-0.2, -0.1, 0, 0.1, 0.2]
    assert svg.ticks(12, 1_890) == [500, 1000, 1500]
    assert svg.ticks(3, 3) == [3]


def test_compare_writes_the_same_picture_of_two_runs(tmp_path: Path) -> None:
    found, a, b = pair(30)
    replace(found, runs=(a, b)).save(tmp_path / "d.svg")
    said = words(tmp_path / "d.svg")
    assert {d.name for d in found.differences} <= {*said}
    assert {d.verdict for d in found.differences} <= {text.rpartition(" · ")[2] for text in said}
    for d in found.differences:
        assert d.diff is not None and any(text.startswith(f"{d.diff:+.3f} · ") for text in said)
    shown = overview(found, a)
    (zero, *_), dots = marks(shown, "zero"), marks(shown, "dot")
    right = [float(dot.get("cx", "")) > float(zero.get("x1", "")) for dot in dots]
    assert right == [d.diff is not None and d.diff > 0 for d in found.differences]


def test_a_difference_from_which_nothing_follows_is_dashed_and_says_so() -> None:
    found, a, _ = pair(30)
    assert not marks(overview(found, a), "dashed")
    first, *others = found.differences
    hinted = replace(found, differences=(replace(first, standing="indicative"), *others))
    shown = overview(hinted, a)
    assert len(marks(shown, "dashed")) == 1 and svg.DASHED in shown.notes


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The picture of two runs compared on 42 metrics, and their names."""
    place = tmp_path_factory.mktemp("many")
    folders = [plot_files.many_metrics(place / name, new=name == "new") for name in ("new", "old")]
    new, old = map(open_run, folders)
    return overview(compare(new, old), new), list(new.summary.metrics)


def test_labels_of_many_metrics_never_overlap(many: Any) -> None:
    texts = labels(many[0])
    assert len(texts) > 42 * 5
    assert overlaps(texts) == []


def test_metrics_of_one_scale_stand_together_above_an_axis(many: Any) -> None:
    shown, order = many
    drawn_order = [text for text in words(shown) if text in order]
    closed = [name for at, name in enumerate(order) if at % 3]
    assert [name for name in drawn_order if name in closed] == closed, "in the order given"
    at = drawn_order.index(closed[0])
    assert drawn_order[at : at + len(closed)] == closed
