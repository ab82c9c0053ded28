"""Charts: what is drawn equals what was computed, and data stays data; the line over reports."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plot_reading import words
from ragassay.base.errors import UsageError
from ragassay.base.score import Score
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import svg as figures
from ragassay.reports.charts.boxes import boxplots
from ragassay.reports.charts.svg import Point, trend
from reports_examples import Kind, hostile, outcomes, result, samples

VALUES = st.lists(
    st.floats(min_value=-1e6, max_value=1e6, allow_nan=False), min_size=1, max_size=60
)


@given(VALUES)
def test_box_statistics_are_tukeys(numbers: list[float]) -> None:
    values = np.array(numbers)
    box = figures.box_of(values)
    assert box is not None
    assert [box.q1, box.median, box.q3] == np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    assert values.min() <= box.low <= box.q1 <= box.median <= box.q3 <= box.high <= values.max()
    reach = 1.5 * (box.q3 - box.q1)
    assert box.low >= box.q1 - reach and box.high <= box.q3 + reach


@given(VALUES, st.integers(min_value=2, max_value=20))
def test_thinning_keeps_the_ends_and_is_deterministic(numbers: list[float], limit: int) -> None:
    values = np.array(numbers)
    found = figures.thinned(values, limit)
    assert found.size == min(limit, values.size)
    assert (found[0], found[-1]) == (values.min(), values.max())
    assert found.tolist() == figures.thinned(values[::-1], limit).tolist()
    assert set(found.tolist()) <= set(numbers)


def test_a_sum_is_not_called_a_mean() -> None:
    kind = Kind("num_rel", "A count", "x", (0.0, None), True, "sum")
    said = words(boxplots(result(samples(2), {"num_rel": [Score(3), Score(4)]}, (kind,))))
    assert "sum" in said and "mean" not in said


def test_names_of_the_data_are_text_and_never_markup() -> None:
    svg = boxplots(hostile()).svg()
    assert any("a.b[0]'\"" in text for text in words(boxplots(hostile())))
    assert not {"script", "img"} & {one.tag.rpartition("}")[2] for one in ET.fromstring(svg).iter()}
    assert "url(" not in svg and "href" not in svg


def test_what_cannot_be_drawn_is_one_sentence(tmp_path: Path) -> None:
    found = samples(3)
    nothing = result(found, {"x": [Score("label")] * 3}, (Kind("x", "X", "x", (None, None)),))
    with pytest.raises(UsageError, match="no metric has a number"):
        boxplots(nothing)
    with pytest.raises(UsageError, match=r"Use \.png or \.svg"):
        boxplots(result(found, outcomes(found))).save(tmp_path / "x.jpg")
    assert list(tmp_path.iterdir()) == []


SHOWN = np.array([0.964, 0.97, 0.98, 0.99, 1.0])


def metric(low: float | None, high: float | None) -> MetricSummary:
    return MetricSummary(
        "m", "", "f", 0.981, 0.96, 0.99, 0.95, "t", 5, 5,
        bounds=(low, high), minimum=0.964, maximum=1.0,
    )  # fmt: skip


def test_points_median_and_mean_lie_above_the_box() -> None:
    svg = str(figures.distribution(metric(0.0, 1.0), SHOWN))
    drawn = ("box", "points", "median", "mean-interval", "mean")  # what is later lies above
    places = [svg.index(f'class="{shape}"') for shape in drawn]
    assert places == sorted(places)
    dots = re.search(r'class="points" d="([^"]+)"', svg)
    assert dots is not None and dots[1].count("M") == SHOWN.size


def test_a_range_without_a_lower_end_is_drawn_from_zero() -> None:
    assert figures.scale_of(metric(None, 1.0)) == (0.0, 1.0)
    assert figures.scale_of(metric(None, None)) == (0.964, 1.0)
    below = MetricSummary("m", "", "f", 0.1, None, None, 0.95, "t", 2, 2,
                          bounds=(None, 1.0), minimum=-0.4, maximum=0.6)  # fmt: skip
    assert figures.scale_of(below) == (-0.4, 1.0)


FIRST = Point("one", "/reports/1", 0.5, (0.4, 0.6), "v1", "s")


def heights(figure: str) -> list[float]:
    """The places of the points, from above."""
    return [float(y) for y in re.findall(r'class="point" cx="[\d.]+" cy="([\d.]+)"', figure)]


def test_a_line_with_its_band_breaks_where_numbers_do_not_compare() -> None:
    points = [FIRST, replace(FIRST, mean=0.55), replace(FIRST, mean=0.9, interval=None)]
    whole = trend("m", points)
    assert whole.count('class="trend"') == 2 and whole.count("<polygon") == 1
    first, second, third = heights(whole)
    assert first > second > third and "0.5500 [0.4000, 0.6000]" in whole
    corners = re.search(r'points="([^"]*)"', whole)
    assert corners is not None and len(corners[1].split()) == 4, "two points have an interval"
    broken = trend("m", [points[0], replace(points[1], signature="t"), points[2]])
    assert broken.count('class="trend"') == 0 and broken.count("<polygon") == 3


def test_each_version_is_marked_once_and_each_point_leads_to_its_report() -> None:
    other = Point('"<b>', "/reports/2?a=1&b", 0.7, None, "v2", "s")
    figure = trend("m", [FIRST, FIRST, other, other, FIRST])
    assert figure.count("zero dashed") == 3
    assert re.findall(">(v.)</text>", figure) == ["v1", "v2", "v1"]
    assert figure.count('href="/reports/1"') == 3 and 'href="/reports/2?a=1&amp;b"' in figure
    assert "<b>" not in figure


def test_equal_means_without_intervals_have_a_scale() -> None:
    alone = replace(FIRST, interval=None)
    low, high = heights(trend("m", [alone, alone]))
    assert low == high
