"""Charts: what is drawn equals what was computed, and data stays data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example as tried, given, strategies as st

from plot_reading import rows, walk
from ragassay.base.errors import UsageError
from ragassay.base.score import Score
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart, drawing, figures
from ragassay.reports.plots import boxes as charts
from ragassay.reports.plots.compared import overview
from reports_examples import (
    Kind,
    example,
    hostile,
    outcomes,
    pair,
    result,
    samples,
)

VALUES = st.lists(
    st.floats(min_value=-1e6, max_value=1e6, allow_nan=False), min_size=1, max_size=60
)


@given(VALUES)
def test_box_statistics_are_tukeys(numbers: list[float]) -> None:
    values = np.array(numbers)
    box = distribution_chart.box(values)
    assert box is not None
    assert [box.q1, box.median, box.q3] == np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    assert values.min() <= box.low <= box.q1 <= box.median <= box.q3 <= box.high <= values.max()
    reach = 1.5 * (box.q3 - box.q1)
    assert box.low >= box.q1 - reach and box.high <= box.q3 + reach


@given(VALUES)
@tried([0.3, 0.1 + 0.2])
@tried([1e300, np.nextafter(1e300, np.inf)])
def test_a_histogram_counts_every_value_once(numbers: list[float]) -> None:
    values = np.array(numbers)
    counts = distribution_chart.histogram(values, float(values.min()), float(values.max()))
    assert sum(counts) == values.size


@given(VALUES, st.integers(min_value=2, max_value=20))
def test_thinning_keeps_the_ends_and_is_deterministic(numbers: list[float], limit: int) -> None:
    values = np.array(numbers)
    found = distribution_chart.thinned(values, limit)
    assert found.size == min(limit, values.size)
    assert (found[0], found[-1]) == (values.min(), values.max())
    assert found.tolist() == distribution_chart.thinned(values[::-1], limit).tolist()
    assert set(found.tolist()) <= set(numbers)


def test_box_and_interval_marks_hold_our_numbers() -> None:
    found = example(45)
    panels = charts.boxplots(found)["concat"]
    for panel, (name, metric) in zip(panels, found.summary.metrics.items(), strict=True):
        values = found.columns.values(name)[found.columns.scored(name)]
        box = distribution_chart.box(values)
        row = rows(panel, "whisker_low", "mean")[0]
        texts = [found["text"] for found in rows(panel, "text") if isinstance(found["text"], str)]
        assert box is not None
        assert (row["mean"], row["low"], row["high"]) == (metric.mean, metric.low, metric.high)
        assert (row["q1"], row["median"], row["q3"]) == (box.q1, box.median, box.q3)
        assert name in texts
        assert any(text == f"{metric.n_scored}/{metric.n_total}" for text in texts)


def test_a_sum_is_not_called_a_mean() -> None:
    kind = Kind("num_rel", "A count", "x", (0.0, None), True, "sum")
    spec = charts.boxplots(result(samples(2), {"num_rel": [Score(3), Score(4)]}, (kind,)))
    heads = {row["text"] for row in rows(spec, "text")}
    assert "sum" in heads and "mean" not in heads


def test_no_statistics_are_left_to_the_chart_library() -> None:
    comp, a, b = pair(20)
    for spec in (charts.boxplots(a), overview(comp, a, b)):
        for found in walk(spec):
            assert not {"aggregate", "bin", "transform", "timeUnit"} & set(found)
            if "mark" in found:
                kind = found["mark"] if isinstance(found["mark"], str) else found["mark"]["type"]
                assert kind not in ("boxplot", "errorbar", "errorband")


def test_the_menu_that_sends_data_away_is_off_and_nothing_is_fetched() -> None:
    comp, a, b = pair(10)
    for spec in (charts.boxplots(a), overview(comp, a, b)):
        assert spec["usermeta"]["embedOptions"]["actions"] is False
        assert not any("url" in found for found in walk(spec))


def test_names_with_dots_brackets_quotes_and_tags_are_only_values(tmp_path: Path) -> None:
    found = hostile()
    spec = charts.boxplots(found)
    fields = {
        row["field"] for row in walk(spec) if "field" in row and isinstance(row["field"], str)
    }
    assert all(field.replace("_", "").isalnum() for field in fields)
    assert not fields & {*found.summary.metrics, found.name}
    drawing.save(spec, tmp_path / "hostile.svg")
    texts = [element.text for element in ET.parse(tmp_path / "hostile.svg").iter() if element.text]
    assert any("a.b[0]'\"" in text for text in texts)
    assert "<script" not in (tmp_path / "hostile.svg").read_text()


def test_what_cannot_be_drawn_is_one_sentence(tmp_path: Path) -> None:
    found = samples(3)
    nothing = result(found, {"x": [Score("label")] * 3}, (Kind("x", "X", "x", (None, None)),))
    with pytest.raises(UsageError, match="no metric has a number"):
        drawing.save(charts.boxplots(nothing), tmp_path / "x.png")
    with pytest.raises(UsageError, match=r"Use \.png, \.svg or \.json"):
        drawing.save(charts.boxplots(result(found, outcomes(found))), tmp_path / "x.jpg")
    assert list(tmp_path.iterdir()) == []


SHOWN = np.array([0.964, 0.97, 0.98, 0.99, 1.0])


def metric(low: float | None, high: float | None) -> MetricSummary:
    return MetricSummary(
        "m", "", "f", 0.981, 0.96, 0.99, 0.95, "t", 5, 5,
        bounds=(low, high), minimum=0.964, maximum=1.0,
    )  # fmt: skip


def at(shape: str, svg: str) -> int:
    """Where the first shape of a class stands: what is later lies above."""
    found = re.search(rf'class="{shape}"', svg)
    assert found is not None, f"{shape} is missing"
    return found.start()


def test_points_median_and_mean_lie_above_the_box() -> None:
    svg = str(figures.distribution(metric(0.0, 1.0), SHOWN))
    assert at("box", svg) < at("points", svg) < at("median", svg) < at("mean", svg)
    assert at("mean-interval", svg) < at("mean", svg)
    dots = re.search(r'class="points" d="([^"]+)"', svg)
    assert dots is not None and dots[1].count("M") == SHOWN.size


def test_a_range_without_a_lower_end_is_drawn_from_zero() -> None:
    assert distribution_chart.scale(metric(None, 1.0)) == (0.0, 1.0)
    assert distribution_chart.scale(metric(None, None)) == (0.964, 1.0)
    below = MetricSummary("m", "", "f", 0.1, None, None, 0.95, "t", 2, 2,
                          bounds=(None, 1.0), minimum=-0.4, maximum=0.6)  # fmt: skip
    assert distribution_chart.scale(below) == (-0.4, 1.0)
