from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.base.errors import UsageError
from ragassay.stats import intervals
from ragassay.stats.intervals import bca_bounds, mean_interval, resampled_means
from ragassay.stats.units import Units

METHODS = ["auto", "t", "percentile", "bca"]
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


def units_of(values: list[float], clusters: list[int] | None = None) -> Units:
    codes = None if clusters is None else np.array(clusters)
    return Units.of(np.array(values), codes)


def conversations(rng: np.random.Generator, groups: int, turns: int) -> tuple[np.ndarray, list]:
    """Scores whose turns share half of their variance with their conversation; true mean 0."""
    values = rng.normal(0, 1, (groups, 1)) + rng.normal(0, 1, (groups, turns))
    return values.ravel(), [f"c{g}" for g in range(groups) for _ in range(turns)]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_t_interval_is_scipys(level: float) -> None:
    values = np.random.default_rng(0).random(23)
    truth = stats.ttest_1samp(values, 0).confidence_interval(level)
    found = mean_interval(values, method="t", level=level)
    assert (found.low, found.high) == pytest.approx((truth.low, truth.high), rel=1e-12)
    assert found.mean == pytest.approx(values.mean())
    assert (found.n, found.n_clusters, found.method, found.level) == (23, None, "t", level)


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_show_no_spread_and_have_no_interval(method: str) -> None:
    found = mean_interval([0.1] * 10, method=method)
    assert found.mean == pytest.approx(0.1)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_than_two_independent_values_have_no_interval(method: str) -> None:
    nothing = mean_interval([], method=method)
    assert (nothing.mean, nothing.low, nothing.high, nothing.n) == (None, None, None, 0)
    assert mean_interval([], method=method, clusters=[]).n_clusters == 0
    one = mean_interval([0.25], method=method)
    assert (one.mean, one.low, one.high, one.n) == (0.25, None, None, 1)
    one_cluster = mean_interval([0.25, 0.75], method=method, clusters=["x", "x"])
    assert (one_cluster.mean, one_cluster.low, one_cluster.n_clusters) == (0.5, None, 1)


@pytest.mark.parametrize("method", METHODS)
@given(values=VALUES)
def test_no_interval_holds_a_number_that_is_not_finite(method: str, values: list[float]) -> None:
    found = mean_interval(values, method=method, n_resamples=20)
    if found.low is None:  # equal, up to rounding
        assert max(values) - min(values) <= 1e-11 * max(map(abs, values)) + 1e-300
        return
    assert all(math.isfinite(x) for x in (found.mean, found.low, found.high))
    assert found.low <= found.high
    if method in ("auto", "t"):
        assert found.low <= found.mean <= found.high


@pytest.mark.parametrize("method", METHODS)
@given(values=VALUES)
def test_one_value_a_cluster_is_no_clustering(method: str, values: list[float]) -> None:
    plain = mean_interval(values, method=method, n_resamples=20)
    single = mean_interval(values, method=method, n_resamples=20, clusters=range(len(values)))
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


def test_the_t_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    found = [mean_interval(rng.normal(3, 2, 10), method="t") for _ in range(2000)]
    assert 0.93 < np.mean([i.low < 3 < i.high for i in found]) < 0.97


@pytest.mark.parametrize("method", METHODS)
def test_the_clustered_interval_covers_where_the_naive_one_does_not(method: str) -> None:
    rng = np.random.default_rng(0)
    options = {"method": method, "n_resamples": 500}
    naive = clustered = 0
    for _ in range(400):
        values, clusters = conversations(rng, groups=40, turns=6)
        low, high = (i := mean_interval(values, **options)).low, i.high
        naive += low < 0 < high
        low, high = (i := mean_interval(values, clusters=clusters, **options)).low, i.high
        clustered += low < 0 < high
    assert 0.91 < clustered / 400 < 0.98
    assert naive / 400 < 0.80


