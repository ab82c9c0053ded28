"""Values of all statistics at boundaries, as they were approved. See `approved`.

Other tests compare them with scipy, with published examples and by simulation; here each branch,
option and message is held.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from approved import check, number, result
from ragassay.stats import categorical, distributions
from ragassay.stats.corrections import adjusted_p, decision_levels, max_t
from ragassay.stats.intervals import (
    METHODS,
    Units,
    alpha_of,
    is_crowded,
    mean_interval,
    one_sided,
    range_bounds,
    skewed_bounds,
)
from ragassay.stats.paired import CORRECTIONS, compare_pairs, detectable
from ragassay.stats.percentiles import percentile_difference, percentile_interval
from ragassay.stats.repeats import icc1, jaccard, rank_biased_overlap, spread, variance_components
from ragassay.stats.sign_flip import sign_flips
from ragassay.stats.welch import compare_samples

APPROVED = Path(__file__).parent / "approved"
INF = math.inf

ROWS: dict[str, list[float]] = {
    "none": [], "one": [0.25], "two": [0.25, 0.75], "equal": [0.3, 0.3, 0.3], "zeros": [0.0] * 5,
    "ones": [1.0] * 4, "yes and no": [1, 0, 1, 1, 0, 1], "nearly all": [1.0] * 19 + [0.0],
    "nearly all, between": [1.0] * 19 + [0.5], "nearly none": [0.0] * 30 + [0.1, 0.9],
    "half at an end": [0.0, 0.0, 0.0, 0.4, 0.5, 0.6], "graded": [0, 1, 2, 3, 3, 2, 1, 3, 3, 3],
    "skewed": [0.01 * at**3 for at in range(12)], "thirds": [at / 3 for at in range(4)] * 5,
    "many": [(at * 7 % 11) / 11 for at in range(40)], "negative": [-1.5, -0.5, 0.0, 0.25, 2.0],
    "close": [1.0, 1.0 + 1e-13, 1.0], "large": [1e12, 1e12 + 1, 1e12 + 3],
    "tiny": [1e-200, 3e-200, 5e-200], "infinite": [1.0, INF],
}  # fmt: skip
SPANS: list[tuple[float | None, float | None]] = [(None, None), (0.0, 1.0), (-2.0, 3.0)]


def clusters_of(n: int) -> list[str]:
    """Labels of clusters of several sizes."""
    return [f"c{int(math.sqrt(at))}" for at in range(n)]


def intervals() -> Iterator[str]:
    """Intervals of means by each method."""
    for (name, row), method, clustered in product(ROWS.items(), METHODS, (False, True)):
        labels = clusters_of(len(row)) if clustered else None
        for span in SPANS if method == "auto" else SPANS[:1]:
            made = partial(mean_interval, row, span=span, method=method)
            yield f"{name}, {method}, {clustered}, {span}: {result(made, clusters=labels)}"
    for span, level in product([(0.0, None), (1.0, 1.0), (0.0, 3.0)], (0.95, 0.5)):
        yield f"{span} {level}: {result(mean_interval, ROWS['graded'], span=span, level=level)}"
    for wrong in ({"method": "z"}, {"level": 1.0}, {"level": 0.0}):
        yield f"{wrong}: {result(mean_interval, [1.0, 2.0], **wrong)}"
    yield result(mean_interval, [[1.0]])
    yield result(mean_interval, [1.0, 2.0], clusters=["a"])
    for level in (0.5, 0.51, 0.95, 0.9999, 1.0):
        yield f"{level}: {alpha_of(level)} {result(one_sided, level, digits=12)}"


def bounds_of_units() -> Iterator[str]:
    """Bounds of means in a range and of skewed ones, by the units themselves."""
    for name, row in ROWS.items():
        if len(row) < 2 or not all(map(math.isfinite, row)):
            continue
        values = np.array(row)
        for clustered in (False, True):
            codes = np.array([int(math.sqrt(at)) for at in range(len(row))]) if clustered else None
            units = Units.of(values, codes)
            if units.n_units < 2:
                continue
            for level in (0.95, 0.8):
                given = [
                    result(range_bounds, units, min(row) - 0.5, max(row), level, digits=9),
                    result(range_bounds, units, min(row), max(row) + 1, level, digits=9),
                    result(skewed_bounds, units, level, digits=9),
                ]
                yield f"{name}, {clustered}, {level}: {' '.join(given)}"
            crowded = is_crowded(units, min(row), max(row) + 1)
            yield f"  {number([units.mean, units.within, units.standard_error])} {crowded}"
    wide = Units.of(np.array([0.2] * 200 + [0.3] * 200), None, 1.0)
    yield result(range_bounds, wide, 0.0, 1.0, 0.95, digits=12)


A = np.array([
    [0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.75, 0.5], [1, 1, 1, 0, 1, 1, 0, 1],
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [3, 2, 3, 1, 0, 3, 2, 2],
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 9.0], [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.4],
])  # fmt: skip
B = np.array([
    [0.5, 0.6, 0.4, 0.7, 0.5, 0.3, 0.7, 0.4], [0, 1, 0, 0, 1, 0, 0, 0],
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [3, 1, 2, 2, 0, 2, 3, 0],
    [0.0, 0.1, 0.05, 0.1, 0.0, 0.05, 0.1, 0.1], [0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
])  # fmt: skip
MASK = np.array([[True] * 8, [True] * 7 + [False], [True] * 8, [False] * 8, [True] * 8, [True] * 8])
RANGES: list[tuple[float | None, float | None]] = [
    (0, 1), (0, 1), (0, 1), (0, 3), (0, None), (None, None),
]  # fmt: skip


def repeated(row: list[float], times: int) -> list[float]:
    return [value + 0.01 * (at % 3) for at, value in enumerate(row * times)]


def pairs() -> Iterator[str]:
    """Comparisons of two systems with each option."""
    wide = np.array([repeated(row, 3) for row in A.tolist()])
    other = np.array([repeated(row, 3)[::-1] for row in B.tolist()])
    codes = ["a", "a", "b", "c", "d", "e", "f", "g"]
    given: dict[str, dict[str, Any]] = {
        "plain": {}, "spans": {"spans": RANGES}, "mask": {"mask": MASK, "spans": RANGES},
        "clusters": {"clusters": codes, "spans": RANGES},
        "two clusters": {"clusters": ["x"] * 4 + ["y"] * 4}, "one cluster": {"clusters": ["x"] * 8},
        "tested": {"tested": [True, True, False, False, True, False]},
        "none tested": {"tested": [False] * 6}, "80 %": {"level": 0.8, "spans": RANGES},
        "50 %": {"level": 0.5}, "10 %": {"level": 0.1, "power": 0.85}, "power": {"power": 0.99},
    }  # fmt: skip
    for name, options in given.items():
        for correction in CORRECTIONS:
            for made in compare_pairs(A, B, correction=correction, **options):
                shown = f"{number(made)}"
                yield f"{name}, {correction}: {shown}"
    for correction in ("maxt", "holm"):
        for n_resamples in (50, 300):
            options = {"correction": correction, "n_resamples": n_resamples, "seed": 1}
            for made in compare_pairs(wide, other, spans=RANGES, **options):
                yield f"{correction}, {n_resamples}: {number(made)}"
    for n in range(8):
        for made in compare_pairs(A[:2, :n], B[:2, :n], spans=[(0, 1), (0, 1)]):
            yield f"n {n}: {number(made)}"
    wrongs = [{"correction": "bonferroni"}, {"spans": [(0, 1)]}, {"tested": [True]}, {"level": 1.5}]
    for wrong in (*wrongs, {"power": 1.0}, {"n_resamples": 0}, {"mask": [True]},
                  {"clusters": ["a"]}):  # fmt: skip
        yield f"{wrong}: {result(compare_pairs, A, B, **wrong)}"
    yield result(compare_pairs, A, B[:2])
    yield result(compare_pairs, [INF, 1.0], [1.0, 1.0])
    yield result(compare_pairs, [1.0, 1.0], [math.nan, 1.0])
    yield result(compare_pairs, [INF, 1.0], [1.0, 1.0], mask=[False, True])


def flips() -> Iterator[str]:
    """Sign flips, step-down tests and widened intervals."""
    differences = A - B
    for n in (1, 2, 5, 8):
        made = sign_flips(differences[:, :n])
        yield f"{n}: {made.n_patterns} {made.exact} {result(made.p_values.tolist)}"
        for row, tail in product(range(len(A)), (0.0, 0.05, 0.5, 0.99)):
            yield f"  {row} {tail}: {result(made.interval, row, tail)}"
        for alpha in (0.01, 0.05, 0.3):
            yield f"  {alpha}: {result(max_t, made, range(len(A)), alpha)}"
    many = np.array([repeated(row, 10) for row in differences.tolist()])
    made = sign_flips(many, n_resamples=100, seed=4)
    yield f"{made.n_patterns} {made.exact} {result(made.p_values.tolist)}"
    yield f"{result(max_t, made, [0, 1, 2, 3])} {result(made.interval, 0, 0.05)}"
    sized = sign_flips(differences[:2], [[1, 2, 1, 1, 0, 3, 1, 1], [1] * 8], tolerance=[0.2, 0.0])
    yield f"{result(sized.p_values.tolist)} {sized.slack.tolist()} {sized.spread.round(7).tolist()}"
    yield result(sized.interval, 0, 0.05)
    yield result(sign_flips, [1.0, INF])
    yield result(sign_flips, [1.0], [[1.0, 2.0]])
    yield result(sign_flips, [1.0], n_resamples=0)
    halved = sign_flips(differences[:2], halves=[False, True])
    yield f"{halved.p_values.tolist()} {halved.deciding.tolist()}"
    yield result(halved.interval, 1, 0.05)
    yield f"{result(max_t, halved, [0, 1])}"
    for row, alpha, wanted in product(range(len(A)), (0.05, 0.3), (0.5, 0.8)):
        units = Units.of(many[row], None)
        found = [result(detectable, units, halves=h, alpha=alpha, power=wanted) for h in (0, 1)]
        yield f"detectable {row} {alpha} {wanted}: {' '.join(found)}"


def samples() -> Iterator[str]:
    """Percentiles, means of independent samples, agreement of labels and rates."""
    wide = [at * 0.618034 % 1 + at / 300 for at in range(400)]
    rows = {**ROWS, "wide": wide, "tied": repeated(A[1].tolist(), 12)}
    uneven = {name: clusters_of(len(row)) for name, row in rows.items()}
    for (name, row), percent, level in product(rows.items(), (5, 50, 95, 99.5), (0.95, 0.5)):
        made = partial(percentile_interval, row, percent, level=level)
        threes = [at // 3 for at in range(len(row))]
        found = [result(made, clusters=labels) for labels in (None, uneven[name], threes)]
        yield f"{name}, {percent}, {level}: {' '.join(found)}"
    codes = {name: np.unique(labels, return_inverse=True)[1] for name, labels in uneven.items()}
    sides = [("wide", "tied"), ("tied", "wide"), ("many", "half at an end"), ("two", "many")]
    for (one, other), percent, level in product(sides, (50, 95), (0.95, 0.6)):
        made = partial(
            percentile_difference, rows[one], rows[other], percent, level=level,
            units_a=np.arange(len(rows[one])), units_b=np.arange(len(rows[other])),
        )  # fmt: skip
        found = [result(made, n_resamples=80, seed=seed) for seed in (0, 1)]
        clustered = {"units_a": codes[one], "units_b": codes[other]}
        found += [result(made, n_resamples=n, **clustered) for n in (81, 1_500)]
        yield f"{one}, {other}, {percent}, {level}: {' '.join(found)}"
    a, b = (
        [(rows[name], labels.get(name)) for name in names]
        for names, labels in (
            (("wide", "equal", "many", "one", "skewed", "many"), {"many": uneven["many"]}),
            (("tied", "zeros", "graded", "many", "wide", "none"), {"tied": uneven["tied"]}),
        )
    )
    some = [True, True, False, True, True, True]
    for correction, level, tested in product(("holm", "bh", "none"), (0.95, 0.5), (None, some)):
        options = {"correction": correction, "level": level, "tested": tested}
        for made in compare_samples(a, b, **options):
            yield f"{correction}, {level}, {tested is None}: {number(made)}"
    counts = np.array([[3, 0, 1], [2, 2, 0], [0, 0, 5], [1, 0, 0], [0, 2, 0]])
    for statistic in (categorical.fleiss_kappa, categorical.krippendorff_alpha):
        for options in ({}, {"level": 0.5}, {"seed": 1}, {"n_resamples": 99}):
            found = result(categorical.agreement_interval, statistic, counts, **options)
            yield f"{result(statistic, counts)} {options}: {found}"
    counted = (3, 10.0, 8, 5.0), (8, 5.0, 3, 10.0), (0, 1.0, 4, 2.0), (4, 2.0, 0, 1.0), (0, 1, 0, 1)
    for n, level in product(counted, (0.95, 0.5)):
        yield f"{n} {level}: {result(categorical.rate_ratio, *n, level)}"


def densities() -> Iterator[str]:
    """Distributions over their whole domain."""
    shown = partial(result, digits=12)
    points = (-INF, -40.0, -3.0, -1.0, -1e-9, 0.0, 0.5, 1.7, 6.0, 1e9, INF)
    for x in points:
        yield f"normal {x}: {shown(distributions.normal_cdf, x)}"
        for df in (0.5, 1, 2, 3, 30, 199, 200, 201, 1e7):
            below = shown(distributions.t_sf, -x, df)
            yield f"  t {df}: {below} {shown(distributions.t_sf, x, df)}"
    chances = (0.0, 1e-100, 1e-9, 0.025, 0.2499, 0.25, 0.3, 0.5, 0.75, 0.975, 1.0)
    for p in chances:
        yield f"normal {p}: {shown(distributions.normal_ppf, p)}"
        for df in (1, 2, 3, 30, 199, 201, 1e7):
            yield f"  t {df}: {shown(distributions.t_ppf, p, df)}"
        for a, b in product((0.3, 1.0, 2.5, 40.0, 1e6), repeat=2):
            yield f"  beta {a} {b}: {result(distributions.beta_ppf, p, a, b, digits=9)}"
    for a, b in ((2e7, 0.5), (1e7, 2000.0), (9e6, 1.0), (0.5, 3e11), (0.0, 1.0), (1.0, INF)):
        yield f"beta {a} {b}: {result(distributions.beta_ppf, 0.3, a, b, digits=9)}"
    for p in (-0.1, 1.1):
        yield f"normal {p}: {shown(distributions.normal_ppf, p)}"
        yield f"t {p}: {shown(distributions.t_ppf, p, 3.0)}"
        yield f"beta {p}: {shown(distributions.beta_ppf, p, 1.0, 2.0)}"
    for df in (0.0, -1.0, INF):
        yield f"t {df}: {shown(distributions.t_sf, 1.0, df)} {shown(distributions.t_ppf, 0.3, df)}"


def families() -> Iterator[str]:
    """Corrections, spreads, components and overlaps."""
    tests: list[list[float | None]] = [
        [], [None], [0.04], [0.01, 0.02, 0.03, None, 0.5], [0.05, 0.05, 0.05],
        [0.9, 0.011, 0.013, 0.04, 0.0], [1.0, 1.0], [0.02, 1.2],
    ]  # fmt: skip
    for p_values in tests:
        for name in ("holm", "bh"):
            correct = partial(adjusted_p, name=name)
            yield f"{p_values} {name}: {result(correct, p_values)}"
            for alpha in (0.02, 0.05):
                decided = partial(decision_levels, p_values, alpha=alpha, name=name)
                yield f"  {alpha}: {result(lambda f, g, p: f(g(p)), decided, correct, p_values)}"
        yield f"  none: {result(decision_levels, p_values, p_values, 0.05, 'none')}"
    for name, row in ROWS.items():
        yield f"{name}: {result(spread, row)}"
    yield result(spread, [-1.0, 1.0])
    yield result(spread, [1e200, -1e200])
    yield result(spread, [1.7e308, -1.7e308])
    yield result(spread, [1e-160, 2e-160])
    values = [1.0, 2.0, 4.0, 3.0, 5.0, 5.0, 7.0, 8.0, 8.5]
    designs: list[tuple[str, str]] = [
        ("aabbccddd", "xxxxxxxxx"), ("aaaaabbbb", "xxyyyxxyy"), ("aaaaaaaaa", "xxyyyzzzz"),
        ("aabbccddd", "xxyyzzwww"), ("aaabbbccc", "xxyxyyxxy"), ("aabbaabbb", "xxxxyyyyx"),
        ("aabbbcccc", "xxxxyyyyy"), ("abcdefghi", "xxxxxxxxx"), ("aaaaaaaaa", "xxxxxxxxx"),
        ("aabbccdde", "xyxyxyxyx"),
    ]  # fmt: skip
    for queries, systems in designs:
        for given in (values, [3.0] * 9, [value * 1e-9 for value in values]):
            made = result(variance_components, given, queries, systems)
            yield f"{queries} {systems} {given[:3]}: {made} {result(icc1, given, queries)}"
    yield result(icc1, [1.0, INF], "ab")
    yield result(icc1, [], "")
    lists = ["", "a", "b", "ab", "ba", "abc", "cba", "abcd", "dcba", "aab", "abcdefgh", "xaxbxc"]
    for one, other in product(lists, repeat=2):
        overlaps = [result(rank_biased_overlap, one, other, p) for p in (0.9, 0.5)]
        yield f"{one!r} {other!r}: {result(jaccard, one, other)} {' '.join(overlaps)}"
    for p in (0.0, 1.0):
        yield result(rank_biased_overlap, "a", "b", p)


EVERY = [intervals, bounds_of_units, pairs, flips, samples, densities, families]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", EVERY)
def test_statistics_are_as_they_were_approved(made: Callable[[], Iterator[str]], request) -> None:
    check(APPROVED / f"{made.__name__}.txt", made(), request.config.getoption("--approve"))
