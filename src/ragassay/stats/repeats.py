"""Repeated runs of one thing: how much their values vary, how much of the variance is due to the
query, the system and the repeat, and how alike two lists of items are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragassay.stats.intervals import ROUNDING, FloatArray, IntArray, cluster_codes, finite_row


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of two or more values of one thing.

    Attributes:
        n: how many values.
        mean: arithmetic mean.
        variance: sample variance: squared deviations over n - 1.
        cv: coefficient of variation: the sample standard deviation (the root of ``variance``) over
            the size of the mean; ``None`` at mean 0.
        median: the middle value.
        std: population standard deviation (over n), as Open RAG Eval has it.
        range: highest minus lowest (Open RAG Eval's ``max_min``).
        iqr: 75th minus 25th percentile, interpolated linearly (numpy's percentile).
        cai: Open RAG Eval's consistency-adjusted index, ``mean / (1 + std)``.
    """

    n: int
    mean: float
    variance: float
    cv: float | None
    median: float
    std: float
    range: float
    iqr: float
    cai: float


def spread(values: ArrayLike) -> Spread:
    """The statistics of some values.

    Equal values have no spread, even where rounding would move their mean."""
    row = finite_row(values)
    if row.size < 2:
        raise ValueError("a spread needs two or more values")
    row = np.sort(row)  # sums round by their order, and that of the runs means nothing
    low, high = float(row[0]), float(row[-1])
    if low == high:
        return Spread(row.size, low, 0.0, 0.0 if low else None, low, 0.0, 0.0, 0.0, low)
    with np.errstate(over="ignore", invalid="ignore"):
        # A mean lies between the extremes; its rounding need not.
        mean = min(max(float(row.mean()), low), high)
        off = row - mean
        largest = float(np.abs(off).max())
        # Squares of shares neither vanish nor overflow.
        squares = float(((off / largest) ** 2).sum())
        first, third = (float(q) for q in np.percentile(row, [25, 75]))
    sample, std = (largest * math.sqrt(squares / n) for n in (row.size - 1, row.size))
    if not all(map(math.isfinite, (mean, sample * sample, high - low, third - first))):
        raise ValueError("the values are too large for their squares to be summed")
    cv = sample / abs(mean) if mean else math.inf
    return Spread(
        n=row.size,
        mean=mean,
        variance=largest * largest * (squares / (row.size - 1)),
        cv=cv if math.isfinite(cv) else None,
        median=float(np.median(row)),
        std=std,
        range=high - low,
        iqr=max(0.0, third - first),
        cai=mean / (1.0 + std),
    )


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of values that were measured repeatedly, by an analysis of variance. They
    are not cut at 0: a component whose true value is small may be estimated below 0.

    Attributes:
        n_values, n_groups: how many values, and groups (a system's runs of a query) they are in.
        query, system: variance between queries, between systems; ``None`` where there is one, or
            the design does not tell.
        query_system: variance of a system's own ups and downs by query, beyond the two.
        repeat: variance between runs of one query by one system.
        icc: intraclass correlation ICC(1): the share of the variance that lies between groups;
            ``None`` where all values are equal.
    """

    n_values: int
    n_groups: int
    query: float | None
    system: float | None
    query_system: float | None
    repeat: float
    icc: float | None


def icc1(values: ArrayLike, groups: Sequence[Hashable]) -> tuple[float, float, float | None]:
    """Variance between groups, variance within them, and ICC(1), by one-way random effects. Group
    sizes may differ. Estimates are not cut at 0; the share is ``None`` where both are 0.

    Source: Shrout and Fleiss 1979 (ICC(1,1)); Searle, Casella and McCulloch 1992, section 3.6."""
    row = finite_row(values)
    codes = cluster_codes(groups, row.size)
    n, g = row.size, len(np.unique(codes))
    if g < 2:
        raise ValueError("components need two groups or more")
    if g == n:
        raise ValueError("components need a group with two values or more")
    row, scale = _centred(row)
    sizes = np.bincount(codes).astype(np.float64)
    means = np.bincount(codes, weights=row) / sizes
    within = float(((row - means[codes]) ** 2).sum()) / (n - g)
    k0 = (n - float((sizes**2).sum()) / n) / (g - 1)
    between = (float((sizes * means**2).sum()) / (g - 1) - within) / k0
    components = (_rounded(between) * scale**2, _rounded(within) * scale**2)
    return *components, components[0] / sum(components) if any(components) else None


def variance_components(
    values: ArrayLike, queries: Sequence[Hashable], systems: Sequence[Hashable]
) -> Components:
    """The components of values of several queries, by one system or several.

    With several systems, query and system are crossed random effects with their interaction,
    estimated from the means of the groups (a query by a system) by Henderson's first method.

    Source: Henderson 1953; Searle, Casella and McCulloch 1992, chapter 5."""
    row = finite_row(values)
    groups = cluster_codes(zip(queries, systems, strict=True), row.size)
    between, within, icc = icc1(row, groups.tolist())
    query, system = (cluster_codes(labels, row.size) for labels in (queries, systems))
    n_groups, n_queries, n_systems = (int(codes.max()) + 1 for codes in (groups, query, system))
    n, g = row.size, n_groups
    if n_systems == 1 or n_groups == n_queries == n_systems:
        return Components(n, g, between, None, None, within, icc)
    if n_queries == 1:
        return Components(n, g, None, between, None, within, icc)
    has_interaction = n_groups - n_queries - n_systems + 1 > 0
    factors = [query, system, *([groups] if has_interaction else [])]
    of_query, of_system, *interaction = _crossed(row, factors, groups, within)
    return Components(n, g, of_query, of_system, next(iter(interaction), None), within, icc)


def _crossed(
    row: FloatArray, factors: Sequence[IntArray], groups: IntArray, within: float
) -> list[float]:
    """The component of each factor (queries, systems, their interaction where there is one), by
    equating the sums of squares of the groups' means with their expected values. The mean of a
    group of n repeats has the additional variance ``within / n``."""
    row, scale = _centred(row)
    sizes = np.bincount(groups)
    means = np.bincount(groups, weights=row) / sizes
    error = within / scale**2 / sizes if scale else np.zeros(sizes.size)
    first = np.unique(groups, return_index=True)[1]
    effects = [codes[first] for codes in factors]
    # The mean's sum of squares comes first: differences to it drop the unknown mean.
    levels = [np.zeros(sizes.size, dtype=np.int64), *effects]
    # What the errors of the values add to each sum is taken away.
    added = [(np.bincount(of, weights=error) / np.bincount(of)).sum() for of in levels]
    sums = np.array([_sum_of_squares(means, codes) for codes in levels]) - added
    expected = np.array([[_coefficient(codes, of) for of in effects] for codes in levels])
    matrix = expected[1:] - expected[0]
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise ValueError("the design does not tell the components apart")
    solved = np.linalg.solve(matrix, sums[1:] - sums[0])
    return [_rounded(component) * scale**2 for component in solved.tolist()]


def _sum_of_squares(row: FloatArray, codes: IntArray) -> float:
    """Sum over levels of the squared total over the count."""
    totals = np.bincount(codes, weights=row)
    return float((totals**2 / np.bincount(codes)).sum())


def _coefficient(codes: IntArray, effect: IntArray) -> float:
    """Sum over levels of ``codes`` of the squared counts of ``effect`` over the level's size."""
    size = np.bincount(codes)
    pairs, counts = np.unique(np.stack([codes, effect]), axis=1, return_counts=True)
    return float((counts.astype(np.float64) ** 2 / size[pairs[0]]).sum())


def _centred(row: FloatArray) -> tuple[FloatArray, float]:
    """Deviations from the mean divided by the largest of them, and that largest deviation."""
    if row.min() == row.max():
        return np.zeros(row.size), 0.0
    row = row - row.mean()
    scale = float(np.abs(row).max())
    return row / scale, scale


def _rounded(share: float) -> float:
    """The share, 0 where it is no more than rounding."""
    return 0.0 if abs(share) <= ROUNDING else share


def jaccard(group: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Items in both over items in either, 0 to 1; ``None`` where both are empty."""
    left, right = set(group), set(other)
    either = len(left | right)
    return len(left & right) / either if either else None


def rank_biased_overlap(
    group: Sequence[Hashable], other: Sequence[Hashable], p: float = 0.9
) -> float | None:
    """Extrapolated rank-biased overlap of two rankings, 0 (disjoint) to 1 (identical); ``None``
    where both are empty.

    It is the expected share of items found in both lists by a reader who goes on to the next rank
    with probability ``p``; beyond the ends of the lists, the agreement at their end continues. An
    item that occurs twice counts at its first rank.

    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, eq. 32."""
    if not 0.0 < p < 1.0:
        raise ValueError(f"p lies between 0 and 1, not at {p}")
    short, long = sorted((list(dict.fromkeys(group)), list(dict.fromkeys(other))), key=len)
    if not short:
        return 0.0 if long else None
    s, n = len(short), len(long)
    common, total, weight = 0, 0.0, 1.0
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    at_s = 0
    for depth in range(1, n + 1):
        weight *= p
        item = long[depth - 1]
        seen_long.add(item)
        common += item in seen_short
        if depth <= s:
            mate = short[depth - 1]
            seen_short.add(mate)
            common += mate in seen_long
        if depth == s:
            at_s = common
        total += common / depth * weight
        if depth > s:
            total += at_s * (depth - s) / (s * depth) * weight
    beyond = ((common - at_s) / n + at_s / s) * weight
    return min(1.0, max(0.0, (1.0 - p) / p * total + beyond))
