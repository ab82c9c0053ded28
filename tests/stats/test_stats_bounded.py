import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.stats.distributions import beta_ppf
from ragassay.stats.intervals import mean_interval, one_sided

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


@pytest.mark.parametrize("n", [*range(2, 21), 50])
def test_right_and_wrong_answers_have_clopper_and_pearsons_bounds(n: int) -> None:
    for right in range(n + 1):
        values = [1.0] * right + [0.0] * (n - right)
        truth = stats.binomtest(right, n).proportion_ci(0.95, method="exact")
        found = mean_interval(values, span=UNIT)
        assert (found.low, found.high) == pytest.approx((truth.low, truth.high), rel=1e-9)
        assert found.method == "effective-n"
        single = mean_interval(values, span=UNIT, level=one_sided(0.95))
        least = stats.binomtest(right, n, alternative="greater").proportion_ci(0.95, "exact")
        most = stats.binomtest(right, n, alternative="less").proportion_ci(0.95, "exact")
        assert (single.low, single.high) == pytest.approx((least.low, most.high), rel=1e-9)
        assert not found.crowded


@pytest.mark.parametrize(("n", "least"), [(10, 0.95), (20, 0.93)])
def test_a_skewed_score_is_covered_or_said_to_be_crowded(n: int, least: float) -> None:
    generator = np.random.default_rng(3)
    found = [mean_interval(generator.beta(1.9, 0.1, n), span=UNIT) for _ in range(1_500)]
    covered = [each.low <= 0.95 <= each.high for each in found]
    crowded = [each.crowded for each in found]
    assert np.mean(covered) < 0.96  # else nothing would have to be said
    assert np.logical_or(covered, crowded).mean() >= least
    assert np.mean(crowded) < 0.5


@pytest.mark.parametrize("n", [5, 17, 100])
@pytest.mark.parametrize("less", [1e-9, 1e-6, 1e-4])
def test_a_score_that_differs_by_a_trifle_changes_the_interval_little(n: int, less: float) -> None:
    """A worse sample must not pass a gate for its lower bound that a perfect one does not."""
    perfect = mean_interval([1.0] * n, span=UNIT)
    found = mean_interval([1.0] * (n - 1) + [1.0 - less], span=UNIT)
    assert 1.0 - found.low > (1.0 - perfect.low) * 2 / 3
    assert found.high == pytest.approx(1.0, abs=1e-3)


@given(
    st.lists(st.integers(0, 100).map(lambda k: k / 100), min_size=2, max_size=60),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_an_interval_has_width_holds_the_mean_and_keeps_the_range(values, level: float) -> None:
    found = mean_interval(values, span=UNIT, level=level)
    assert 0.0 <= found.low <= found.mean <= found.high <= 1.0
    assert found.high - found.low > 0.0


def test_many_samples_give_students_interval() -> None:
    values = np.random.default_rng(0).random(200_000)
    auto, t = (mean_interval(values, span=UNIT, method=method) for method in ("auto", "t"))
    assert (auto.low, auto.high) == pytest.approx((t.low, t.high), abs=1e-8)
    fewer = values[:8_000]
    auto, t = (mean_interval(fewer, span=UNIT, method=method) for method in ("auto", "t"))
    assert (auto.high - auto.low) == pytest.approx(t.high - t.low, rel=0.01)


def test_scores_without_a_range_are_bounded_no_closer_than_by_t() -> None:
    values = np.random.default_rng(0).lognormal(size=40)
    auto, t = (mean_interval(values, method=method) for method in ("auto", "t"))
    assert auto.method == "skew-t"
    assert auto.low == t.low
    assert auto.high > t.high


def test_clusters_are_as_independent_as_their_scores_show() -> None:
    """Scores that differ inside clusters as much as between them tell more than their number."""
    clusters = np.repeat(np.arange(20), 5)
    alike = mean_interval(np.repeat([1.0, 0.0], 50), span=UNIT, clusters=clusters)
    mixed = mean_interval(np.tile([1.0, 0.0], 50), span=UNIT, clusters=clusters)
    one_each = stats.binomtest(10, 20).proportion_ci(0.95, method="exact")
    assert (alike.low, alike.high) == pytest.approx((one_each.low, one_each.high), rel=1e-9)
    independent = mean_interval(np.tile([1.0, 0.0], 50), span=UNIT)
    width = independent.high - independent.low
    assert width < mixed.high - mixed.low < 1.1 * width


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
