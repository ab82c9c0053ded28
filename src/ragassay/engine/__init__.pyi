from .comparison.compare_runs import compare as compare
from .diagnosis.diagnosing import diagnose as diagnose
from .results.comparison_result import Comparison as Comparison
from .results.folders import open_run as open_run, save_run as save_run
from .results.result import Result as Result
from .run.evaluation import evaluate as evaluate
from .run.ranked_runs import evaluate_run as evaluate_run
from .run.rescoring import explain as explain, rescore as rescore
