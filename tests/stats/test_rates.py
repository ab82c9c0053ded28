"""Exact ratios of counts, beside scipy's."""

import math

import pytest
from hypothesis import given, strategies as st

from ragassay.stats.categorical import rate_ratio

stats = pytest.importorskip("scipy.stats")
trials = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(trials, st.floats(0.001, 0.999))
def test_a_ratio_has_the_exact_interval_of_a_share_and_twice_the_smaller_tail(counted, share):
    count, n = counted
    found = rate_ratio(count, share, n - count, 1 - share)
    exact = stats.binomtest(count, n).proportion_ci(method="exact")
    for bound, expected in ((found.low, exact.low), (found.high, exact.high)):
        odds = bound * share / (1 - share)
        assert (1.0 if math.isinf(odds) else odds / (1 + odds)) == pytest.approx(expected, abs=1e-9)
    tails = stats.binom.cdf(count, n, share), stats.binom.sf(count - 1, n, share)
    assert found.p == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6, abs=1e-12)
    assert found.low <= found.value <= found.high
