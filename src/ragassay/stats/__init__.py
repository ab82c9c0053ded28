"""What the numbers mean: arrays in, results out. numpy and nothing above it."""

from ragassay.stats.corrections import benjamini_hochberg, holm
from ragassay.stats.distributions import normal_cdf, normal_ppf, t_cdf, t_ppf, t_sf
from ragassay.stats.intervals import Interval, mean_interval
from ragassay.stats.paired import PairedResult, compare_pairs
from ragassay.stats.permutation import SignFlipTest, sign_flip_test
from ragassay.stats.power import detectable_difference

__all__ = [
    "Interval",
    "PairedResult",
    "SignFlipTest",
    "benjamini_hochberg",
    "compare_pairs",
    "detectable_difference",
    "holm",
    "mean_interval",
    "normal_cdf",
    "normal_ppf",
    "sign_flip_test",
    "t_cdf",
    "t_ppf",
    "t_sf",
]
