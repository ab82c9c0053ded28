"""Answers compared with golden answers, as in Open RAG Eval's third evaluator."""

from __future__ import annotations

from ragassay.suites import Suite

SUITE = Suite(
    name="golden",
    title="Answers against golden answers: meaning by an embedder, claims by a judge",
    source="Open RAG Eval 0.3.0, GoldenAnswerEvaluator",
    metrics=(
        "answer_similarity",
        *("factual_correctness.precision", "factual_correctness.recall", "factual_correctness.f1"),
    ),
    aliases={
        "semantic_similarity": "answer_similarity",
        "factual_correctness_precision": "factual_correctness.precision",
        "factual_correctness_recall": "factual_correctness.recall",
        "factual_correctness_f1": "factual_correctness.f1",
    },
    default_model="gpt-4o",
    notes=(
        "Golden answers are the samples' references ('expected_answer'); --references FILE joins "
        "them from a table with query_id and expected_answer.",
        "answer_similarity needs --embedder; without one it is unscored, and the rest is there.",
        "Open RAG Eval writes 0 where its judge fails; here that is unscored.",
    ),
)
