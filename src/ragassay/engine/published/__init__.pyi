from .published_config import EVALUATOR as EVALUATOR, translate as translate
from .published_consistency import Similarities as Similarities
