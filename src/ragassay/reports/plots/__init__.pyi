from . import picture as picture, run_charts as run_charts, sources as sources
from .compared import overview as overview
from .consistency_plot import Statistic as Statistic
from .sources import Evaluator as Evaluator, Sources as Sources
