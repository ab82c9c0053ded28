"""The arithmetic of repeated runs: spread, overlap of lists, variance components."""

import math
import statistics
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.stats.repeats import icc1, rank_biased_overlap, spread, variance_components

# Squares of smaller numbers are nothing to the standard library.
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-100 else 0.0)
VALUES = st.lists(NUMBERS, min_size=2, max_size=12)

SHROUT_FLEISS = [
    [9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7],
]  # fmt: skip
"""Ratings of six targets by four judges (Shrout and Fleiss 1979, table 2); their ICC(1,1) is .17,
the mean squares between and within targets 11.24 and 6.26."""


@given(VALUES)
def test_a_spread_agrees_with_the_standard_library(values: list[float]) -> None:
    found = spread(values)
    size = max(map(abs, values)) or 1.0
    assert found.n == len(values)
    assert math.isclose(found.mean, statistics.fmean(values), abs_tol=1e-9 * size)
    assert math.isclose(found.variance, statistics.variance(values), abs_tol=1e-9 * size**2)
    assert math.isclose(found.std, statistics.pstdev(values), abs_tol=1e-6 * size)
    assert math.isclose(found.median, statistics.median(values), abs_tol=1e-9 * size)
    first, third = np.percentile(values, [25, 75])
    assert math.isclose(found.iqr, third - first, abs_tol=1e-9 * size)
    assert min(values) <= found.mean <= max(values)
    assert 0 <= found.iqr <= found.range


def test_a_spread_by_hand_and_no_coefficient_of_variation_at_mean_zero() -> None:
    two = (2, 3, 2, 2**0.5 / 3, 3, 1, 2, 1, 1.5)
    assert astuple(spread([2.0, 4.0])) == pytest.approx(two)
    cvs = [spread(values).cv for values in ([0, 0], [-1, 1], [5, 5], [-2, -4])]
    assert cvs == [None, None, 0, pytest.approx(2**0.5 / 3)]


def test_rank_biased_overlap_by_hand() -> None:
    # Agreement 1, 1/2, 1 at the three depths: (1-p)/p * (p + p^2/2 + p^3) + p^3.
    assert rank_biased_overlap("abc", "acb") == pytest.approx(0.955)
    # One item against two, the first the same: X = 1, 1; s = 1, l = 2, p = 1/2:
    # (1-p)/p * (1*p + 1/2*p^2 + 1*(2-1)/(1*2)*p^2) + ((1-1)/2 + 1/1) * p^2 = 1/2 + 1/4 + 1/4.
    assert rank_biased_overlap("a", "ab", 0.5) == pytest.approx(1.0)
    # The second only: X = 0, 1: (1-p)/p * (1/2*p^2 + 0) + ((1-0)/2 + 0) * p^2 = 1/8 + 1/8.
    assert rank_biased_overlap("b", "ab", 0.5) == pytest.approx(0.25)


def test_the_published_intraclass_correlation() -> None:
    values = [value for row in SHROUT_FLEISS for value in row]
    targets = [at for at, row in enumerate(SHROUT_FLEISS) for _ in row]
    between, within, share = icc1(values, targets)
    assert round(share or 0, 2) == 0.17
    assert within == pytest.approx(6.26, abs=0.005)
    assert between == pytest.approx((11.24 - 6.26) / 4, abs=0.005)


@given(
    st.lists(st.lists(st.floats(-10, 10), min_size=1, max_size=5), min_size=2, max_size=6).filter(
        lambda groups: max(map(len, groups)) > 1
    )
)
def test_groups_of_any_size_give_the_textbook_estimate(groups: list[list[float]]) -> None:
    sizes = np.array([len(group) for group in groups])
    n, g = int(sizes.sum()), len(groups)
    grand = sum(map(sum, groups)) / n
    means = np.array([sum(group) / len(group) for group in groups])
    between_squares = float((sizes * (means - grand) ** 2).sum()) / (g - 1)
    within = sum((x - m) ** 2 for group, m in zip(groups, means, strict=True) for x in group)
    k0 = (n - float((sizes**2).sum()) / n) / (g - 1)
    expected = (between_squares - within / (n - g)) / k0
    labels = [at for at, group in enumerate(groups) for _ in group]
    found = icc1([x for group in groups for x in group], labels)
    assert found[0] == pytest.approx(expected, abs=1e-8)
    assert found[1] == pytest.approx(within / (n - g), abs=1e-8)


def test_a_balanced_crossed_design_has_the_textbook_estimate() -> None:
    rng = np.random.default_rng(2)
    a, b, n = 5, 3, 2
    cube = rng.normal(size=(a, b, n)) + rng.normal(size=(a, 1, 1)) + rng.normal(size=(1, b, 1))
    mean, rows, columns, cells = (
        cube.mean(), cube.mean((1, 2)), cube.mean((0, 2)), cube.mean(2),
    )  # fmt: skip
    ms_a = b * n * ((rows - mean) ** 2).sum() / (a - 1)
    ms_b = a * n * ((columns - mean) ** 2).sum() / (b - 1)
    inter = cells - rows[:, None] - columns[None, :] + mean
    ms_ab = n * (inter**2).sum() / ((a - 1) * (b - 1))
    ms_e = ((cube - cells[:, :, None]) ** 2).sum() / (a * b * (n - 1))
    queries, systems, _ = (index.ravel().tolist() for index in np.indices(cube.shape))
    found = variance_components(cube.ravel(), queries, systems)
    assert found.query == pytest.approx((ms_a - ms_ab) / (b * n))
    assert found.system == pytest.approx((ms_b - ms_ab) / (a * n))
    assert found.query_system == pytest.approx((ms_ab - ms_e) / n)
    assert found.repeat == pytest.approx(ms_e)
