"""Consistency: how similar several runs of one query are, as in Open RAG Eval."""

from __future__ import annotations

from ragassay.suites import Suite

SPREAD = ("runs_mean", "runs_variance", "runs_cv")
"""The statistics of each numeric metric of the other suites."""

PUBLISHED = {
    "runs_bertscore.f": "consistency_bert_score",
    "runs_rougeL.f": "consistency_rouge_score",
    "umbrela": "consistency_mean_umbrela_score",
    "nuggets.all": "consistency_mean_nugget_assignment_score",
    "nuggets.vital": "consistency_vital_nuggetizer_score",
    "hhem": "consistency_hallucination_score",
    "citation.f1": "consistency_citation_f1_score",
}
"""Open RAG Eval's columns in ``consistency.csv``, by metric; others are ``consistency_METRIC``."""

SUITE = Suite(
    name="consistency",
    title="How alike several runs of one query are: answers, retrieval, and every other metric",
    source="Open RAG Eval, metrics page (consistency)",
    metrics=(
        *("runs_bertscore.f", "runs_bertscore.p", "runs_bertscore.r"),
        *("runs_rouge1.f", "runs_rouge1.p", "runs_rouge1.r"),
        *("runs_rouge2.f", "runs_rouge2.p", "runs_rouge2.r"),
        *("runs_rougeL.f", "runs_rougeL.p", "runs_rougeL.r"),
        "runs_rouge_ore.f",
        *("runs_overlap", "runs_rbo"),
        *SPREAD,
        "runs_flip",
    ),
    aliases={
        "consistency_bert_score": "runs_bertscore.f",
        "consistency_rouge_score": "runs_rougeL.f",
        "bert_score": "runs_bertscore.f",
        "rouge_score": "runs_rougeL.f",
        "mean": "runs_mean",
        "variance": "runs_variance",
        "coefficient_of_variation": "runs_cv",
        "median": "runs_median",
        "std": "runs_std",
        "max_min": "runs_range",
        "iqr": "runs_iqr",
        "consistency_adjusted_index": "runs_cai",
    },
    columns={name: PUBLISHED[name] for name in ("runs_bertscore.f", "runs_rougeL.f")},
    notes=(
        "Runs of a query by a system are told apart by 'repeat' (0, 1, 2 ...). Two suffice; of one "
        "there is nothing to say.",
        "It is a second step: the other suites score every run, then the runs of each query are "
        "looked at together. The outcome is a run of its own, in the folder RUN/consistency.",
        "runs_mean, runs_variance, runs_cv and runs_flip look at each metric of the other suites; "
        "--consistency-of names some. Variance and coefficient of variation go by the sample's "
        "n - 1; Open RAG Eval's std is the population's.",
        "runs_median, runs_std, runs_range, runs_iqr and runs_cai are Open RAG Eval's further "
        "statistics: consistency.csv has them all, --consistency-metrics makes metrics of them.",
        "runs_rouge_ore is ROUGE-L as Open RAG Eval's tool computes it, with the package rouge: "
        "'ragassay report RUN --format ore' writes it, consistency.csv has runs_rougeL.",
        "BERTScore needs the extra 'models' and the weights of xlm-roberta-large; without them it "
        "is unscored, and the rest is there.",
        "ICC says which share of a metric's variance lies between queries (of each system, where "
        "there are several) and not between repeats.",
    ),
)
