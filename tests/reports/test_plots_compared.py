"""Pictures of two runs compared: the tests of ``ragassay compare``, legible for many metrics."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plot_files
from plot_reading import TREC, labels, overlaps, rows, words
from ragassay.cli.command_line import call
from ragassay.engine.comparison.pairs import query_differences
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import drawing
from ragassay.reports.plots import layouts, picture, result_files as sources
from ragassay.reports.run_reports import write_comparison
from ragassay.reports.views import comparison_view
from reports_examples import pair


def test_a_comparison_draws_the_tests_of_compare(tmp_path: Path, capsys) -> None:
    new = plot_files.ore(tmp_path / "new.csv", plot_files.many(30, 1))
    old = plot_files.ore(tmp_path / "old.csv", plot_files.many(30, 2))
    a, b = sources.opened([new, old], "trec").series
    found, spec = picture.compared(a, b, TREC, layouts.layout_of("trec"))
    drawn_rows = rows(spec, "diff", "low", "high")
    assert {(r["diff"], r["low"], r["high"]) for r in drawn_rows} == {
        (d.diff, d.low, d.high) for d in found.differences
    }
    (vital,) = [d for d in found.differences if d.name == "nuggets.vital"]
    by_query = np.sort(
        a.result.columns.values("nuggets.vital") - b.result.columns.values("nuggets.vital")
    )
    bars = [r["value"] for r in rows(spec, "from", "to")]
    assert set(by_query.tolist()) <= set(bars)
    assert vital.diff == pytest.approx(float(by_query.mean()))
    assert {d.verdict for d in found.differences} <= {
        text.rpartition(" · ")[2] for text in words(spec)
    }
    for suffix in ("png", "svg"):
        target = tmp_path / f"d.{suffix}"
        command = ["plot", str(new), str(old), "-e", "trec", "--compare", "-o", str(target)]
        assert call(command) == 0 and target.stat().st_size > 10_000
    capsys.readouterr()


def test_each_file_is_compared_with_the_last_in_its_own_picture(tmp_path: Path, capsys) -> None:
    paths = [str(plot_files.ore(tmp_path / f"{at}.csv", plot_files.many(9, at))) for at in range(3)]
    target = tmp_path / "d.svg"
    assert call(["plot", *paths, "-e", "trec", "--compare", "-o", str(target)]) == 0
    assert [p.name for p in sorted(tmp_path.glob("*.svg"))] == ["d-1.svg", "d-2.svg"]
    assert call(["plot", paths[0], "-e", "trec", "--compare", "-o", str(target)]) == 2
    assert "needs two files" in capsys.readouterr().err


def test_compare_writes_the_same_picture_of_two_runs(tmp_path: Path) -> None:
    found, a, b = pair(30)
    write_comparison(found, a, b, tmp_path / "d.svg")
    texts = {element.text for element in ET.parse(tmp_path / "d.svg").iter() if element.text}
    assert {d.name for d in found.differences} <= texts
    assert "difference of each query, sorted" in texts


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two runs with 42 metrics, their comparison and its picture, and the metrics' names."""
    place = tmp_path_factory.mktemp("many")
    folders = [plot_files.many_metrics(place / name, new=name == "new") for name in ("new", "old")]
    new, old = sources.opened(folders, "trec").series
    names = list(new.result.summary.metrics)
    return new, old, *picture.compared(new, old, names, layouts.layout_of("trec")), names


def test_rounding_is_drawn_as_nothing_and_real_differences_as_they_are(many: Any) -> None:
    new, old, found, spec, names = many
    bars = sorted({abs(row["value"]) for row in rows(spec, "from", "to")})
    assert bars == [0.0, pytest.approx(0.1)]
    ends = {row["text"] for row in rows(spec, "text") if row["text"][:1] in "+-"}
    assert not any("e-" in text for text in ends), "no axis of rounding"
    assert {d.ties for d in found.differences} == {0, 6}
    (every,) = {values.size for values in query_differences(new.result, old.result, names)}
    assert every == 6


def test_labels_of_many_metrics_never_overlap(many: Any, tmp_path: Path) -> None:
    drawing.save(many[3], tmp_path / "d.svg")
    texts = labels(tmp_path / "d.svg")
    assert len(texts) > 42 * 5
    assert overlaps(texts) == []


def test_metrics_of_one_scale_stand_together_above_an_axis(many: Any) -> None:
    _, _, _, spec, order = many
    drawn_order = [row["text"] for row in rows(spec, "text") if row["text"] in order]
    closed = [name for at, name in enumerate(order) if at % 3]
    first = [name for name in drawn_order if name in closed]
    assert first == closed, "in the order given"
    at = drawn_order.index(closed[0])
    assert drawn_order[at : at + len(closed)] == closed


def test_the_same_statistic_of_metrics_of_one_range_shares_an_axis() -> None:
    def one(name: str, canonical: str, group: str, high: float | None) -> MetricSummary:
        return MetricSummary(name, "", "consistency", 0.1, 0.0, 0.2, 0.95, "t", 4, 4,
                             bounds=(0.0, high), metric=canonical, group=group)  # fmt: skip

    metrics = {
        m.name: m
        for m in (
            one("x.mean", "runs_mean(of=x)", "x", 1.0),
            one("x.cv", "runs_cv(of=x)", "x", None),
            one("y.mean", "runs_mean(of=y)", "y", 1.0),
            one("y.cv", "runs_cv(of=y)", "y", None),
            one("y.variance", "runs_variance(of=y)", "y", None),
            one("z.mean", "runs_mean(of=z)", "z", 3.0),
            one("z.cv", "runs_cv(of=z)", "z", None),
            one("length", "length", "", None),
        )
    }
    scales = {name: comparison_view.scale_of(metric, metrics) for name, metric in metrics.items()}
    assert scales["x.cv"] == scales["y.cv"] != scales["z.cv"]
    assert scales["x.mean"] == scales["y.mean"] != scales["z.mean"]
    assert len(set(scales.values())) == 6
