from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from ragassay.errors import UsageError
from ragassay.stats import compare_pairs, detectable_difference
from ragassay.stats.power import noncentrality

SCORE = st.integers(0, 10).map(lambda k: k / 10)
INTERVALS = ["auto", "t", "percentile", "bca"]


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    b = rng.random((4, 40))
    return np.clip(b + rng.normal(0.05, 0.2, b.shape), 0, 1), b


def test_the_paired_t_test_and_its_interval_are_scipys(scores) -> None:
    a, b = scores
    options = {"interval": "t", "level": 0.9, "correction": "none"}
    for row, found in enumerate(compare_pairs(a, b, **options)):
        truth = stats.ttest_rel(a[row], b[row])
        assert found.t_p_value == pytest.approx(truth.pvalue, rel=1e-12)
        limits = truth.confidence_interval(0.9)
        assert (found.low, found.high) == pytest.approx((limits.low, limits.high), rel=1e-12)


def test_means_counts_and_effect_size_are_what_they_say(scores) -> None:
    a, b = scores
    for row, found in enumerate(compare_pairs(a, b)):
        d = a[row] - b[row]
        assert found.a_mean == pytest.approx(a[row].mean())
        assert found.b_mean == pytest.approx(b[row].mean())
        assert found.diff == pytest.approx(d.mean())
        assert found.cohens_d == pytest.approx(d.mean() / d.std(ddof=1))
        assert (found.wins, found.losses) == ((d > 0).sum(), (d < 0).sum())
        assert found.wins + found.losses + found.ties == found.n == 40


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_the_bootstrap_of_the_difference_is_scipys_up_to_chance(scores, method: str) -> None:
    a, b = scores
    for row, found in enumerate(
        compare_pairs(a, b, interval=method.lower(), n_resamples=20_000, correction="none")
    ):
        truth = stats.bootstrap(
            (a[row] - b[row],),
            np.mean,
            method=method,
            n_resamples=20_000,
            rng=np.random.default_rng(row),
        ).confidence_interval
        near = 0.05 * (truth.high - truth.low)
        assert found.low == pytest.approx(truth.low, abs=near)
        assert found.high == pytest.approx(truth.high, abs=near)
        assert found.interval == method.lower()


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_metric_with_missing_pairs_is_compared_on_the_others(scores, interval: str) -> None:
    a, b = (side[:, :15].copy() for side in scores)
    mask = np.ones(a.shape, dtype=bool)
    mask[1, :4] = False
    mask[3, :] = False
    a[~mask], b[~mask] = math.nan, 99.0
    options = {"interval": interval, "n_resamples": 100, "correction": "none"}
    found = compare_pairs(a, b, mask=mask, **options)
    assert found[0] == compare_pairs(a[0], b[0], **options)[0]
    assert found[1] == compare_pairs(a[1, 4:], b[1, 4:], **options)[0]
    assert [r.n for r in found] == [15, 11, 15, 0]
    nothing = found[3]
    for field in ("a_mean", "b_mean", "diff", "low", "high", "p_value", "p_exact", "t_p_value"):
        assert getattr(nothing, field) is None
    assert nothing.cohens_d is None
    assert nothing.detectable is None


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_result_does_not_depend_on_the_other_metrics(scores, interval: str) -> None:
    a, b = scores
    options = {"interval": interval, "n_resamples": 100, "correction": "none"}
    together = compare_pairs(a, b, **options)
    for row, found in enumerate(together):
        [alone] = compare_pairs(a[row], b[row], **options)
        assert found.p_value == alone.p_value
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), rel=1e-12)


@settings(deadline=None)
@pytest.mark.parametrize("interval", INTERVALS)
@given(pairs=st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=30))
def test_swapping_the_systems_mirrors_everything(interval: str, pairs) -> None:
    a, b = np.array(pairs).T
    [there] = compare_pairs(a, b, interval=interval, n_resamples=100)
    [back] = compare_pairs(b, a, interval=interval, n_resamples=100)
    assert back.p_value == there.p_value
    assert back.t_p_value == there.t_p_value
    assert back.detectable == there.detectable
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    assert back.diff == -there.diff
    if there.low is None:
        assert back.low is None
    else:
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-9)


