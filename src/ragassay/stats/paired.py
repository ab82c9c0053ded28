"""Two systems on the same queries: is the difference real, how large, and what could be missed.

The smallest true difference that a comparison of this size finds: clusters are drawn with weights
that make their mean that difference (exponential tilting), and the sign-flip test is applied to
each draw. Source: Efron, Canadian Journal of Statistics 9 (1981).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.stats.corrections import adjusted_p, decision_levels, max_t
from ragassay.stats.distributions import normal_cdf, normal_ppf, t_sf
from ragassay.stats.intervals import (
    ROUNDING,
    Bounds,
    FloatArray,
    IntArray,
    Span,
    Units,
    alpha_of,
    beta_bounds,
    check_options,
    cluster_codes,
    one_sided,
)
from ragassay.stats.sign_flip import SignFlips, sign_flips

CORRECTIONS = ("maxt", "holm", "bh", "none")
"""Ways to correct for several metrics: step-down max-T, Holm, Benjamini-Hochberg, none at all."""

BoolArray = NDArray[np.bool_]

FEW_DIFFER = 10  # with fewer clusters that differ, one that was not drawn may turn a verdict

SKEWED, SKEWED_UP_TO = 0.7, 30
"""Skewness of up to 30 differences from which a finding on the side of their shorter tail is
doubtful: rare differences on the longer one may have been missed. Of 20 normal ones 7 in 100 have
it. With more differences it grows with the root of their number, as the effect of skewness on the
test falls."""

Doubt = Literal["", "few differ", "skewed", "left out"]
"""Why a finding would be doubtful: the test's assumption, differences symmetrical about their mean,
is (``few differ``, ``skewed``), or it rests on what one of the systems left out."""

_SAME_LEVEL = 1e-9  # levels of tests closer than this are equal

_DRAWS = 250
_STEPS = 8
_EXACT = 8  # clusters of which all patterns of signs are counted; of more, as many random ones
_MOST_DRAWN = 40  # where more clusters differ in a draw, sums are taken for normally distributed
_STEEPEST = 500.0  # largest exponent of a weight: all of it lies on one cluster then


@dataclass(frozen=True, kw_only=True)
class PairedResult:
    """One metric of two systems, over the queries that both have a score for.

    What could not be computed is ``None``: all values without pairs; those that need a spread with
    fewer than two independent units; ``t_p_value``, ``cohens_d`` and the interval where all
    differences are equal.

    Attributes:
        a_mean, b_mean: means of the new and the old system over these pairs.
        diff: mean of a - b.
        low, high: confidence interval of ``diff``: all differences that the test does not reject
            at ``level``.
        level: confidence level of that interval: the family's, made stricter as the correction
            asks for this metric, so that it excludes 0 exactly where the difference is a discovery.
        least, most: one-sided bounds of the true difference at the family's level, uncorrected.
        safe_least, safe_most: the same; where fewer than `FEW_DIFFER` clusters differ, at least as
            far out as those that were not drawn may move the mean: the upper bound of the share of
            clusters on that side (Clopper and Pearson) times the largest possible difference.
        p_value: two-sided paired sign-flip test, in (0, 1], before any correction, as published.
        p_adjusted: after the correction, by mid-p where ties count half; ``None`` for a metric that
            is not tested.
        t_p_value: two-sided paired t-test (cluster-robust where clusters were given).
        cohens_d: mean of the differences over their standard deviation (the paired d, d_z).
        detectable: the smallest true difference in the direction of ``diff`` that the test by
            itself finds with the given power (see `detectable`).
        n: pairs.
        n_differ: clusters (pairs, where none were given) with a difference other than 0.
        wins, losses, ties: pairs where a is higher, lower, or equal up to rounding.
        doubt: why a finding of this test would be doubtful; empty where it would not be.
        halves: whether ties count half, as they do for scores that are all 0 or 1.
        too_few: whether there are too few clusters (or pairs) to reach the level of the test: even
            where all differences have one sign, it finds nothing.
    """

    a_mean: float | None = None
    b_mean: float | None = None
    diff: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    least: float | None = None
    most: float | None = None
    safe_least: float | None = None
    safe_most: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    t_p_value: float | None = None
    cohens_d: float | None = None
    detectable: float | None = None
    n: int = 0
    n_differ: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    doubt: Doubt = ""
    halves: bool = False
    too_few: bool = False


def compare_pairs(
    a: ArrayLike,
    b: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    clusters: Iterable[Hashable] | NDArray[Any] | None = None,
    spans: Sequence[Span] | None = None,
    tested: Sequence[bool] | None = None,
    correction: str = "maxt",
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    power: float | None = 0.8,
) -> list[PairedResult]:
    """Compares two systems metric by metric: one result for each.

    Args:
        a, b: scores of the new and of the old system on the same queries in the same order, shape
            ``(n_metrics, n_queries)`` or ``(n_queries,)``.
        mask: true where both have a score, same shape; elsewhere the values are not read.
        clusters: a label for each query. Signs are flipped by cluster.
        spans: lowest and highest value of each metric, where there are such, for ``safe_least``.
        tested: which metrics form the family that is corrected; all when left out.
        correction: one of `CORRECTIONS`.
        n_resamples: sign patterns where there are more than 16 clusters (all of them otherwise).
        level: confidence level before correction; 1 - level is the level of the family of tests.
        power: of the test at the raw level, for ``detectable``; ``None`` leaves that out.
    """
    check_options("auto", level, n_resamples)
    alpha = alpha_of(level)
    if correction not in CORRECTIONS:
        raise UsageError(f"correction must be one of {', '.join(CORRECTIONS)}, not {correction!r}.")
    if power is not None and not 0.0 < power < 1.0:
        raise UsageError(f"The power must lie between 0 and 1, not at {power}.")
    first, second, scored = _matrices(a, b, mask)
    n_rows = len(first)
    for name, entries in (("spans", spans), ("tested", tested)):
        if entries is not None and len(entries) != n_rows:
            raise ValueError(f"{name} must have one entry for each of {n_rows} metrics")
    codes = None if clusters is None else cluster_codes(clusters, first.shape[1])
    scale = _largest(first, second)
    differences = rounded_differences(first, second)
    flips = _flipped(first, second, differences, scored, codes, n_resamples, seed)
    family = [row for row in range(n_rows) if scored[row].any() and (tested is None or tested[row])]
    p_values = flips.p_values
    adjusted, tails = _corrected(flips, family, correction, alpha)
    results = []
    for row in range(n_rows):
        columns = np.flatnonzero(scored[row])
        of_row = differences[row, columns]
        units = Units.of(of_row, None if codes is None else codes[columns], float(scale[row]))
        n, df = of_row.size, units.n_units - 1
        diff = float(of_row.sum()) / max(n, 1)
        se = units.standard_error if df > 0 else 0.0
        alone = Units.of(of_row, None, units.scale)
        sd = alone.standard_error * math.sqrt(n) if n > 1 else 0.0
        low, high = flips.interval(row, tails[row]) if df > 0 and se else (None, None)
        one_tail = 1.0 - one_sided(level) if level > 0.5 else 0.0
        least, most = flips.interval(row, one_tail) if df > 0 and one_tail else (None, None)
        span = (None, None) if spans is None else spans[row]
        safe_least, safe_most = _safe(units, least, most, span, one_tail)
        halves = bool(flips.halves[row])
        results.append(
            PairedResult(
                n=n,
                n_differ=int(np.count_nonzero(units.sums)),
                a_mean=float(first[row, columns].mean()) if n else None,
                b_mean=float(second[row, columns].mean()) if n else None,
                diff=diff if n else None,
                low=low,
                high=high,
                level=1.0 - tails[row],
                least=least,
                most=most,
                safe_least=safe_least,
                safe_most=safe_most,
                p_value=float(p_values[row]) if n else None,
                p_adjusted=adjusted.get(row),
                doubt=_doubt(units, halves, span, tails[row]),
                halves=halves,
                # A pattern and its mirror image are one, unless ties count half.
                too_few=0.5 ** (units.n_units - (not halves)) > tails[row] + _SAME_LEVEL,
                t_p_value=min(1.0, 2.0 * t_sf(abs(diff) / se, df)) if se else None,
                cohens_d=diff / sd if sd else None,
                detectable=None
                if power is None
                else detectable(units, halves=halves, alpha=alpha, power=power, seed=seed),
                wins=int((of_row > 0).sum()),
                losses=int((of_row < 0).sum()),
                ties=int((of_row == 0).sum()),
            )
        )
    return results


def _doubt(units: Units, halves: bool, span: Span, tail: float) -> Doubt:
    """Why a finding by these differences would be doubtful."""
    if not units.n_units:
        return ""
    if not halves and np.count_nonzero(units.sums) < FEW_DIFFER:
        return "few differ"
    side = math.copysign(1.0, units.mean)
    if -skewness(units) * side <= SKEWED * math.sqrt(max(units.n_units / SKEWED_UP_TO, 1.0)):
        return ""
    # As many more differences on the other side as may have been missed, each of the full range:
    # do they undo the finding?
    low, high = span
    if low is None or high is None or not tail:
        return "skewed"
    missed = _most(units, -side, tail) - float((side * units.sums < 0.0).mean())
    return "skewed" if missed * (high - low) >= abs(units.mean) else ""


def _most(units: Units, sign: float, tail: float) -> float:
    """The largest share of clusters that may differ with this sign, given those drawn that do.
    Clusters of unequal size count as fewer (Kish)."""
    n = units.n_values**2 / float((units.counts**2).sum())
    share = float((sign * units.sums > 0.0).mean())
    return beta_bounds(share * n, (1.0 - share) * n, 1.0 - tail)[1] if n >= 2 else 1.0


def skewness(units: Units) -> float:
    """Skewness of the units' residuals, 0 where they are equal."""
    residuals = units.residuals
    largest = float(np.abs(residuals).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    scaled = residuals / largest
    return float((scaled**3).mean() / (scaled**2).mean() ** 1.5)


def _safe(units: Units, least: float | None, most: float | None, span: Span, tail: float) -> Bounds:
    """One-sided bounds that hold although clusters that differ were not drawn."""
    if np.count_nonzero(units.sums) >= FEW_DIFFER:
        return least, most
    low, high = span
    if low is None or high is None or not tail or units.n_units < 2:
        return None, None
    up, down = ((high - low) * _most(units, sign, tail) for sign in (1.0, -1.0))
    mean = units.mean
    return min(-down, mean if least is None else least), max(up, mean if most is None else most)


def _corrected(
    flips: SignFlips, family: list[int], correction: str, alpha: float
) -> tuple[dict[int, float], list[float]]:
    """Adjusted p-values of the rows of the family, and the level at which each row is decided."""
    tails = [alpha] * flips.sums.shape[1]
    if not family:
        return {}, tails
    if correction == "maxt":
        corrected, levels = max_t(flips, family, alpha)
    else:
        raw: list[float | None] = [float(p) for p in flips.deciding[family]]
        adjusted = adjusted_p(raw, correction)
        levels = decision_levels(raw, adjusted, alpha, correction)
        corrected = [p for p in adjusted if p is not None]
    for at, row in enumerate(family):
        tails[row] = levels[at]
    return dict(zip(family, corrected, strict=True)), tails


def rounded_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first - second``, shape ``(n_rows, n)``; 0 where they are equal up to 1e-12 of the row's
    largest score."""
    differences = first - second
    differences[np.abs(differences) <= ROUNDING * _largest(first, second)[:, None]] = 0.0
    return differences


def _largest(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(first), np.abs(second)).max(axis=1, initial=0.0))


def _matrices(
    a: ArrayLike, b: ArrayLike, mask: ArrayLike | None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Both score matrices, with zeros where there is no pair, and the mask of the pairs."""
    first = np.atleast_2d(np.asarray(a, dtype=np.float64))
    second = np.atleast_2d(np.asarray(b, dtype=np.float64))
    if mask is None:
        scored = np.ones(first.shape, dtype=np.bool_)
    else:
        scored = np.atleast_2d(np.asarray(mask, dtype=np.bool_))
    if first.ndim != 2 or not first.shape == second.shape == scored.shape:
        raise ValueError(
            f"scores and mask must have one shape (n_metrics, n_queries), "
            f"not {first.shape}, {second.shape} and {scored.shape}"
        )
    first, second = np.where(scored, first, 0.0), np.where(scored, second, 0.0)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("scores must be finite numbers wherever the mask is true")
    return first, second, scored


def _flipped(
    first: FloatArray,
    second: FloatArray,
    differences: FloatArray,
    scored: BoolArray,
    codes: IntArray | None,
    n_resamples: int,
    seed: int,
) -> SignFlips:
    """All rows under the same sign patterns; a missing pair has difference and size 0."""
    magnitude = np.abs(first) + np.abs(second)
    sums, sizes = (_cluster_sums(rows, codes) for rows in (differences, scored.astype(np.float64)))
    # Scores such as n/3 are rounded, and so is their sum: equal means equal up to that error.
    slack = np.maximum(ROUNDING, 4 * np.finfo(float).eps * first.shape[1]) * magnitude.sum(axis=1)
    # Where there is no pair, both scores are 0.
    binary = [bool(np.isin([x, y], (0.0, 1.0)).all()) for x, y in zip(first, second, strict=True)]
    return sign_flips(
        sums, sizes, tolerance=slack, halves=binary, n_resamples=n_resamples, seed=seed
    )


def _cluster_sums(rows: FloatArray, codes: IntArray | None) -> FloatArray:
    """The sums of each row by cluster, shape ``(n_rows, n_clusters)``."""
    if codes is None:
        return rows
    sums = [np.bincount(codes, weights=row) for row in rows]
    return np.array(sums, dtype=np.float64).reshape(len(rows), len(np.unique(codes)))


def detectable(
    units: Units, *, halves: bool, alpha: float = 0.05, power: float = 0.8, seed: int = 0
) -> float | None:
    """The smallest true mean difference, in the direction of the observed one, that the two-sided
    sign-flip test finds with a given power in so many clusters. ``units`` are the differences by
    cluster; with ``halves`` ties count half. ``None`` with fewer than two clusters, where all are
    equal, or where no mean that these clusters can have is found with that power."""
    total = float(units.sums.sum())
    # Where neither direction is observed, swapping the systems must not change the result.
    down = total < 0.0 or (total == 0.0 and sorted(-units.sums) > sorted(units.sums))
    sums = -units.sums if down else units.sums
    order = np.lexsort((units.counts, sums))
    sums, counts = sums[order], units.counts[order]
    most = float((sums / counts).max(initial=0.0))
    if units.n_units < 2 or most <= 0.0 or not units.residuals.any():
        return None

    chance = _Chance(sums, alpha, halves, seed)

    def found(difference: float) -> bool:
        return chance.of_finding(_tilted(sums - difference * counts)) >= power

    # Six standard errors are found nearly always, whatever the difference.
    error = math.sqrt(float((sums**2).sum())) / units.n_values
    low, high = 0.0, min(6.0 * error, most)
    if not found(high * (1.0 - 1e-9)):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if found(middle) else (middle, high)
    # Clusters vary more than those drawn do about their own mean: n - 1 degrees of freedom.
    return min(high * math.sqrt(units.n_units / (units.n_units - 1)), most)


def _tilted(residuals: FloatArray) -> FloatArray:
    """Weights of the clusters, ``exp(c * residual)`` up to a factor, whose mean residual is 0."""
    scaled = residuals / np.abs(residuals).max()
    low, high = -_STEEPEST, _STEEPEST
    for _ in range(50):
        slope = (low + high) / 2.0
        exponents = slope * scaled
        weights = np.exp(exponents - exponents.max())
        low, high = (low, slope) if float(weights @ scaled) > 0.0 else (slope, high)
    return np.asarray(weights / weights.sum())


class _Chance:
    """How often the test finds a difference in draws of as many clusters."""

    def __init__(self, sums: FloatArray, alpha: float, halves: bool, seed: int) -> None:
        self._sums, self._differ = sums, sums != 0.0
        self._alpha, self._halves, self._seed = alpha, halves, seed
        most = min(sums.size, 2 * _MOST_DRAWN)
        rng = np.random.default_rng(seed)
        self._drawn = rng.random((_DRAWS, most))
        patterns = np.arange(2**_EXACT)
        signs = [1.0 - 2.0 * (patterns >> bit & 1) for bit in range(min(most, _EXACT))]
        signs += list(rng.choice((-1.0, 1.0), size=(max(most - _EXACT, 0), patterns.size)))
        self._signs = np.array(signs)

    def of_finding(self, weights: FloatArray) -> float:
        """The share of draws, cluster i with the chance ``weights[i]``, with a finding."""
        n, sums = self._sums.size, self._sums
        values, shares = sums[self._differ], weights[self._differ]
        share = min(float(shares.sum()), 1.0)
        if n * share > _MOST_DRAWN:
            mean, square = float(weights @ sums), float(weights @ sums**2)
            beyond = n * mean + normal_ppf(self._alpha / 2.0) * math.sqrt(n * square)
            return normal_cdf(beyond / math.sqrt(n * max(square - mean * mean, 1e-300)))
        numbers = np.random.default_rng(self._seed).binomial(n, share, size=_DRAWS)
        most = max(int(numbers.max()), 1)
        at = np.searchsorted(np.cumsum(shares / share), self._drawn[:, :most])
        draws = values[at.clip(max=values.size - 1)]
        draws[np.arange(most) >= numbers[:, None]] = 0.0  # the other clusters do not differ
        observed = np.abs(draws.sum(axis=1, keepdims=True))
        flipped = np.abs(draws @ self._signs[:most])
        slack = 1e-9 * np.abs(draws).sum(axis=1, keepdims=True)
        p = (flipped >= observed - slack).mean(axis=1)
        if self._halves:
            p = (p + (flipped > observed + slack).mean(axis=1)) / 2.0
        return float((p <= self._alpha).mean())
