from .ask_run import (
    ask as ask,
    open_asking as open_asking,
    plan_asking as plan_asking,
)
from .asking import (
    Answers as Answers,
    Asking as Asking,
    AskPlan as AskPlan,
    AskSummary as AskSummary,
    ask_table as ask_table,
    failure_lines as failure_lines,
)
from .evaluate_system import evaluate as evaluate
from .target import (
    Request as Request,
    Stopwatch as Stopwatch,
    SystemReply as SystemReply,
    Target as Target,
)
from .target_factory import AskOptions as AskOptions, make_targets as make_targets
