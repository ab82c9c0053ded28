"""How much of a score's variance is due to the query, the system and the repeat."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragassay.stats.units import ROUNDING, FloatArray, IntArray, cluster_codes


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of values that were measured repeatedly.

    Estimates come from an analysis of variance and are not cut at 0: a component whose true value
    is small may be estimated below 0.

    Attributes:
        n_values, n_groups: how many values, and groups (a system's runs of a query) they stand in.
        query: variance between queries; ``None`` where there is one, run by several systems.
        system: variance between systems; ``None`` where there is one, or each has one query of its
            own.
        query_system: variance of a system's own ups and downs by query, beyond the two; ``None``
            where there is one system, or too few queries were run by several.
        repeat: variance between runs of one query by one system.
        icc: intraclass correlation ICC(1), one-way random effects: the share of the variance that
            lies between groups and not between the repeats in them; ``None`` where all values are
            equal.
    """

    n_values: int
    n_groups: int
    query: float | None
    system: float | None
    query_system: float | None
    repeat: float
    icc: float | None


def icc1(values: ArrayLike, groups: Sequence[Hashable]) -> tuple[float, float, float | None]:
    """Variance between groups, variance within them, and ICC(1), by one-way random effects.

    Group sizes may differ: the mean square between groups is then compared at the size
    ``k0 = (n - sum(n_i ** 2) / n) / (g - 1)``. Estimates are not cut at 0.

    Source: Shrout and Fleiss 1979 (ICC(1,1)); Searle, Casella and McCulloch 1992, section 3.6.

    Returns:
        The two components, and the share of the first; ``None`` for the share where both are 0.
    """
    row = _checked(values)
    codes = cluster_codes(groups, row.size)
    n, g = row.size, int(codes.max()) + 1
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

    With several systems, query and system are crossed random effects with their interaction. They
    are estimated from the means of the groups (a query by a system), each of which counts alike
    whatever its number of repeats, by Henderson's first method, which allows for missing groups.

    Source: Henderson 1953, Estimation of variance and covariance components; Searle, Casella and
    McCulloch 1992, chapter 5."""
    row = _checked(values)
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
    """The component of each factor: queries, systems and (where there is one) their interaction.

    They come from the groups' means, by equating sums of squares with their expected values under
    the model. The mean of a group of n repeats has the additional variance ``within / n``.
    """
    row, scale = _centred(row)
    sizes = np.bincount(groups)
    means = np.bincount(groups, weights=row) / sizes
    error = within / scale**2 / sizes if scale else np.zeros(sizes.size)
    first = np.unique(groups, return_index=True)[1]
    effects = [codes[first] for codes in factors]
    # The mean's sum of squares comes first: differences to it drop the unknown mean.
    levels = [np.zeros(sizes.size, dtype=np.int64), *effects]
    sums = np.array([_sum_of_squares(means, codes) - _errors(error, codes) for codes in levels])
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


def _errors(error: FloatArray, codes: IntArray) -> float:
    """The part of that sum that the errors of the values add."""
    return float((np.bincount(codes, weights=error) / np.bincount(codes)).sum())


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


def _checked(values: ArrayLike) -> FloatArray:
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or not row.size or not np.isfinite(row).all():
        raise ValueError("values must be finite numbers in one dimension, at least one")
    return row
