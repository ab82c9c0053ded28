from . import sources as sources
from .consistency_evaluator import Statistic as Statistic
from .evaluator_tables import (
    BY_FILE as BY_FILE,
    PAGE as PAGE,
    UNKNOWN as UNKNOWN,
    Tables as Tables,
    by_two_formulas as by_two_formulas,
)
from .sources import Evaluator as Evaluator, Sources as Sources
