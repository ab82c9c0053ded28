"""The line of a metric over reports."""

from __future__ import annotations

import re
from dataclasses import replace

from ragassay.reports.charts.svg import Point, trend

FIRST = Point("one", "/reports/1", 0.5, (0.4, 0.6), "v1", "s", "2026-11-01")


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
    figure = trend("m", [FIRST, FIRST, other, other, replace(FIRST, day="2026-11-30")])
    assert re.findall(r">(2026[-\d]*)</text>", figure) == ["2026-11-01", "2026-11-30"]
    assert figure.count("zero dashed") == 3
    assert re.findall(">(v.)</text>", figure) == ["v1", "v2", "v1"]
    assert figure.count('href="/reports/1"') == 3 and 'href="/reports/2?a=1&amp;b"' in figure
    assert "<b>" not in figure


def test_equal_means_without_intervals_have_a_scale() -> None:
    alone = replace(FIRST, interval=None)
    low, high = heights(trend("m", [alone, alone]))
    assert low == high
