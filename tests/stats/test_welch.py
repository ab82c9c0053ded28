"""Welch's test of two means, beside scipy, and its error control in clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.stats.welch import mean_difference

scores = st.lists(st.integers(-50, 50).map(lambda one: one / 10), min_size=2, max_size=30)


@given(scores, scores, st.sampled_from([0.2, 0.05, 0.01]))
def test_it_is_scipys_test_of_unequal_variances(
    a: list[float], b: list[float], tail: float
) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    found = mean_difference(a, b)
    assert found is not None
    if len(set(a)) == len(set(b)) == 1:
        assert found.p_value is None and found.interval(tail) == (None, None)
        return
    theirs = scipy_stats.ttest_ind(a, b, equal_var=False)
    assert found.p_value == pytest.approx(float(theirs.pvalue), rel=1e-7, abs=1e-12)
    interval = theirs.confidence_interval(1 - tail)
    assert found.interval(tail) == pytest.approx(tuple(interval), rel=1e-7, abs=1e-9)


def test_values_of_one_cluster_count_as_one() -> None:
    a, b = [0.2, 0.9, 0.4, 0.7], [0.1, 0.5, 0.3]
    alone = mean_difference(a, b)
    doubled = mean_difference(
        np.repeat(a, 5), np.repeat(b, 5), np.repeat([*"abcd"], 5), np.repeat([*"xyz"], 5)
    )
    assert alone is not None and doubled is not None
    assert doubled.p_value == pytest.approx(alone.p_value)
    assert doubled.interval(0.05) == pytest.approx(alone.interval(0.05))


def test_what_has_no_spread_or_no_values_has_no_test() -> None:
    assert mean_difference([], [1.0]) is None
    for a, b in [([1.0], [0.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])]:
        found = mean_difference(a, b)
        assert found is not None and found.p_value is None and found.detectable(0.05) is None


def test_equal_systems_in_clusters_differ_at_the_level_of_the_test() -> None:
    random = np.random.default_rng(7)
    clusters, n = np.repeat(np.arange(40), 4), 0
    for _ in range(1000):
        drawn = []
        for _ in range(2):
            rate = random.beta(1.6, 0.4, size=40)[clusters]  # of each conversation, mean .8
            drawn.append((random.random(160) < rate).astype(float))
        found = mean_difference(*drawn, clusters, clusters)
        assert found is not None and found.p_value is not None
        n += found.p_value <= 0.05
    assert 25 <= n <= 75


def test_the_detectable_difference_is_found_in_four_of_five_samples() -> None:
    random = np.random.default_rng(11)
    sizes = [mean_difference(*random.normal(size=(2, 60))).detectable(0.05) for _ in range(200)]  # type: ignore[union-attr]
    size = float(np.median(np.abs(sizes)))  # type: ignore[arg-type]
    n = 0
    for _ in range(1000):
        found = mean_difference(random.normal(size, size=60), random.normal(size=60))
        assert found is not None
        n += (found.p_value or 1.0) <= 0.05
    assert 760 <= n <= 840
