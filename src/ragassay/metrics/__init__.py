"""What is measured: one file a family. Pure arithmetic, no input or output, no globals.

The plain functions, for use without an evaluation, can be imported from here (docs/python.md).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "bleu_score",
    "corpus_bleu",
    "corpus_bleu_score",
    "corpus_rouge_scores",
    "f1_at_k_exact",
    "f1_at_k_similarity",
    "hybrid_log_rank_score_exact",
    "hybrid_log_rank_score_similarity",
    "idk_condition",
    "log_rank_score",
    "parse",
    "precision_at_k_exact",
    "precision_at_k_similarity",
    "recall_at_k_exact",
    "recall_at_k_similarity",
    "rouge_score",
    "sentence_bleu",
]

_HOME = dict.fromkeys(__all__, "chunks.chunks_datapizza") | {
    "corpus_bleu": "answer.bleu",
    "idk_condition": "mtrag.mtrag_idk_table",
    "parse": "core.naming",
    "sentence_bleu": "answer.bleu",
}

if TYPE_CHECKING:
    from ragassay.metrics.answer.bleu import corpus_bleu, sentence_bleu
    from ragassay.metrics.chunks.chunks_datapizza import (
        bleu_score,
        corpus_bleu_score,
        corpus_rouge_scores,
        f1_at_k_exact,
        f1_at_k_similarity,
        hybrid_log_rank_score_exact,
        hybrid_log_rank_score_similarity,
        log_rank_score,
        precision_at_k_exact,
        precision_at_k_similarity,
        recall_at_k_exact,
        recall_at_k_similarity,
        rouge_score,
    )
    from ragassay.metrics.core.naming import parse
    from ragassay.metrics.mtrag.mtrag_idk_table import idk_condition


def __getattr__(name: str) -> Any:
    """Imported when first used: importing this package for one metric imports no other."""
    if name not in _HOME:
        raise AttributeError(f"module 'ragassay.metrics' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ragassay.metrics.{_HOME[name]}"), name)
