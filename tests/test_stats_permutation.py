from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ragassay.errors import UsageError
from ragassay.stats import compare_pairs, permutation, sign_flip_test

# Scores as metrics make them: shares of 3, 5, 7 and 10, which no float holds exactly.
SHARES = st.sampled_from([3, 5, 7, 10]).flatmap(
    lambda whole: st.integers(0, whole).map(lambda part: Fraction(part, whole))
)
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=9)


def exact_p(sums: list[Fraction]) -> Fraction:
    """The share of all sign patterns at least as extreme, in rational arithmetic."""
    observed = abs(sum(sums))
    signs = list(product((1, -1), repeat=len(sums)))
    hits = sum(abs(sum(s * d for s, d in zip(row, sums, strict=True))) >= observed for row in signs)
    return Fraction(hits, len(signs))


@given(PAIRS)
def test_the_float_p_is_the_rational_p(pairs: list[tuple[Fraction, Fraction]]) -> None:
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    [found] = compare_pairs(a, b)
    assert found.p_exact
    assert Fraction(found.p_value) == exact_p([x - y for x, y in pairs])


@given(PAIRS, st.data())
def test_the_clustered_p_is_the_rational_p(pairs, data) -> None:
    clusters = data.draw(
        st.lists(st.sampled_from("abcd"), min_size=len(pairs), max_size=len(pairs))
    )
    sums: dict[str, Fraction] = {}
    for (x, y), cluster in zip(pairs, clusters, strict=True):
        sums[cluster] = sums.get(cluster, Fraction(0)) + x - y
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    [found] = compare_pairs(a, b, clusters=clusters)
    assert Fraction(found.p_value) == exact_p(list(sums.values()))


def test_means_of_several_rounded_parts_tie_too() -> None:
    # 0.1 + 0.2 is not 0.3, and (1/3 + 1/5) / 2 is not 4/15 in floats.
    a = [0.1 + 0.2, (1 / 3 + 1 / 5) / 2, 0.5, 0.7]
    b = [0.3, 4 / 15, 0.4, 0.6]
    [found] = compare_pairs(a, b)
    assert (found.wins, found.losses, found.ties) == (2, 0, 2)
    assert found.p_value == 0.5


def test_scipys_exact_test_gives_the_same_p() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((5, 11)), rng.random((5, 11))
    for row, found in enumerate(compare_pairs(a, b)):
        truth = stats.permutation_test(
            (a[row], b[row]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert found.p_value == pytest.approx(truth.pvalue, rel=1e-12)


def test_twenty_equal_differences_have_an_exact_p_and_not_zero() -> None:
    [found] = compare_pairs(np.full(20, 0.7), np.full(20, 0.6))
    assert found.p_exact
    assert Fraction(found.p_value) == Fraction(2, 2**20)


def test_a_sampled_p_is_never_zero() -> None:
    [found] = compare_pairs(np.full(60, 0.7), np.full(60, 0.6), n_resamples=999)
    assert not found.p_exact
    assert found.p_value == 1 / 1000


def test_a_sampled_p_is_near_the_exact_one(monkeypatch) -> None:
    differences = np.random.default_rng(0).normal(0.15, 0.5, (20, 16))
    exact = sign_flip_test(differences)
    monkeypatch.setattr(permutation, "EXACT_UP_TO", 0)
    sampled = sign_flip_test(differences, n_resamples=20_000)
    assert exact.exact.all()
    assert not sampled.exact.any()
    noise = np.sqrt(exact.p_values * (1 - exact.p_values) / 20_000) + 1e-4
    assert (np.abs(sampled.p_values - exact.p_values) < 5 * noise).all()


def test_it_errs_as_often_as_it_says_when_nothing_differs() -> None:
    differences = np.random.default_rng(0).normal(0, 1, (2000, 30))
    p_values = sign_flip_test(differences, n_resamples=2000).p_values
    assert 0.035 < np.mean(p_values < 0.05) < 0.065


def test_turns_of_one_conversation_are_not_independent_evidence() -> None:
    rng = np.random.default_rng(0)
    a = (rng.normal(0, 1, (1500, 30, 1)) + rng.normal(0, 1, (1500, 30, 5))).reshape(1500, -1)
    b, clusters = np.zeros_like(a), np.repeat(np.arange(30), 5)
    naive = [r.p_value for r in compare_pairs(a, b, n_resamples=1000)]
    clustered = [r.p_value for r in compare_pairs(a, b, n_resamples=1000, clusters=clusters)]
    assert np.mean(np.array(naive) < 0.05) > 0.2
    assert 0.03 < np.mean(np.array(clustered) < 0.05) < 0.07


@settings(deadline=None)
@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=40), st.data())
def test_p_survives_swapping_shifting_and_reordering(pairs, data) -> None:
    a, b = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    order = data.draw(st.permutations(range(len(pairs))))
    shift = data.draw(st.integers(-100, 100)) / 10

    def p(x: np.ndarray, y: np.ndarray) -> float:
        [found] = compare_pairs(x, y, n_resamples=200)
        return found.p_value

    found = p(a, b)
    assert 0 < found <= 1
    assert p(b, a) == found
    assert p(a + shift, b + shift) == found
    assert p(a[order], b[order]) == found


def test_p_does_not_depend_on_the_other_metrics() -> None:
    rng = np.random.default_rng(0)
    differences = rng.normal(0.05, 0.5, (4, 200))
    differences[2, 50:] = 0.0  # few queries differ: another width of the sign matrix
    together = sign_flip_test(differences, n_resamples=500).p_values
    alone = [sign_flip_test(row, n_resamples=500).p_values[0] for row in differences]
    assert together.tolist() == alone


def test_p_is_repeatable_by_its_seed_however_the_work_is_cut(monkeypatch) -> None:
    differences = np.random.default_rng(0).normal(0.02, 0.5, (3, 100))
    first = sign_flip_test(differences, seed=5).p_values
    other = sign_flip_test(differences, seed=6).p_values
    monkeypatch.setattr(permutation, "_CHUNK_BYTES", 8 * 100 * 7)
    assert (sign_flip_test(differences, seed=5).p_values == first).all()
    assert (other != first).any()


def test_many_queries_stay_in_bounded_memory() -> None:
    differences = np.random.default_rng(0).normal(0, 1, (2, 100_000))
    tracemalloc.start()
    sign_flip_test(differences, n_resamples=300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20  # all signs at once would take 240 MB


def test_no_difference_at_all_is_p_one() -> None:
    assert sign_flip_test(np.zeros((2, 5))).p_values.tolist() == [1.0, 1.0]
    assert sign_flip_test([0.3]).p_values.tolist() == [1.0]


def test_input_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="resamples"):
        sign_flip_test([0.1, 0.2], n_resamples=0)
    with pytest.raises(ValueError, match="finite"):
        sign_flip_test([0.1, math.nan])
