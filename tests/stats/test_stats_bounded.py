from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.stats import beta_ppf, mean_interval

UNIT = (0.0, 1.0)
SHAPES = [0.3, 1.0, 2.5, 10.0, 100.0, 1e4, 1e6]


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_beta_quantiles_are_scipys(a: float, b: float) -> None:
    for p in (1e-4, 0.025, 0.3, 0.5, 0.975, 0.9999):
        found = beta_ppf(p, a, b)
        assert found == pytest.approx(stats.beta.ppf(p, a, b), rel=1e-7)
        if b >= 1:  # with b below 1 a float next to 1 stands for a range of probabilities
            assert stats.beta.cdf(found, a, b) == pytest.approx(p, abs=1e-7)
    assert (beta_ppf(0.0, a, b), beta_ppf(1.0, a, b)) == (0.0, 1.0)


@pytest.mark.parametrize("a", [0.3, 1.0, 7.5, 100.0])
def test_with_one_huge_shape_a_beta_quantile_is_the_gammas(a: float) -> None:
    for p in (0.025, 0.5, 0.975):
        assert beta_ppf(p, a, 1e30) * 1e30 == pytest.approx(stats.gamma.ppf(p, a), rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 14, 50])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_scores_have_clopper_and_pearsons_interval(n: int, value: float) -> None:
    found = mean_interval([value] * n, span=UNIT)
    truth = stats.binomtest(int(value * n), n).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((truth.low, truth.high), rel=1e-9)
    assert found.method == "effective-n"


@pytest.mark.parametrize("n", [5, 17, 100])
@pytest.mark.parametrize("less", [1e-9, 1e-6, 1e-3, 0.01])
def test_a_score_that_differs_by_a_trifle_changes_the_interval_little(n: int, less: float) -> None:
    """A worse sample must not pass a gate for its lower bound that a perfect one does not."""
    perfect = mean_interval([1.0] * n, span=UNIT)
    found = mean_interval([1.0] * (n - 1) + [1.0 - less], span=UNIT)
    assert 1.0 - found.low > (1.0 - perfect.low) * 2 / 3
    assert found.high == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("n", [3_000, 5_000, 8_000, 20_000])
def test_many_samples_of_which_a_few_lie_at_the_end_have_students_interval(n: int) -> None:
    values = np.concatenate([np.zeros(n // 50), np.linspace(0.2, 0.9, n - n // 50)])
    found = mean_interval(values, span=UNIT)
    half = 1.96 * values.std(ddof=1) / np.sqrt(n)
    assert (found.low, found.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.02 * half
    )


def test_clusters_that_are_all_equal_count_once_each() -> None:
    found = mean_interval([1.0] * 12, span=UNIT, clusters=[at // 4 for at in range(12)])
    assert found.low == pytest.approx(0.025 ** (1 / 3))


@given(
    st.lists(st.integers(0, 100).map(lambda k: k / 100), min_size=2, max_size=60),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_an_interval_has_width_holds_the_mean_and_keeps_the_range(
    values: list[float], level: float
) -> None:
    found = mean_interval(values, span=UNIT, level=level)
    assert 0.0 <= found.low <= found.mean <= found.high <= 1.0
    assert found.high - found.low > 0.0


@given(st.lists(st.integers(0, 10**6).map(lambda k: k / 10**6), min_size=2, max_size=40))
def test_another_scale_gives_the_same_interval(values: list[float]) -> None:
    found = mean_interval(values, span=UNIT)
    scaled = mean_interval([3 + 97 * value for value in values], span=(3.0, 100.0))
    expected = (3 + 97 * found.low, 3 + 97 * found.high)
    assert (scaled.low, scaled.high) == pytest.approx(expected, abs=1e-4)


def test_many_samples_give_students_interval() -> None:
    values = np.random.default_rng(0).random(200_000)
    auto, t = (mean_interval(values, span=UNIT, method=method) for method in ("auto", "t"))
    assert (auto.low, auto.high) == pytest.approx((t.low, t.high), abs=1e-9)
    fewer = values[:8_000]
    auto, t = (mean_interval(fewer, span=UNIT, method=method) for method in ("auto", "t"))
    assert (auto.high - auto.low) == pytest.approx(t.high - t.low, rel=0.01)


def test_scores_without_a_range_are_bounded_no_closer_than_by_t() -> None:
    values = np.random.default_rng(0).lognormal(size=40)
    auto, t = (mean_interval(values, method=method) for method in ("auto", "t"))
    assert auto.method == "skew-t"
    assert auto.low == t.low
    assert auto.high > t.high
    outside = mean_interval([0.2, 0.4, 1.4], span=UNIT)  # a value that the range does not hold
    assert outside.method == "skew-t"


def test_equal_scores_without_a_range_have_no_interval() -> None:
    found = mean_interval([3.0] * 20)
    assert (found.mean, found.low, found.high) == (3.0, None, None)


UNEQUAL = np.where(np.arange(20) < 4, 25, 2)
"""A fifth of the clusters holds most of the values."""


def unequal(generator: np.random.Generator, icc: float, mean: float) -> np.ndarray:
    """0/1 scores of clusters of unequal size."""
    total = 1 / icc - 1
    chance = generator.beta(total * mean, total * (1 - mean), UNEQUAL.size)
    return (generator.random(UNEQUAL.sum()) < np.repeat(chance, UNEQUAL)) * 1.0


@pytest.mark.parametrize(("icc", "mean"), [(0.3, 0.8), (0.7, 0.5), (0.7, 0.8)])
def test_clusters_of_unequal_size_are_covered(icc: float, mean: float) -> None:
    generator = np.random.default_rng(5)
    clusters = np.repeat(np.arange(UNEQUAL.size), UNEQUAL)
    held = {"auto": 0, "t": 0}
    for _ in range(1_000):
        values = unequal(generator, icc, mean)
        for method in held:
            found = mean_interval(values, span=UNIT, clusters=clusters, method=method)
            held[method] += found.low is not None and found.low <= mean <= found.high
    assert held["auto"] / 1_000 > 0.94 - 0.015
    assert held["t"] / 1_000 < 0.9


def test_a_mean_lies_within_its_bounds_however_small() -> None:
    found = mean_interval([0.0, 0.0, 1e-100], span=UNIT)
    assert found.low <= found.mean <= found.high


CELLS = [
    (20, lambda g, n: (g.random((n, 1)) < 0.95) * 1.0, 0.95, 0.94),
    (20, lambda g, n: g.beta(1, 4, (n, 1)), 0.2, 0.94),
    (10, lambda g, n: np.where(g.random((n, 1)) < 0.9, 1.0, g.random((n, 1))), 0.95, 0.93),
    (5, lambda g, n: g.beta(0.4, 1.6, (n, 1)), 0.2, 0.88),
    (20, lambda g, n: (g.random((n, 10)) < g.beta(0.9, 0.1, (n, 1))) * 1.0, 0.9, 0.94),
]


@pytest.mark.parametrize(("n", "draw", "mean", "least"), CELLS)
def test_the_interval_covers_where_students_does_not(n, draw, mean: float, least: float) -> None:
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(1_500):
        values = draw(generator, n)
        clusters = np.repeat(np.arange(n), values.shape[1]) if values.shape[1] > 1 else None
        found = mean_interval(values.ravel(), span=UNIT, clusters=clusters)
        held += found.low <= mean <= found.high
    assert held / 1_500 > least - 0.012  # two standard errors of 1,500 samples
