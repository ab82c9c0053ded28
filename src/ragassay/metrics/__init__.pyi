from .answer.word_overlap import corpus_bleu as corpus_bleu
from .chunks.chunks_datapizza import (
    bleu_score as bleu_score,
    corpus_bleu_score as corpus_bleu_score,
    corpus_rouge_scores as corpus_rouge_scores,
    f1_at_k_exact as f1_at_k_exact,
    f1_at_k_similarity as f1_at_k_similarity,
    hybrid_log_rank_score_exact as hybrid_log_rank_score_exact,
    hybrid_log_rank_score_similarity as hybrid_log_rank_score_similarity,
    log_rank_score as log_rank_score,
    precision_at_k_exact as precision_at_k_exact,
    precision_at_k_similarity as precision_at_k_similarity,
    recall_at_k_exact as recall_at_k_exact,
    recall_at_k_similarity as recall_at_k_similarity,
    rouge_score as rouge_score,
)
from .core.function_metrics import metric as metric
from .core.judged import JudgedMetric as JudgedMetric
from .core.metric import SampleMetric as SampleMetric, param as param, scored as scored
from .core.naming import parse as parse, register as register
from .mtrag.mtrag_conditioning import idk_condition as idk_condition
