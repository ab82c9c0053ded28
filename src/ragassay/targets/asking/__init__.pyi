from .ask_plan import AskPlan as AskPlan, plan_of as plan_of
from .ask_summary import AskSummary as AskSummary
from .asked_queries import questions_of as questions_of
from .asked_table import (
    ask_table as ask_table,
    failure_lines as failure_lines,
    note_lines as note_lines,
)
from .asking_thread import Answers as Answers, Asking as Asking
from .systems_run import SystemsRun as SystemsRun
