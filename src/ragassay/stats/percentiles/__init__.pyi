from .ordered_values import percentile_interval as percentile_interval
from .percentile_bootstrap import (
    PercentileDifference as PercentileDifference,
    percentile_difference as percentile_difference,
)
