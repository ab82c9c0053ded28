from . import offline_generator as offline_generator
from .llm_generator import LLMGenerator as LLMGenerator
from .offline_generator import OfflineGenerator as OfflineGenerator
from .target_judge import is_target as is_target, judge_of_target as judge_of_target
from .two_judges import TwoJudges as TwoJudges
