from . import (
    trec_files as trec_files,
    trec_judgements as trec_judgements,
    trec_run as trec_run,
)
from .trec_judgements import Moments as Moments, read_scales as read_scales
from .trec_run import Qrels as Qrels
