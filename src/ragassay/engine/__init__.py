"""Arranges the work: from samples and metrics to a result."""

from ragassay.engine.comparison import compare
from ragassay.engine.evaluation import evaluate
from ragassay.engine.folder import open_run
from ragassay.engine.ranked_runs import evaluate_run
from ragassay.engine.results import Result
from ragassay.engine.summary import Comparison

__all__ = ["Comparison", "Result", "compare", "evaluate", "evaluate_run", "open_run"]
