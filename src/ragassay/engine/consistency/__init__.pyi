from .consistency_plan import (
    ConsistencyPlan as ConsistencyPlan,
    is_over_runs as is_over_runs,
    is_wanted as is_wanted,
    looked_at as looked_at,
    make_consistency_plan as make_consistency_plan,
    templates as templates,
)
from .consistency_run import (
    Compared as Compared,
    ConsistencyRun as ConsistencyRun,
)
from .group_samples import Kept as Kept, OnDisk as OnDisk
