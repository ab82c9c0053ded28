"""TREC RAG as Open RAG Eval runs it: retrieval, nuggets, citations and no-answer by a judge."""

from __future__ import annotations

from ragassay.suites import Suite

_PUBLISHED = {
    "umbrela": "retrieval_score_mean_umbrela_score",
    "nuggets.all": "generation_score_mean_nugget_assignment_score",
    "nuggets.vital": "generation_score_vital_nuggetizer_score",
    "hhem": "generation_score_hallucination_score",
    "citation.f1": "generation_score_citation_f1_score",
    "no_answer": "generation_score_no_answer_score",
}

SUITE = Suite(
    name="trecrag",
    title="Retrieval, completeness, citations and no-answer without gold (TREC RAG, Open RAG Eval)",
    source="Open RAG Eval, metrics page; UMBRELA, AutoNuggetizer and support of TREC RAG 2024",
    metrics=(
        "umbrela",
        *("umbrela_P@1", "umbrela_P@3", "umbrela_P@5"),
        *("umbrela_AP@1", "umbrela_AP@3", "umbrela_AP@5"),
        "umbrela_MRR",
        *("umbrela_AP_judged@5", "umbrela_nDCG@5"),
        *("nuggets.all", "nuggets.vital", "nuggets.weighted"),
        *("nuggets.all_strict", "nuggets.vital_strict", "nuggets.weighted_strict"),
        "nuggets_ore.vital",
        *("citation.precision", "citation.recall", "citation.f1", "citation_ore.f1"),
        "hhem",
        *("no_answer", "answered"),
    ),
    aliases={column.split("_score_", 1)[1]: metric for metric, column in _PUBLISHED.items()}
    | {column: metric for metric, column in _PUBLISHED.items()}
    | {
        "precision": "umbrela_P",
        "Precision": "umbrela_P",
        "umbrela_scores": "umbrela",
        "retrieval_score_umbrela_scores": "umbrela",
        "questions_answered": "answered",
        "MRR": "umbrela_MRR",
        "AP": "umbrela_AP",
        "Vital": "nuggets.vital",
        "weighted_precision": "citation.precision",
        "weighted_recall": "citation.recall",
        "f1": "citation.f1",
    },
    ranked=("umbrela_P", "umbrela_AP", "umbrela_AP_judged", "umbrela_nDCG"),
    default_model="gpt-4o",
    notes=(
        "Grades, nuggets and support are the judge's; the offline judge's are lexical, and no "
        "match for an LLM's.",
        "Nuggets come from each run's own passages, as published, so two systems are measured "
        "against different facts; --nuggets pooled measures them against the same.",
        "umbrela_AP divides by the relevant passages found within k, as published; "
        "umbrela_AP_judged by all that were retrieved. A k beyond the list counts.",
        "citation follows Open RAG Eval's page, citation_ore what the tool computes: over its "
        "loader's parts, invented citations left out; citation_pairs counts each citation once; "
        "citation_trec and citation_sentences go by sentence.",
        "nuggets_ore is what the tool computes: where nothing relevant was retrieved it takes "
        "nuggets from all passages, and asks for them; nuggets is unscored there.",
        "The mean of answered is the share of questions answered.",
        "hhem runs Vectara's model on this machine ('ragassay models'), and is unscored without "
        "it; a value in the record comes first. It reads 8,192 characters of the passages, as "
        "published; hhem_windows reads all of them, sentence by sentence.",
        "Metrics go by short names; the published ones are understood, too, and trecrag.csv has "
        "Open RAG Eval's columns; 'ragassay report RUN --format ore' writes them "
        "as the tool does.",
    ),
)
