import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.stats.distributions import normal_cdf, normal_ppf, t_ppf, t_sf

DEGREES = [0.5, 1, 2, 3, 7.5, 30, 199, 200, 201, 1_000, 123_456, 10_000_000]


@pytest.mark.parametrize("df", DEGREES)
def test_the_tail_of_t_is_scipys_to_twelve_digits(df: float) -> None:
    rng = np.random.default_rng(0)
    for t in [*np.exp(rng.uniform(math.log(0.01), math.log(1e4), 200)), 1.7, 1.74, 1.96, 12.706]:
        truth = stats.t.sf(t, df)
        if truth > 1e-290:
            assert t_sf(t, df) == pytest.approx(truth, rel=1e-12)
            assert t_sf(-t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-12)


@pytest.mark.parametrize("df", DEGREES)
def test_the_quantile_of_t_is_scipys_to_twelve_digits(df: float) -> None:
    rng = np.random.default_rng(1)
    for p in [*rng.uniform(0.001, 0.49, 50), *10 ** rng.uniform(-12, -3, 50), 0.025, 0.25]:
        truth = stats.t.ppf(p, df)
        assert t_ppf(p, df) == pytest.approx(truth, rel=1e-12)
        assert t_ppf(1 - p, df) == pytest.approx(stats.t.ppf(1 - p, df), rel=1e-12)


@given(st.floats(-37, 37), st.floats(1e-300, 1, exclude_max=True))
def test_the_normal_distribution_is_scipys_in_both_tails(x: float, p: float) -> None:
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), rel=1e-12, abs=0.0)
    assert normal_ppf(p) == pytest.approx(stats.norm.ppf(p), rel=1e-12, abs=1e-15)
