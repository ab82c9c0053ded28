from .ask_run import Answers as Answers, ask as ask, read_queries as read_queries
from .ask_summary import AskSummary as AskSummary
from .evaluate_system import evaluate as evaluate
from .target import (
    Request as Request,
    Stopwatch as Stopwatch,
    SystemReply as SystemReply,
    Target as Target,
)
from .target_factory import AskOptions as AskOptions, make_targets as make_targets
