import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.stats.intervals import METHODS, mean_interval

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_t_interval_is_scipys(level: float) -> None:
    values = np.random.default_rng(0).random(23)
    truth = stats.ttest_1samp(values, 0).confidence_interval(level)
    found = mean_interval(values, method="t", level=level)
    assert (found.low, found.high) == pytest.approx((truth.low, truth.high), rel=1e-12)
    assert found.mean == pytest.approx(values.mean())
    assert (found.n, found.n_clusters, found.method, found.level) == (23, None, "t", level)


@pytest.mark.parametrize("method", METHODS)
@given(values=VALUES)
def test_one_value_a_cluster_is_no_clustering(method: str, values: list[float]) -> None:
    plain = mean_interval(values, method=method)
    single = mean_interval(values, method=method, clusters=range(len(values)))
    assert (single.low, single.high) == (plain.low, plain.high)
    assert single.n_clusters == len(values)


def test_the_clustered_t_interval_is_the_textbooks() -> None:
    values, clusters = [1.0, 2.0, 4.0, 8.0, 9.0, 3.0], ["a", "a", "b", "b", "b", None]
    mean = 27 / 6
    residuals = [3 - 2 * mean, 21 - 3 * mean, 3 - mean]
    error = math.sqrt(3 / 2 * sum(r * r for r in residuals)) / 6
    reach = stats.t.ppf(0.975, 2) * error
    found = mean_interval(values, method="t", clusters=clusters)
    assert (found.low, found.high) == pytest.approx((mean - reach, mean + reach), rel=1e-12)
    assert (found.mean, found.n, found.n_clusters) == (mean, 6, 3)


def test_only_scores_inside_of_their_range_have_bounds_by_it() -> None:
    rows = ([0.5, 0.25, far] for far in (-0.1, 1.1, -1e-13, 1 + 1e-13))
    methods = [mean_interval(row, span=(0.0, 1.0)).method for row in rows]
    assert methods == ["skew-t", "skew-t", "effective-n", "effective-n"]
