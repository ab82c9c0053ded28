from .judge import Judge as Judge
from .judge_answer import Failure as Failure, JudgeAnswer as JudgeAnswer, Provenance as Provenance
from .judge_factory import JudgeOptions as JudgeOptions
from .offline.offline_judge import OfflineJudge as OfflineJudge
from .question import Question as Question
from .reply import Reply as Reply, whole_number as whole_number
