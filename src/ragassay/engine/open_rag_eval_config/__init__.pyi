from .published_config import EVALUATOR as EVALUATOR, translate as translate
from .published_consistency import Similarities as Similarities
from .published_judge import JudgeModel as JudgeModel, Keys as Keys, judge_word as judge_word
