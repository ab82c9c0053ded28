"""Percentiles, their intervals without a distribution, and their differences."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.stats import percentiles
from ragassay.stats.percentiles import percentile_difference, percentile_interval

NUMBERS = st.lists(st.floats(0, 1e6), min_size=1, max_size=120)
PERCENTS = st.sampled_from((5, 50, 90, 95, 99))


@given(NUMBERS, PERCENTS)
def test_the_percentile_lies_between_its_bounds_and_these_are_values(values, percent) -> None:
    found = percentile_interval(values, percent)
    assert found.mean == pytest.approx(float(np.percentile(values, percent)))
    assert (found.low is None) == (found.high is None)
    if found.low is not None and found.high is not None:
        assert {found.low, found.high} <= set(values)
        assert found.low <= found.mean * (1 + 1e-12) and found.mean <= found.high * (1 + 1e-12)


@given(st.integers(2, 500), PERCENTS, st.sampled_from((0.52, 0.9, 0.95)))
def test_the_bounds_are_the_closest_values_that_leave_out_no_more_than_the_tails(n, percent, level):
    """The binomial chance that so few values, or so many, lie below the percentile."""
    tail, stats = (1 - level) / 2, pytest.importorskip("scipy.stats")
    below = stats.binom.cdf(np.arange(-1, n + 1), n, percent / 100)  # fewer than 0, 1 ... n + 1
    first = int((below <= tail).sum()) - 1
    last = int((below < 1 - tail).sum())
    found = percentile_interval(np.arange(1.0, n + 1), percent, level=level)
    exists = first >= 1 and last <= n
    assert (found.low, found.high) == ((first, last) if exists else (None, None))


def test_repeats_count_as_what_they_are() -> None:
    """Three times the same values say no more than once."""
    rng = np.random.default_rng(3)
    once = rng.lognormal(size=300)
    whole = percentile_interval(np.repeat(once, 3), 95, clusters=np.repeat(np.arange(300), 3))
    naive = percentile_interval(np.repeat(once, 3), 95)
    alone = percentile_interval(once, 95)
    assert whole.high - whole.low >= 0.9 * (alone.high - alone.low)  # type: ignore[operator]
    assert whole.high - whole.low > naive.high - naive.low  # type: ignore[operator]


def test_a_difference_turns_round_with_its_sides_and_repeats_with_its_seed() -> None:
    rng = np.random.default_rng(1)
    a, b, units = rng.random(100), rng.random(100), np.arange(100)
    one, again, other = (
        percentile_difference(x, y, 95, units_a=units, units_b=units, n_resamples=500)
        for x, y in ((a, b), (a, b), (b, a))
    )
    assert one == again and one.low == pytest.approx(-other.high)  # type: ignore[operator]
    assert one.low <= one.least <= one.diff <= one.most <= one.high


def test_what_is_no_percentile_is_refused() -> None:
    for percent in (0, 100, -1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 100"):
            percentile_interval([1.0, 2.0], percent)
    with pytest.raises(ValueError, match="finite"):
        percentile_interval([1.0, math.nan], 50)
    with pytest.raises(UsageError):
        percentile_interval([1.0, 2.0], 50, level=1.0)
    assert percentile_interval([], 50).mean is None


def test_clusters_count_in_any_order() -> None:
    values, shuffled = np.arange(400.0), np.random.default_rng(0).permutation(400)
    found = [percentile_interval(values[at], 50, clusters=np.arange(400)[at] // 10)
             for at in (slice(None), shuffled)]  # fmt: skip
    assert found[0] == found[1]


def test_of_more_than_400_values_fewer_resamples_are_drawn_and_no_fewer_than_1000(monkeypatch):
    found, real = list[int](), percentiles.draws
    monkeypatch.setattr(
        percentiles, "draws", lambda n, times, *a: found.append(times) or real(n, 9, *a)
    )
    for n in (400, 2_000, 40_000):
        units = dict.fromkeys(("units_a", "units_b"), np.arange(n))
        percentile_difference(np.arange(n), np.arange(n), 50, **units)
    assert found == [10_000, 2_000, 1_000]


def test_the_one_sided_bounds_are_those_of_an_interval_with_both_tails() -> None:
    a, b = np.random.default_rng(0).random((2, 60))
    units = dict.fromkeys(("units_a", "units_b"), np.arange(60))
    one, both = (percentile_difference(a, b, 50, **units, level=at) for at in (0.95, 0.9))
    assert (one.least, one.most) == pytest.approx((both.low, both.high))
