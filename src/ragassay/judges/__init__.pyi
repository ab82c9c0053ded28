from .judge import (
    Failure as Failure,
    Judge as Judge,
    JudgeAnswer as JudgeAnswer,
    Provenance as Provenance,
)
from .judge_factory import JudgeOptions as JudgeOptions
from .offline.offline_judge import OfflineJudge as OfflineJudge
from .question import Question as Question, Reply as Reply, whole_number as whole_number
