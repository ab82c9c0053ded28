from .label_agreement import (
    agreement_interval as agreement_interval,
    cohen_kappa as cohen_kappa,
    fleiss_kappa as fleiss_kappa,
    krippendorff_alpha as krippendorff_alpha,
)
from .rates import Ratio as Ratio, rate_ratio as rate_ratio, share_ratio as share_ratio
