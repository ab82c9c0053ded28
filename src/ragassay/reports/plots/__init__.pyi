from . import picture as picture, run_charts as run_charts
from .compared import overview as overview
from .result_files import (
    Evaluator as Evaluator,
    Sources as Sources,
    Statistic as Statistic,
    Tables as Tables,
    sources as sources,
)
