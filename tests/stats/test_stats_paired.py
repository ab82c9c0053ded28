import math

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy import stats

from ragassay.stats.paired import compare_pairs

SCORE = st.integers(0, 10).map(lambda k: k / 10)


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    b = rng.random((4, 40))
    return np.clip(b + rng.normal(0.05, 0.2, b.shape), 0, 1), b


def test_the_paired_t_test_is_scipys_whatever_the_scale_of_the_other_metrics(scores) -> None:
    a, b = (side * np.array([[1.0], [2.0**50], [2.0**-50], [1.0]]) for side in scores)
    for row, found in enumerate(compare_pairs(a, b)):
        truth = stats.ttest_rel(a[row], b[row])
        assert found.t_p_value == pytest.approx(truth.pvalue, rel=1e-12)


def test_a_metric_with_missing_pairs_is_compared_on_the_others(scores) -> None:
    a, b = (side[:, :15].copy() for side in scores)
    mask = np.ones(a.shape, dtype=bool)
    mask[1, :4] = False
    mask[3, :] = False
    a[~mask], b[~mask] = math.nan, 99.0
    options = {"n_resamples": 100, "correction": "none"}
    found = compare_pairs(a, b, mask=mask, **options)
    assert found[0] == compare_pairs(a[0], b[0], **options)[0]
    assert found[1] == compare_pairs(a[1, 4:], b[1, 4:], **options)[0]
    assert [r.n for r in found] == [15, 11, 15, 0]
    nothing = found[3]
    for field in ("a_mean", "b_mean", "diff", "low", "high", "p_value", "t_p_value"):
        assert getattr(nothing, field) is None
    assert nothing.cohens_d is nothing.detectable is None


@settings(deadline=None, max_examples=40)
@given(pairs=st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=30))
@example([(1.0, 0.0)] * 5 + [(0.0, 0.5)] * 10)  # their mean is 0
def test_swapping_the_systems_mirrors_everything(pairs) -> None:
    a, b = np.array(pairs).T
    [there] = compare_pairs(a, b, n_resamples=100)
    [back] = compare_pairs(b, a, n_resamples=100)
    assert (back.p_value, back.t_p_value) == (there.p_value, there.t_p_value)
    assert back.detectable == there.detectable
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    assert (back.diff, back.cohens_d) == (-there.diff, there.cohens_d and -there.cohens_d)
    ends = (None, None) if there.low is None else (-there.high, -there.low)
    assert (back.low, back.high) == pytest.approx(ends, abs=1e-9)


def test_twins_have_one_interval_whatever_their_order() -> None:
    values = np.vstack([np.ones(14)] * 4)
    found = compare_pairs(values, np.zeros(values.shape), spans=[(0, 1)] * 4)
    assert len({(one.low, one.high, one.p_adjusted) for one in found}) == 1
    [alone] = compare_pairs(values[0], np.zeros(14), spans=[(0, 1)])
    assert (found[0].low, found[0].p_adjusted) == (alone.low, alone.p_adjusted)


@pytest.mark.parametrize(("n", "level"), [(5, 0.95), (6, 0.95), (3, 0.875), (4, 0.875)])
def test_five_queries_can_show_nothing_and_six_can(n: int, level: float) -> None:
    (safe,) = compare_pairs([1] * 10 + [0] * 30, [0] * 40, spans=[(0, 1)])  # ten are not few
    assert (safe.safe_least, safe.safe_most) == (safe.least, safe.most)
    (found,) = compare_pairs(np.arange(n) / 10 + 0.2, np.arange(n) / 10, level=level)
    assert found.too_few is (found.p_adjusted > 1 - level) is (n in (3, 5))
