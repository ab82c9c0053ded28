"""Retrieval against graded passage ids (qrels)."""

from __future__ import annotations

from ragassay.suites import Suite

SUITE = Suite(
    name="retrieval",
    title="Retrieval against graded passages (qrels)",
    source="trec_eval 10",
    metrics=(
        "nDCG@10",
        "AP",
        "RR",
        "P@5",
        "P@10",
        "Recall@10",
        "Recall@100",
        "Success@5",
        "Rprec",
        "Bpref",
        "Judged@10",
    ),
    ranked=("nDCG", "P", "Recall", "Success", "Judged"),
    notes=(
        "Passages are matched by id and ranked by score, then id, both descending; without scores "
        "the given order counts.",
        "A query without relevant passages scores 0, as in trec_eval; a query that was never "
        "judged is unscored.",
        "Gold passages without ids (texts, spans) are measured by the suite 'chunks'.",
    ),
)