def test_clusters_widen_the_interval_and_lower_the_confidence() -> None:
    rng = np.random.default_rng(0)
    a = 0.3 + np.repeat(rng.normal(0, 1, 20), 8) + rng.normal(0, 0.5, 160)
    b, clusters = np.zeros(160), [f"c{i // 8}" for i in range(160)]
    [naive] = compare_pairs(a, b)
    for interval in INTERVALS:
        [found] = compare_pairs(a, b, clusters=clusters, interval=interval)
        assert (found.n, found.n_clusters) == (160, 20)
        assert found.diff == naive.diff
        assert found.cohens_d == naive.cohens_d
        assert found.high - found.low > 2 * (naive.high - naive.low)
        assert found.p_value > naive.p_value
        assert found.t_p_value > naive.t_p_value
        assert found.detectable > 2 * naive.detectable


def test_clustered_results_with_one_query_a_cluster_are_the_plain_ones(scores) -> None:
    a, b = scores
    for plain, single in zip(
        compare_pairs(a, b), compare_pairs(a, b, clusters=range(40)), strict=True
    ):
        assert (single.low, single.high) == (plain.low, plain.high)
        assert (single.p_value, single.t_p_value) == (plain.p_value, plain.t_p_value)
        assert single.detectable == plain.detectable


def test_differences_without_spread_claim_nothing_that_needs_one() -> None:
    # 0.3 - 0.2 and 0.7 - 0.6 are not the same float.
    [found] = compare_pairs([0.3, 0.7, 1.0], [0.2, 0.6, 0.9])
    assert (found.low, found.high) == (None, None)
    assert (found.t_p_value, found.cohens_d, found.detectable) == (None, None, None)
    assert found.p_value == 0.25


def test_identical_systems_show_no_difference() -> None:
    [found] = compare_pairs([0.3, 0.7], [0.3, 0.7])
    assert (found.diff, found.p_value, found.ties) == (0.0, 1.0, 2)
    assert found.detectable is None


def test_one_pair_has_a_difference_and_no_interval() -> None:
    [found] = compare_pairs([0.5], [0.25])
    assert (found.diff, found.low, found.high, found.t_p_value) == (0.25, None, None, None)
    assert found.p_value == 1.0


def test_no_queries_give_no_numbers() -> None:
    [found] = compare_pairs(np.zeros((1, 0)), np.zeros((1, 0)))
    assert (found.n, found.diff, found.p_value) == (0, None, None)
    assert compare_pairs(np.zeros((0, 5)), np.zeros((0, 5))) == []


@pytest.mark.parametrize("n", [4, 10, 57, 500, 20_000])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9), (0.1, 0.5)])
def test_the_detectable_difference_has_the_promised_power(n, alpha, power) -> None:
    found = detectable_difference(0.3, n, alpha=alpha, power=power)
    centre = found / (0.3 / math.sqrt(n))
    critical = stats.t.isf(alpha / 2, n - 1)
    exact = stats.nct.sf(critical, n - 1, centre) + stats.nct.cdf(-critical, n - 1, centre)
    assert exact == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(("alpha", "power"), [(0.001, 0.9999), (0.05, 0.0501), (1e-6, 0.5)])
@pytest.mark.parametrize("df", [1, 2, 30, 1_000_000])
def test_the_detectable_difference_exists_for_extreme_wishes(df, alpha, power) -> None:
    assert 0 < noncentrality(df, alpha, power) < math.inf


def test_a_true_difference_of_the_detectable_size_is_found_that_often() -> None:
    n, sd = 25, 0.3
    truth = detectable_difference(sd, n)
    a = np.random.default_rng(0).normal(truth, sd, (2000, n))
    found = np.mean([r.t_p_value < 0.05 for r in compare_pairs(a, np.zeros_like(a), n_resamples=1)])
    assert 0.77 < found < 0.83


def test_the_result_states_the_detectable_difference_of_its_own_spread(scores) -> None:
    a, b = scores
    for row, found in enumerate(compare_pairs(a, b)):
        spread = (a[row] - b[row]).std(ddof=1)
        assert found.detectable == pytest.approx(detectable_difference(spread, 40))


