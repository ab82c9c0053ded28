from .consistency_plan import (
    ConsistencyPlan as ConsistencyPlan,
    is_over_runs as is_over_runs,
    is_wanted as is_wanted,
    make_consistency_plan as make_consistency_plan,
    metrics_with_spread as metrics_with_spread,
    templates as templates,
)
from .consistency_run import (
    ConsistencyRun as ConsistencyRun,
    GroupProgress as GroupProgress,
)
from .group_samples import OnDisk as OnDisk, StoredSamples as StoredSamples
