"""Answers against references: UltraRAG's eight metrics, and corrected ones."""

from __future__ import annotations

from ragassay.suites import Suite

SUITE = Suite(
    name="qa",
    title="Answers against reference answers",
    source="UltraRAG evaluation server; rouge-score; sacrebleu",
    metrics=(
        *("acc", "em", "stringem", "coverem", "f1", "rouge-1", "rouge-2", "rouge-l"),
        *("contains_answer", "exact_match", "alias_groups", "covers_answer", "token_f1.f"),
        *("rouge1(tokens=unicode).f", "rouge2(tokens=unicode).f", "rougeL(tokens=unicode).f"),
        "BLEU",
    ),
    aliases={"F1": "f1", "EM": "em", "Acc": "acc", "StringEM": "stringem", "CoverEM": "coverem"},
    notes=(
        "The first eight are UltraRAG's as published. Those after them mend it: whole words of any "
        "script, groups of aliases, and no match with a reference that holds no words.",
        "A sample without references is unscored; UltraRAG gives it 0.",
    ),
)
