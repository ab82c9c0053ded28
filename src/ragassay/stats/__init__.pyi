from .categorical import (
    Ratio as Ratio,
    agreement_interval as agreement_interval,
    cohen_kappa as cohen_kappa,
    fleiss_kappa as fleiss_kappa,
    krippendorff_alpha as krippendorff_alpha,
    rate_ratio as rate_ratio,
    share_ratio as share_ratio,
)
from .components import (
    Components as Components,
    icc1 as icc1,
    variance_components as variance_components,
)
from .corrections import (
    adjusted_p as adjusted_p,
    benjamini_hochberg as benjamini_hochberg,
    decision_levels as decision_levels,
    holm as holm,
)
from .dispersion import Spread as Spread, spread as spread
from .distributions import (
    beta_ppf as beta_ppf,
    normal_cdf as normal_cdf,
    normal_ppf as normal_ppf,
    t_cdf as t_cdf,
    t_ppf as t_ppf,
    t_sf as t_sf,
)
from .intervals import (
    EFFECTIVE_N as EFFECTIVE_N,
    Bounds as Bounds,
    Interval as Interval,
    Span as Span,
    alpha_of as alpha_of,
    check_one_sided as check_one_sided,
    check_options as check_options,
    mean_interval as mean_interval,
    one_sided as one_sided,
)
from .overlap import jaccard as jaccard, rank_biased_overlap as rank_biased_overlap
from .paired import (
    FEW_DIFFER as FEW_DIFFER,
    Doubt as Doubt,
    PairedResult as PairedResult,
    compare_pairs as compare_pairs,
    rounded_differences as rounded_differences,
)
from .percentiles import (
    PercentileDifference as PercentileDifference,
    percentile_difference as percentile_difference,
    percentile_interval as percentile_interval,
)
from .sign_flip import EXACT_UP_TO as EXACT_UP_TO, SignFlips as SignFlips, sign_flips as sign_flips
from .step_down import max_t as max_t
from .units import ROUNDING as ROUNDING, is_close as is_close
from .welch import MeanDifference as MeanDifference, mean_difference as mean_difference
