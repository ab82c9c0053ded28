"""Means of two independent samples: Welch's test (Biometrika 34, 1947), with each sample's
cluster-robust standard error and its number of clusters in place of the number of values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from ragassay.stats.corrections import adjusted_p, decision_levels
from ragassay.stats.distributions import t_ppf, t_sf
from ragassay.stats.intervals import Units, alpha_of, cluster_codes, finite_row, one_sided
from ragassay.stats.paired import PairedResult

POWER = 0.8  # of the test for which ``detectable`` is computed
Sample = tuple[ArrayLike, Iterable[Hashable] | None]  # values, and labels where there are clusters


def compare_samples(
    a: Sequence[Sample],
    b: Sequence[Sample],
    *,
    tested: Sequence[bool] | None = None,
    correction: str = "holm",
    level: float = 0.95,
) -> list[PairedResult]:
    """Compares two systems metric by metric, on independent samples of each metric, by ``holm``,
    ``bh`` or ``none``: results as of pairs but without what only pairs have. ``n`` counts the
    values of both samples; 0 where one is empty. Without a test where neither has a spread."""
    alpha = alpha_of(level)
    errors = [_error(first, second) for first, second in zip(a, b, strict=True)]
    raw = [
        found.p_value if tested is None or tested[at] else None
        for at, (found, _, _) in enumerate(errors)
    ]
    adjusted = adjusted_p(raw, correction)
    results = []
    for at, tail in enumerate(decision_levels(raw, adjusted, alpha, correction)):
        found, error, df = errors[at]
        found = replace(found, level=1.0 - tail, p_adjusted=adjusted[at])
        if error and found.diff is not None:
            diff = found.diff
            reach = t_ppf(1.0 - tail / 2.0, df) * error if 0.0 < tail < 1.0 else math.nan
            found = replace(
                found,
                low=None if math.isnan(reach) else diff - reach,
                high=None if math.isnan(reach) else diff + reach,
                detectable=math.copysign(
                    (t_ppf(1.0 - alpha / 2.0, df) + t_ppf(POWER, df)) * error, diff
                ),
            )
            if level > 0.5:
                reach = t_ppf(1.0 - (1.0 - one_sided(level)) / 2.0, df) * error
                least, most = diff - reach, diff + reach
                found = replace(found, least=least, most=most, safe_least=least, safe_most=most)
        results.append(found)
    return results


def _error(a: Sample, b: Sample) -> tuple[PairedResult, float, float]:
    """The means and the test of their difference, its standard error (0 where all values of each
    sample are equal, or a sample has fewer than two units), and its degrees of freedom."""
    rows = [finite_row(values) for values, _ in (a, b)]
    if not all(row.size for row in rows):
        return PairedResult(), 0.0, 0.0
    units = [
        Units.of(row, None if labels is None else cluster_codes(labels, row.size))
        for row, (_, labels) in zip(rows, (a, b), strict=True)
    ]
    of_a, of_b = (unit.mean for unit in units)
    found = PairedResult(a_mean=of_a, b_mean=of_b, diff=of_a - of_b, n=sum(r.size for r in rows))
    if min(unit.n_units for unit in units) < 2:
        return found, 0.0, 0.0
    errors = [unit.standard_error for unit in units]
    error = math.hypot(*errors)
    if not error:
        return found, 0.0, 0.0
    shares = zip(errors, units, strict=True)
    df = 1.0 / sum(((of / error) ** 2) ** 2 / (item.n_units - 1) for of, item in shares)
    p_value = min(1.0, 2.0 * t_sf(abs(of_a - of_b) / error, df))
    return replace(found, p_value=p_value), error, df
