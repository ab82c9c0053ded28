"""Retrieval over chunks: datapizza's metrics, corrected, and metrics of spans."""

from __future__ import annotations

from ragassay.suites import Suite

SUITE = Suite(
    name="chunks",
    title="Retrieved chunks against gold chunks and gold spans",
    source="datapizza-ai, docs/metrics.md",
    metrics=(
        "ChunkP@5",
        "ChunkR@5",
        "ChunkF1@5",
        "hybrid@5",
        "SpanHit@1",
        "SpanR@5",
        "SpanF1@5",
        "CharP@5",
        "CharR@5",
        "CharIoU@5",
    ),
    published={
        "ChunkP": "precision_at_k_exact",
        "ChunkR": "recall_at_k_exact",
        "ChunkF1": "f1_at_k_exact",
        "hybrid": "hybrid_log_rank_score_exact",
    },
    notes=(
        "A retrieved chunk is a gold chunk when it has its id, or its text up to whitespace.",
        "Chunks and spans rank in the order given, also where scores contradict it; the suite "
        "'retrieval' ranks by score.",
        "Hits are one to one. Copies of a chunk are misses; duplicates=drop takes them out.",
        "By cosine: ChunkP(by=cosine,threshold=0.6)@5 and so on, from vectors that --embedder "
        "makes of the texts, or from 'passage_embeddings' and 'gold_embeddings' under 'given' in "
        "each record (columns of these names, or datapizza's retrieved_embeddings and "
        "ground_truth_embeddings, are the same).",
        "The published forms have the published names, also with k in parentheses: "
        "precision_at_k_exact(k=5), f1_at_k_similarity(similarity_threshold=0.6)@5, "
        "hybrid_log_rank_score_exact, bleu_score, rouge_score (three metrics).",
    ),
)
