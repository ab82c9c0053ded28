"""The power of a paired t-test, and the smallest true difference that it finds with a given
power."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ragassay.errors import UsageError
from ragassay.stats.distributions import normal_cdf, t_ppf

_GRID = 1000
_POWER_TOLERANCE = 1e-12
_MAX_STEPS = 200


def detectable_difference(
    sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true mean difference that ``n`` queries would have shown.

    With differences of standard deviation ``sd`` the two-sided paired t-test at level ``alpha``
    rejects with probability ``power``, by the noncentral t distribution.

    Args:
        sd: standard deviation of the differences, at least 0.
        n: number of queries.
        alpha: level of the test.
        power: chance that the test rejects.

    Returns:
        A difference in the unit of ``sd``; ``None`` where ``n`` is below 2 or ``sd`` is 0, because
        such a sample shows no spread.

    Raises:
        UsageError: alpha or power out of range (0 < alpha < power <= 0.9999).
        ValueError: a negative sd.
    """
    if sd < 0 or not math.isfinite(sd):
        raise ValueError(f"a standard deviation is at least 0, not {sd}")
    check_power(alpha, power)
    if n < 2 or sd == 0.0:
        return None
    return noncentrality(n - 1, alpha, power) * sd / math.sqrt(n)


def check_power(alpha: float, power: float) -> None:
    """Refuses a level and a power that do not fit together.

    Args:
        alpha: level of the test.
        power: chance that the test rejects.

    Raises:
        UsageError: alpha or power out of range (0 < alpha < power <= 0.9999).
    """
    if not 0.0 < alpha < power <= 0.9999:
        raise UsageError(
            f"It must be 0 < alpha < power <= 0.9999, not alpha {alpha} and power {power}."
        )


@lru_cache(maxsize=1024)
def noncentrality(df: int, alpha: float, power: float) -> float:
    """The true difference, in standard errors, at which a two-sided t-test has a given power.

    Args:
        df: degrees of freedom, at least 1.
        alpha: level of the test, in (0, 1).
        power: chance that the test rejects, above ``alpha`` and at most 0.9999.
    """
    x, high = 0.0, 1.0
    while t_test_power(high, df, alpha) < power:
        x, high = high, 2.0 * high
    # False position with the Illinois weight: the root stays between x and other.
    other, gap_other = high, t_test_power(high, df, alpha) - power
    gap = t_test_power(x, df, alpha) - power
    for _ in range(_MAX_STEPS):
        if abs(gap) <= _POWER_TOLERANCE:
            break
        following = x - gap * (x - other) / (gap - gap_other)
        gap_following = t_test_power(following, df, alpha) - power
        if gap_following * gap < 0:
            other, gap_other = x, gap
        else:
            gap_other /= 2.0
        x, gap = following, gap_following
    return x


def t_test_power(difference: float, df: int, alpha: float) -> float:
    """The chance that a two-sided t-test rejects.

    T = (Z + difference) / S for a normal Z and an independent S with df * S^2 chi-square: the
    normal tail beyond ``critical * S`` is averaged over the density of log S by the trapezoid rule,
    which converges exponentially for a smooth integrand that vanishes at both ends. The error is
    below 1e-9 for four pairs or more at alpha >= 0.001, and 0.01 in the worst case (two pairs at a
    tiny alpha).

    Args:
        difference: the true difference, in standard errors.
        df: degrees of freedom, at least 1.
        alpha: level of the test, in (0, 1).
    """
    critical = -t_ppf(alpha / 2.0, df)
    left = 40.0 / df + 0.5 if df < 240 else 8.0 / math.sqrt(df)
    log_s = np.linspace(-left, 6.5 / math.sqrt(df), _GRID)
    weight = np.exp(df * (log_s - np.expm1(2.0 * log_s) / 2.0))
    reach = critical * np.exp(log_s)
    tails = [normal_cdf(difference - r) + normal_cdf(-difference - r) for r in reach.tolist()]
    return float(weight @ np.array(tails) / weight.sum())