@pytest.mark.parametrize("scipy_name", ["percentile", "BCa"])
def test_the_bootstrap_interval_is_scipys_up_to_chance(scipy_name: str) -> None:
    values = np.random.default_rng(0).exponential(size=60)
    truth = stats.bootstrap(
        (values,), np.mean, method=scipy_name, n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    found = mean_interval(values, method=scipy_name.lower(), n_resamples=20_000, seed=2)
    near = 0.05 * (truth.high - truth.low)
    assert found.low == pytest.approx(truth.low, abs=near)
    assert found.high == pytest.approx(truth.high, abs=near)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_bca_is_scipys_to_the_last_digits_for_the_same_draws(level: float) -> None:
    values = np.random.default_rng(3).lognormal(size=25)
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", confidence_level=level, rng=np.random.default_rng(4)
    )
    units = units_of(values.tolist())
    drawn = theirs.bootstrap_distribution
    found = bca_bounds(drawn, float(values.mean()), units.leave_one_out, level)
    assert found == pytest.approx(tuple(theirs.confidence_interval), rel=1e-10)


def test_bca_moves_towards_the_long_tail() -> None:
    values = np.random.default_rng(0).lognormal(0, 1.2, size=40)
    plain = mean_interval(values, method="percentile")
    moved = mean_interval(values, method="bca")
    assert moved.low > plain.low
    assert moved.high > plain.high


def test_bca_is_finite_where_every_resample_lies_on_one_side() -> None:
    low, high = bca_bounds(np.array([1.0, 2.0, 3.0]), 9.0, np.array([1.0, 2.0, 9.0]), 0.95)
    assert 1.0 <= low <= high <= 3.0


def test_the_bootstrap_draws_whole_clusters() -> None:
    units = units_of([0.0, 0.0, 0.0, 1.0], [7, 7, 7, 3])
    found = resampled_means(units, 500, seed=0)
    assert set(found.ravel()) == {0.0, 0.25, 1.0}


def test_resampled_means_spread_as_much_as_the_standard_error_says() -> None:
    values, clusters = conversations(np.random.default_rng(0), groups=50, turns=4)
    units = units_of(values.tolist(), [int(c[1:]) for c in clusters])
    spread = resampled_means(units, 20_000, seed=0).std()
    assert spread == pytest.approx(units.standard_error * math.sqrt(49 / 50), rel=0.03)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_bootstrap_is_repeatable_by_its_seed(method: str) -> None:
    values = np.random.default_rng(0).random(30)
    first = mean_interval(values, method=method, seed=1)
    assert mean_interval(values, method=method, seed=1) == first
    assert mean_interval(values, method=method, seed=2).low != first.low


def test_a_bootstrap_does_not_depend_on_how_the_work_is_cut(monkeypatch) -> None:
    values = np.random.default_rng(0).random(30)
    whole = mean_interval(values, method="bca", n_resamples=500)
    monkeypatch.setattr(intervals, "_CHUNK_BYTES", 24 * 30 * 7)
    cut = mean_interval(values, method="bca", n_resamples=500)
    assert (cut.low, cut.high) == pytest.approx((whole.low, whole.high), rel=1e-13)


def test_a_bootstrap_of_many_values_stays_in_bounded_memory() -> None:
    values = np.random.default_rng(0).random(100_000)
    tracemalloc.start()
    mean_interval(values, method="bca", n_resamples=200)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20  # one draw of all values at once would take 160 MB


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "wald"}, "t, percentile, bca"),
        ({"level": 1.0}, "level"),
        ({"level": 95}, "level"),
        ({"n_resamples": 0}, "resamples"),
    ],
)
def test_options_out_of_range_are_explained(options: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        mean_interval([0.0, 1.0], **options)


def test_values_that_are_no_numbers_and_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_interval([0.0, math.nan])
    with pytest.raises(ValueError, match="one-dimensional"):
        mean_interval([[0.0, 1.0]])
    with pytest.raises(ValueError, match="2 values but 3 cluster labels"):
        mean_interval([0.0, 1.0], clusters="abc")


def test_statistics_need_numpy_and_nothing_else() -> None:
    modules = "{m.split('.')[0] for m in sys.modules}"
    script = f"import sys, ragassay.stats.paired; print(' '.join({modules}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy = {"scipy", "pandas", "polars", "pydantic", "altair", "nltk", "sacrebleu", "orjson"}
    assert not heavy & set(done.stdout.split())
