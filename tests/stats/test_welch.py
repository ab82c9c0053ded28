"""Welch's test of two means, beside scipy, and its error control in clusters."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.stats.paired import PairedResult
from ragassay.stats.welch import compare_samples

scores = st.lists(st.integers(-50, 50).map(lambda one: one / 10), min_size=2, max_size=30)


def welch(a, b, of_a: object = None, of_b: object = None, level: float = 0.95) -> PairedResult:
    return compare_samples([(a, of_a)], [(b, of_b)], level=level)[0]  # type: ignore[list-item]


@given(scores, scores, st.sampled_from([0.2, 0.05, 0.01]))
def test_it_is_scipys_test_of_unequal_variances(a, b: list[float], tail: float) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    found = welch(a, b, level=1 - tail)
    if len(set(a)) == len(set(b)) == 1:
        assert (found.p_value, found.low, found.high) == (None, None, None)
        return
    theirs = scipy_stats.ttest_ind(a, b, equal_var=False)
    assert found.p_value == pytest.approx(float(theirs.pvalue), rel=1e-7, abs=1e-12)
    interval = theirs.confidence_interval(found.level)
    assert (found.low, found.high) == pytest.approx(tuple(interval), rel=1e-7, abs=1e-9)


def test_values_of_one_cluster_count_as_one() -> None:
    a, b = [0.2, 0.9, 0.4, 0.7], [0.1, 0.5, 0.3]
    alone = welch(a, b)
    of = np.repeat([*"abcd"], 5), np.repeat([*"xyz"], 5)
    doubled = welch(np.repeat(a, 5), np.repeat(b, 5), *of)
    assert doubled.p_value == pytest.approx(alone.p_value)
    assert (doubled.low, doubled.high) == pytest.approx((alone.low, alone.high))


def test_what_has_no_spread_or_no_values_has_no_test() -> None:
    assert welch([], [1.0]) == PairedResult()
    for a, b in [([1.0], [0.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])]:
        found = welch(a, b)
        assert found.diff is not None and (found.p_value, found.detectable) == (None, None)


def test_the_detectable_difference_is_found_in_four_of_five_samples() -> None:
    random = np.random.default_rng(11)
    sizes = [welch(*random.normal(size=(2, 60))).detectable for _ in range(200)]
    size = float(np.median(np.abs(sizes)))  # type: ignore[arg-type]
    n = 0
    for _ in range(1000):
        found = welch(random.normal(size, size=60), random.normal(size=60))
        n += (found.p_value or 1.0) <= 0.05
    assert 760 <= n <= 840
