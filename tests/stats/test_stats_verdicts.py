"""The sign-flip test decides a comparison; a sentence says where its assumption is doubtful."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from ragassay.stats.intervals import Units
from ragassay.stats.paired import FEW_DIFFER, PairedResult, compare_pairs, detectable


def compared(differences: np.ndarray, **options) -> PairedResult:
    """One metric whose old scores are all 0."""
    [found] = compare_pairs(differences, np.zeros(len(differences)), power=None, **options)
    return found


def conversations(g: np.random.Generator, rate: float, icc: float) -> tuple[np.ndarray, np.ndarray]:
    """New 0/1 scores in 30 uneven conversations, of which a rate is lost; and the conversations."""
    turns = np.minimum(g.geometric(0.25, 30), 25)
    total = 1 / icc - 1 if icc else 0.0
    rates = g.beta(rate * total, (1 - rate) * total, 30) if icc else np.full(30, rate)
    each = np.repeat(rates, turns)
    return (g.random(each.size) >= each) * 1.0, np.repeat(np.arange(30), turns)


def test_eleven_losses_and_no_gain_in_thirty_conversations_are_found() -> None:
    new = np.ones(143)
    new[np.arange(11) * 13] = 0.0
    clusters = np.arange(143) * 30 // 143
    [found] = compare_pairs(new, np.ones(143), clusters=clusters, spans=[(0, 1)])
    assert found.p_adjusted < 0.005 and found.high < 0 and not found.doubt


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 30))
def test_yes_or_no_scores_have_mcnemars_mid_p(won: int, lost: int, equal: int) -> None:
    new = np.array([1.0] * won + [0.0] * lost + [1.0] * equal)
    old = np.array([0.0] * won + [1.0] * lost + [1.0] * equal)
    if not 2 <= len(new) <= 16:
        return
    [found] = compare_pairs(new, old, power=None)
    n, most = won + lost, max(won, lost)
    exact = min(1.0, 2 * stats.binom.sf(most - 1, n, 0.5))
    assert found.p_value == pytest.approx(exact)  # as published
    tied = 2 * stats.binom.pmf(most, n, 0.5) if won != lost else 0.0
    assert found.p_adjusted == pytest.approx(exact - tied / 2)


def test_few_graded_differences_make_a_finding_doubtful_and_yes_or_no_ones_do_not() -> None:
    few = np.array([0.3, 0.2, 0.4, 0.1, 0.5, 0.35, 0.25] + [0.0] * 40)
    assert np.count_nonzero(few) < FEW_DIFFER
    found = compared(few)
    assert found.p_adjusted < 0.05 and found.doubt == "few differ"
    assert not compared((few > 0) * 1.0).doubt
    many = np.concatenate([few, [0.2, 0.3, 0.15]])
    assert not compared(many).doubt


def test_rare_large_differences_on_the_other_side_make_a_finding_doubtful() -> None:
    losses = np.linspace(-0.3, -0.1, 30)
    losses[0] = 0.9
    found = compared(losses)
    assert found.p_adjusted < 0.05 and found.doubt == "skewed"
    losses[0] = -0.9  # a large loss among losses speaks for the finding
    assert not compared(losses).doubt
    some = [0.0, *np.linspace(-0.3, -0.1, 20)[1:]]  # a skewness of 0.64
    assert not compared(np.array(some)).doubt


@pytest.mark.parametrize(("n", "lost"), [(20, 10), (20, 15), (20, 18), (20, 19), (60, 55)])
def test_the_more_queries_are_lost_the_surer_is_the_finding(n: int, lost: int) -> None:
    scores = np.where(np.arange(n) < lost, -1.0, 0.0)
    found = compared(scores, spans=[(0.0, 1.0)])
    assert found.p_adjusted < 0.01 and not found.doubt


def test_gains_that_were_not_drawn_could_undo_small_losses_only() -> None:
    """No gain in 30 queries leaves about one in nine that may gain the whole range."""
    small, large = (np.linspace(0.5, 1.5, 30) * -size for size in (0.08, 0.3))
    for losses in (small, large):
        losses[:4] = 0.0  # the shorter tail lies at the losses
    assert compared(small, spans=[(0.0, 1.0)]).doubt == "skewed"
    assert not compared(large, spans=[(0.0, 1.0)]).doubt
    assert compared(large).doubt == "skewed"  # without a range any gain may have been missed


def test_false_findings_of_skewed_differences_carry_the_sentence() -> None:
    g, firm = np.random.default_rng(5), np.zeros(2)
    for _ in range(150):
        rest = g.lognormal(size=20) - np.exp(0.5)
        tied = compared(np.where(g.random(20) < 0.6, 0.0, rest), n_resamples=600)
        skewed = compared(g.lognormal(size=30) - np.exp(0.5), n_resamples=600)
        firm += [one.p_adjusted <= 0.05 and not one.doubt for one in (tied, skewed)]
    assert (firm / 150 <= 0.09).all()


@pytest.mark.heavy
@pytest.mark.parametrize("icc", [0.0, 0.2])
def test_at_the_detectable_difference_four_of_five_comparisons_find_it(icc: float) -> None:
    g = np.random.default_rng(7)
    stated = []
    for _ in range(200):
        new, clusters = conversations(g, 0.1, icc)
        stated.append(detectable(Units.of(new - 1.0, clusters), halves=True))
    size = float(np.median([one for one in stated if one is not None]))
    found = 0
    for _ in range(1_200):
        new, clusters = conversations(g, size, icc)
        options = {"clusters": clusters, "n_resamples": 800, "power": None}
        [test] = compare_pairs(new, np.ones(new.size), **options)
        found += test.p_adjusted <= 0.05
    assert 0.73 <= found / 1_200 <= 0.87


def test_identical_runs_exclude_a_drop_that_their_number_can_exclude() -> None:
    for n, expected in ((30, False), (200, True)):
        found = compared(np.zeros(n), spans=[(0, 1)])
        assert found.safe_least == pytest.approx(0.05 ** (1 / n) - 1)
        assert (found.safe_least >= -0.03) == expected
    assert compared(np.zeros(200)).safe_least is None  # a score without a range may lose anything
