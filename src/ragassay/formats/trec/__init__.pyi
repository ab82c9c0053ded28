from . import (
    qrels_and_runs as qrels_and_runs,
    trec_preferences as trec_preferences,
    trec_run as trec_run,
)
from .trec_preferences import Moments as Moments, read_scales as read_scales
from .trec_run import Qrels as Qrels
