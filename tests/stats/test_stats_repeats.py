"""The arithmetic of repeated runs: spread, overlap of lists, variance components."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.stats.repeats import icc1, jaccard, rank_biased_overlap, spread, variance_components

# Squares of smaller numbers are nothing to the standard library.
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-100 else 0.0)
VALUES = st.lists(NUMBERS, min_size=2, max_size=12)
LISTS = st.lists(st.integers(0, 12), max_size=12, unique=True)

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
"""Ratings of six targets by four judges (Shrout and Fleiss 1979, table 2); their ICC(1,1) is .17,
the mean squares between and within targets 11.24 and 6.26."""


def test_open_rag_evals_fixture_has_its_published_statistics() -> None:
    found = spread([0.7, 0.6, 0.6])
    assert found.std == pytest.approx(0.0471, abs=5e-5)
    assert found.iqr == pytest.approx(0.05)
    assert found.mean == pytest.approx(0.6333, abs=5e-5)
    assert found.median == 0.6
    assert found.range == pytest.approx(0.1)
    assert found.variance == pytest.approx(0.01 / 3)  # squares .0044, .0011, .0011 over 2
    assert found.cv == pytest.approx(math.sqrt(0.01 / 3) / (1.9 / 3))


def test_the_index_is_ruled_by_the_mean_and_the_cv_is_not() -> None:
    wild, steady = spread([0, 0.5, 1]), spread([0.35, 0.36, 0.36])
    assert (round(wild.cai, 4), round(steady.cai, 4)) == (0.3551, 0.3550)
    assert wild.cv == 1.0
    assert steady.cv is not None and steady.cv < 0.02


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


@given(VALUES, st.randoms())
def test_the_order_of_the_runs_changes_nothing(values: list[float], draw: random.Random) -> None:
    other = values[:]
    draw.shuffle(other)
    assert spread(other) == spread(values)


@given(st.floats(-1e9, 1e9), st.integers(2, 9))
def test_equal_values_have_no_spread_at_all(value: float, n: int) -> None:
    found = spread([value] * n)
    assert (found.mean, found.median, found.cai) == (value,) * 3
    assert (found.variance, found.std, found.range, found.iqr) == (0.0,) * 4
    assert found.cv == (0.0 if value else None)


def test_nothing_is_a_share_of_a_mean_of_nothing() -> None:
    assert spread([-1.0, 1.0]).cv is None


def test_the_cv_of_negative_scores_is_a_size() -> None:
    assert spread([-0.5, -1.0]).cv == pytest.approx(spread([0.5, 1.0]).cv)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [1e200, -1e200]])
def test_what_has_no_spread_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values"):
        spread(values)


def test_jaccard_counts_sets() -> None:
    assert jaccard("abc", "bcd") == 0.5
    assert jaccard("aab", "b") == 0.5
    assert jaccard("", "") is None
    assert jaccard("a", "") == 0.0


def test_rank_biased_overlap_by_hand() -> None:
    # Agreement 1, 1/2, 1 at the three depths: (1-p)/p * (p + p^2/2 + p^3) + p^3.
    assert rank_biased_overlap("abc", "acb") == pytest.approx(0.955)
    # One item against two, the first the same: X = 1, 1; s = 1, l = 2, p = 1/2:
    # (1-p)/p * (1*p + 1/2*p^2 + 1*(2-1)/(1*2)*p^2) + ((1-1)/2 + 1/1) * p^2 = 1/2 + 1/4 + 1/4.
    assert rank_biased_overlap("a", "ab", 0.5) == pytest.approx(1.0)
    # The second only: X = 0, 1: (1-p)/p * (1/2*p^2 + 0) + ((1-0)/2 + 0) * p^2 = 1/8 + 1/8.
    assert rank_biased_overlap("b", "ab", 0.5) == pytest.approx(0.25)


@given(LISTS, LISTS, st.floats(0.05, 0.99))
def test_rank_biased_overlap_is_symmetric_and_from_0_to_1(
    one: list[int], other: list[int], p: float
) -> None:
    found = rank_biased_overlap(one, other, p)
    again = rank_biased_overlap(other, one, p)
    if not one and not other:
        assert found is None and again is None
        return
    assert found is not None and again is not None
    assert math.isclose(found, again, abs_tol=1e-12)
    assert 0.0 <= found <= 1.0
    assert (found == 0.0) == (not set(one) & set(other))


@given(LISTS.filter(bool), st.floats(0.05, 0.99))
def test_a_ranking_overlaps_with_itself_wholly(one: list[int], p: float) -> None:
    assert rank_biased_overlap(one, one, p) == pytest.approx(1.0)


@given(st.integers(3, 12), st.data())
def test_a_swap_at_the_top_costs_more_than_one_at_the_bottom(n: int, data: st.DataObject) -> None:
    base = list(range(n))
    at = data.draw(st.integers(0, n - 3))

    def swapped(place: int) -> list[int]:
        return [*base[:place], base[place + 1], base[place], *base[place + 2 :]]

    high, low = (rank_biased_overlap(base, swapped(place)) for place in (at, at + 1))
    assert high is not None and low is not None and high < low


def test_an_item_that_stands_twice_counts_at_its_first_rank() -> None:
    assert rank_biased_overlap("aab", "ab") == pytest.approx(1.0)


@pytest.mark.parametrize("p", [0.0, 1.0, -1.0])
def test_a_persistence_out_of_range_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="p lies"):
        rank_biased_overlap("a", "a", p)


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


def test_repeats_that_differ_more_than_queries_give_a_correlation_below_0() -> None:
    found = variance_components([0, 1, 0, 1], ["a", "a", "b", "b"], ["s"] * 4)
    assert found.icc is not None and found.icc < 0
    assert found.query < 0 < found.repeat  # as computed, not cut


def test_equal_values_have_no_correlation() -> None:
    found = variance_components([0.3] * 4, ["a", "a", "b", "b"], ["s"] * 4)
    assert found.icc is None
    assert (found.query, found.repeat) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("values", "queries"), [([1, 2], ["a", "a"]), ([1, 2], ["a", "b"]), ([1], ["a"])]
)
def test_a_variance_needs_groups_and_repeats(values: list[float], queries: list[str]) -> None:
    with pytest.raises(ValueError, match="components need"):
        variance_components(values, queries, ["s"] * len(values))


def test_query_system_and_repeat_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    rows = []
    systems = {"s": 0.0, "t": 3.0, "u": -3.0, "v": 1.0}
    for query in range(400):
        level = rng.normal(0, 2)
        for system, shift in systems.items():
            own = rng.normal(0, 1)
            for _ in range(rng.integers(1, 5)):
                rows.append((level + shift + own + rng.normal(0, 0.5), query, system))
    values, queries, names = zip(*rows, strict=True)
    found = variance_components(values, queries, names)
    assert found.query == pytest.approx(4.0, rel=0.25)
    assert found.system == pytest.approx(statistics.variance(systems.values()), rel=0.1)
    assert found.query_system == pytest.approx(1.0, rel=0.2)
    assert found.repeat == pytest.approx(0.25, rel=0.1)
    assert found.n_groups == 1600


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


def test_systems_with_queries_of_their_own_have_no_interplay() -> None:
    values = [0, 0.1, 1, 1.1, 5, 5.2, 6, 6.1]
    found = variance_components(values, list("aabbccdd"), ["s"] * 4 + ["t"] * 4)
    assert found.query_system is None
    assert found.system is not None and found.system > found.query > found.repeat


def test_a_design_that_cannot_tell_query_from_system_does_not_pretend_to() -> None:
    found = variance_components([0, 1, 5, 6], list("aabb"), list("sstt"))
    assert found.system is None and found.query_system is None
    one = variance_components([0, 1, 5, 6], list("aaaa"), list("sstt"))
    assert one.query is None and one.system is not None