def test_without_spread_or_pairs_nothing_is_known_to_be_detectable() -> None:
    assert detectable_difference(0.0, 100) is None
    assert detectable_difference(0.5, 1) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"interval": "wald"}, "auto, t, percentile, bca"),
        ({"correction": "bonferroni"}, "maxt, holm, bh, none"),
        ({"level": 0.0}, "level"),
        ({"n_resamples": 0}, "resamples"),
        ({"power": 1.0}, "power"),
    ],
)
def test_options_out_of_range_are_explained(options: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        compare_pairs([0.0, 1.0], [1.0, 1.0], **options)


def test_shapes_that_do_not_match_and_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        compare_pairs([0.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="one shape"):
        compare_pairs([0.0, 1.0], [1.0, 0.0], mask=[True])
    with pytest.raises(ValueError, match="finite"):
        compare_pairs([0.0, math.nan], [1.0, 0.0])
    with pytest.raises(ValueError, match="standard deviation"):
        detectable_difference(-1.0, 10)


def test_equal_differences_are_no_certainty() -> None:
    [found] = compare_pairs(np.ones(14), np.zeros(14), spans=[(0, 1)])
    missed = 1 - 0.025 ** (1 / 14)  # Clopper-Pearson: clusters that may differ though none did
    assert found.low == pytest.approx(1 - 2 * missed, abs=0.001)
    assert found.high == 1.0
    assert found.interval == "sign flips and ties"
    [ties] = compare_pairs(np.zeros(20), np.zeros(20), spans=[(0, 1)])
    missed = 1 - 0.025 ** (1 / 20)
    assert (ties.low, ties.high) == pytest.approx((-missed, missed), abs=0.001)
    [unknown] = compare_pairs(np.zeros(20), np.zeros(20))  # no range: nothing to widen by
    assert (unknown.low, unknown.high) == (None, None)


def test_equal_differences_without_a_range_have_room_on_both_sides() -> None:
    [found] = compare_pairs(np.ones(14), np.full(14, 2.0))
    assert found.low < -1.0 < found.high < 0.0
    assert found.p_adjusted < 0.05


def test_skewed_differences_are_held_about_as_often_as_symmetrical_ones() -> None:
    # Few gain much, most next to nothing: the sign-flip test by itself holds the mean too rarely.
    generator, held, widened = np.random.default_rng(1), 0, 0
    for _ in range(400):
        large = generator.random(20) < 0.15
        values = np.where(large, generator.uniform(0.3, 1, 20), generator.normal(0, 0.1, 20))
        [found] = compare_pairs(values, np.zeros(20), spans=[(0, 1)], n_resamples=500)
        [plain] = compare_pairs(values, np.zeros(20), spans=[(0, 1)], interval="t")
        assert found.low is not None and found.high is not None and plain.high is not None
        held += found.low <= 0.15 * 0.65 <= found.high
        if found.interval == "sign flips and skewness":
            widened += 1
            assert found.high > plain.high  # the longer tail is that of the gains
    assert held / 400 >= 0.92 and widened > 200


def test_the_verdict_follows_the_interval_of_skewed_differences() -> None:
    values = np.array([0.9, 0.8, 0.7] + [0.02, 0.01, -0.01, 0.0, 0.03, -0.02] * 3)
    [found] = compare_pairs(values, np.zeros(values.size), spans=[(0, 1)])
    assert found.interval == "sign flips and skewness"
    assert found.p_value < 0.05 < found.p_adjusted and found.low <= 0 <= found.high


def test_few_kinds_of_differences_are_found_as_the_test_finds_them() -> None:
    # Precision at 5 with one relevant passage moves by 0.2 or not at all.
    values = np.array([0.2] * 12 + [0.0] * 48)
    [found] = compare_pairs(values, np.zeros(60), spans=[(0, 1)])
    assert found.p_value == pytest.approx(2 / 2**12, abs=0.001)
    assert found.p_adjusted < 0.05 and found.low > 0
    [one] = compare_pairs(values[10:], np.zeros(50), spans=[(0, 1)])  # two of fifty
    assert one.low < 0 < one.high


def test_the_p_value_is_the_tests_and_the_adjusted_one_allows_for_ties() -> None:
    [found] = compare_pairs(np.ones(7), np.zeros(7), spans=[(0, 1)], level=0.99)
    assert found.p_value == 2 / 2**7
    assert found.p_adjusted >= found.p_value


def test_twins_have_one_interval_whatever_their_order() -> None:
    values = np.vstack([np.ones(14)] * 4)
    found = compare_pairs(values, np.zeros(values.shape), spans=[(0, 1)] * 4)
    assert len({(one.low, one.high, one.p_adjusted) for one in found}) == 1
    [alone] = compare_pairs(values[0], np.zeros(14), spans=[(0, 1)])
    assert found[0].low == pytest.approx(alone.low, abs=0.01)


def test_a_metric_that_is_not_tested_weakens_no_other() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal([[0.09], [0.0], [0.0], [0.0]], 0.2, (4, 40))
    b = np.zeros(a.shape)
    [alone] = compare_pairs(a[0], b[0], correction="holm")
    tested = compare_pairs(a, b, correction="holm", tested=[True, False, False, False])
    assert tested[0].p_adjusted == alone.p_adjusted
    assert (tested[0].low, tested[0].high) == (alone.low, alone.high)
    assert [found.p_adjusted for found in tested[1:]] == [None] * 3
    assert compare_pairs(a, b, correction="holm")[0].p_adjusted > alone.p_adjusted


def test_one_sided_bounds_are_not_corrected() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(0.05, 0.2, (6, 40))
    [alone] = compare_pairs(a[0], np.zeros(40))
    together = compare_pairs(a, np.zeros(a.shape))[0]
    assert (together.least, together.most) == (alone.least, alone.most)
    two_sided = compare_pairs(a[0], np.zeros(40), level=0.9)[0]
    assert (alone.least, alone.most) == (two_sided.low, two_sided.high)


@pytest.mark.parametrize(("share", "balance"), [(0.1, 1.0), (0.1, 0.5), (0.02, 1.0)])
@pytest.mark.parametrize("n", [20, 60])
def test_the_interval_of_mostly_tied_pairs_covers(share: float, balance: float, n: int) -> None:
    rng = np.random.default_rng(n)
    truth, held = share * (2 * balance - 1), 0
    for _ in range(200):
        signs = np.where(rng.random(n) < balance, 1.0, -1.0)
        values = np.where(rng.random(n) < share, signs, 0.0)
        [found] = compare_pairs(values, np.zeros(n), spans=[(0, 1)], n_resamples=400)
        held += found.low <= truth <= found.high
    assert held / 200 > 0.93


@pytest.mark.parametrize("factor", [1 - 1e-7, 1 + 1e-7])
def test_verdict_and_interval_agree_at_a_level_next_to_the_p_value(factor: float) -> None:
    new, old = [0.1] * 14, [0.0] * 14
    (at_95,) = compare_pairs(new, old, spans=[(0, 1)], correction="none")
    assert at_95.interval == "sign flips and ties"
    assert at_95.p_adjusted is not None and at_95.p_value is not None
    assert at_95.p_adjusted > at_95.p_value
    level = 1 - at_95.p_adjusted * factor
    (found,) = compare_pairs(new, old, spans=[(0, 1)], correction="none", level=level)
    assert found.low is not None and found.high is not None and found.p_adjusted is not None
    assert (found.low <= 0 <= found.high) == (found.p_adjusted > 1 - level)


@pytest.mark.parametrize("loss", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("n", "wins", "gain"), [(40, 6, 0.1), (100, 7, 0.02), (200, 6, 0.1)])
def test_a_loss_makes_no_verdict_better(n: int, wins: int, gain: float, loss: float) -> None:
    gains = gain * (1 + 0.1 * np.arange(wins))
    ties = np.zeros(n - wins)
    without = np.concatenate([gains, ties])
    with_loss = np.concatenate([gains, [-loss], ties[1:]])
    [before], [after] = (
        compare_pairs(0.5 + each, np.full(n, 0.5), spans=[(0, 1)]) for each in (without, with_loss)
    )
    assert before.low < 0 and after.low < 0
    assert before.p_adjusted > 0.05 and after.p_adjusted > 0.05
