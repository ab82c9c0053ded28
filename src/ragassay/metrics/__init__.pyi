from .answer.bleu import corpus_bleu as corpus_bleu
from .chunks.chunks_datapizza import (
    hybrid_log_rank_score_exact as hybrid_log_rank_score_exact,
    precision_at_k_exact as precision_at_k_exact,
    rouge_score as rouge_score,
)
from .core.function_metrics import metric as metric
from .core.judged import JudgedMetric as JudgedMetric
from .core.metric import SampleMetric as SampleMetric, scored as scored
from .core.metric_parameters import param as param
from .core.naming import parse as parse
from .core.own import register as register
from .mtrag.mtrag_idk_table import idk_condition as idk_condition
