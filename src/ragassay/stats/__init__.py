"""Intervals, paired tests and corrections. Arrays in, results out; it needs numpy only."""

from ragassay.stats.components import Components, icc1, variance_components
from ragassay.stats.corrections import benjamini_hochberg, holm
from ragassay.stats.dispersion import Spread, spread
from ragassay.stats.distributions import (
    beta_ppf,
    normal_cdf,
    normal_ppf,
    t_cdf,
    t_ppf,
    t_sf,
)
from ragassay.stats.intervals import Interval, mean_interval
from ragassay.stats.overlap import jaccard, rank_biased_overlap
from ragassay.stats.paired import PairedResult, compare_pairs
from ragassay.stats.power import detectable_difference
from ragassay.stats.sign_flip import SignFlips, sign_flips
from ragassay.stats.step_down import max_t

__all__ = [
    "Components",
    "Interval",
    "PairedResult",
    "SignFlips",
    "Spread",
    "benjamini_hochberg",
    "beta_ppf",
    "compare_pairs",
    "detectable_difference",
    "holm",
    "icc1",
    "jaccard",
    "max_t",
    "mean_interval",
    "normal_cdf",
    "normal_ppf",
    "rank_biased_overlap",
    "sign_flips",
    "spread",
    "t_cdf",
    "t_ppf",
    "t_sf",
    "variance_components",
]
