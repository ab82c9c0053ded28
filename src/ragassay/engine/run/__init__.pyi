from . import ranked_runs as ranked_runs, rescoring as rescoring
from .accumulator import Accumulator as Accumulator
from .evaluation import dry_run as dry_run, evaluate as evaluate
from .expected_answers import with_references as with_references
from .judge_session import (
    JudgeSession as JudgeSession,
    open_session as open_session,
    options_of as options_of,
    signature as signature,
    spending as spending,
)
from .pooled_nuggets import (
    bank_metric as bank_metric,
    pools_of as pools_of,
)
from .prepared_run import PreparedRun as PreparedRun, prepare as prepare
from .progress_bar import Progress as Progress
from .ranked_runs import (
    JudgedRun as JudgedRun,
    aggregate as aggregate,
    evaluate_run as evaluate_run,
)
from .recorded_warnings import record_warnings as record_warnings
from .rescoring import Evidence as Evidence, Explained as Explained
from .resolved_config import moved_config as moved_config
from .scoring import (
    MODELLED_WINDOW as MODELLED_WINDOW,
    batched as batched,
    judged_among as judged_among,
    score_stream as score_stream,
)
from .source import Data as Data
from .suite_fit import SuiteFit as SuiteFit, SuiteFits as SuiteFits
