"""The drawings in the HTML report: what ``ragassay plot`` draws, on a scale that is told."""

from __future__ import annotations

import re

import numpy as np

from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart, figures

VALUES = np.array([0.964, 0.97, 0.98, 0.99, 1.0])


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
    svg = str(figures.distribution(metric(0.0, 1.0), VALUES))
    assert at("box", svg) < at("points", svg) < at("median", svg) < at("mean", svg)
    assert at("mean-interval", svg) < at("mean", svg)
    dots = re.search(r'class="points" d="([^"]+)"', svg)
    assert dots is not None and dots[1].count("M") == VALUES.size


def test_a_range_without_a_lower_end_is_drawn_from_zero() -> None:
    assert distribution_chart.scale(metric(None, 1.0)) == (0.0, 1.0)
    assert distribution_chart.scale(metric(None, None)) == (0.964, 1.0)
    below = MetricSummary("m", "", "f", 0.1, None, None, 0.95, "t", 2, 2,
                          bounds=(None, 1.0), minimum=-0.4, maximum=0.6)  # fmt: skip
    assert distribution_chart.scale(below) == (-0.4, 1.0)


def test_every_scale_says_where_it_ends() -> None:
    for low, high, ends in ((None, 1.0, ["0", "1"]), (None, None, ["0.964", "1"])):
        bar = str(figures.interval_bar(metric(low, high)))
        assert re.findall(r"<text[^>]*>([^<]+)<", bar) == ends
        card = re.findall(
            r"<text[^>]*>([^<]+)<", str(figures.distribution(metric(low, high), VALUES))
        )
        assert [card[0], card[-1]] == ends
