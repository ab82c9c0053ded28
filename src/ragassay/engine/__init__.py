"""Arranges the work: from samples and metrics to a result."""

from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results.result import Result
from ragassay.engine.results.run_folder import open_run, save_run
from ragassay.engine.results.summary import Comparison
from ragassay.engine.run.evaluation import evaluate
from ragassay.engine.run.ranked_runs import evaluate_run

__all__ = ["Comparison", "Result", "compare", "evaluate", "evaluate_run", "open_run", "save_run"]
