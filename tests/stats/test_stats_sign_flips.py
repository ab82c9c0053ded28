import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import ragassay.stats.sign_flip as flips_module
from ragassay.stats.paired import compare_pairs
from ragassay.stats.sign_flip import sign_flips

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


@settings(max_examples=40)
@given(PAIRS)
def test_the_float_p_is_the_rational_p(pairs: list[tuple[Fraction, Fraction]]) -> None:
    found = sign_flips([float(x) - float(y) for x, y in pairs])
    assert found.exact
    assert Fraction(float(found.p_values[0])) == exact_p([x - y for x, y in pairs])
    [compared] = compare_pairs(*([float(pair[side]) for pair in pairs] for side in (0, 1)))
    assert compared.p_value == found.p_values[0]


@settings(max_examples=40)
@given(PAIRS, st.data())
def test_the_clustered_p_is_the_rational_p(pairs, data) -> None:
    n = len(pairs)
    clusters = data.draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n))
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


def test_up_to_sixteen_queries_all_patterns_are_flipped_and_of_more_as_many_as_asked_for() -> None:
    found = [sign_flips([1.0] * n, n_resamples=99) for n in (16, 17)]
    assert [(flips.exact, flips.n_patterns) for flips in found] == [(True, 2**15), (False, 100)]


def test_p_is_repeatable_by_its_seed_however_the_work_is_cut(monkeypatch) -> None:
    differences = np.random.default_rng(0).normal(0.02, 0.5, (3, 100))
    first = sign_flips(differences, seed=5).p_values
    other = sign_flips(differences, seed=6).p_values
    monkeypatch.setattr(flips_module, "_CHUNK_BYTES", 8 * 100 * 7)
    assert (sign_flips(differences, seed=5).p_values == first).all()
    assert (other != first).any()


def test_many_queries_stay_in_bounded_memory() -> None:
    differences = np.random.default_rng(0).normal(0, 1, (2, 100_000))
    tracemalloc.start()
    sign_flips(differences, n_resamples=300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20  # all signs at once would take 240 MB


def brute_interval(differences: list, sizes: list, tail: float) -> tuple[float, float]:
    """All values that the enumerated test does not reject, by trying them."""
    tried = np.linspace(-3, 3, 6001)
    signs = np.array(list(product((1, -1), repeat=len(sizes))))
    d, s = np.array(differences), np.array(sizes)
    kept = []
    for theta in tried:
        rest = d - theta * s
        if np.mean(np.abs(signs @ rest) >= abs(rest.sum()) - 1e-12) > tail:
            kept.append(theta)
    return min(kept), max(kept)


@settings(deadline=None, max_examples=8)
@given(
    st.lists(st.tuples(st.integers(-10, 10), st.integers(1, 4)), min_size=8, max_size=9),
    st.sampled_from([0.05, 0.1, 0.3]),
)
def test_the_interval_is_what_the_test_does_not_reject(units, tail: float) -> None:
    sums, sizes = [d / 10 for d, _ in units], [float(s) for _, s in units]
    low, high = sign_flips(sums, sizes).interval(0, tail)
    expected = brute_interval(sums, sizes, tail)
    assert (low, high) == pytest.approx(expected, abs=0.0011)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-6, 9), st.integers(0, 9)), min_size=2, max_size=60),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
    st.sampled_from(["maxt", "holm", "bh", "none"]),
    st.booleans(),
)
def test_an_interval_excludes_zero_where_the_test_does(units, level, correction, clustered) -> None:
    first, clusters = np.array(units).T / 10
    rows = np.vstack([first, np.roll(first, 1) ** 2, first[::-1] * 100, (first > 0.2) * 1.0])
    old = np.vstack([np.zeros((3, first.size)), (first % 0.2 < 0.05) * 1.0])  # the last: yes or no
    for found in compare_pairs(
        rows, old, spans=[(-1, 1), (-1, 1), (None, None), (0, 1)], power=None,
        clusters=clusters if clustered else None,
        level=level, correction=correction, n_resamples=300,
    ):  # fmt: skip
        if found.low is not None and found.high is not None:
            excluded = not found.low <= 0 <= found.high
            assert excluded == (found.p_adjusted <= round(1 - level, 12))
        elif not clustered:
            # None, or equal differences, which show no spread.
            assert found.p_adjusted > 1 - level or found.cohens_d is None


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
def test_random_signs_cover_every_cluster(n: int) -> None:
    """The last cluster is flipped in about half of the patterns, whatever word its bit is in."""
    table = np.zeros((n, 1))
    table[-1] = 1.0
    sums = flips_module._random_patterns(table, 400, seed=1)[1:, 0]
    assert set(sums) == {-1.0, 1.0} and 140 < (sums < 0).sum() < 260
