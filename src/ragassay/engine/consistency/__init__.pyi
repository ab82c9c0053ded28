from .consistency_plan import (
    RepeatsPlan as RepeatsPlan,
    is_over_runs as is_over_runs,
    is_wanted as is_wanted,
    looked_at as looked_at,
    repeats_plan as repeats_plan,
    templates as templates,
)
from .consistency_run import (
    Compared as Compared,
    ConsistencyRun as ConsistencyRun,
    keeping as keeping,
)
