"""Checks of golden sets, as the command makes them."""

from functools import partial

from ragassay.engine.run.prepared_run import evaluate
from ragassay.golden.judged_checks import check as checked

check = partial(checked, evaluate=evaluate)
