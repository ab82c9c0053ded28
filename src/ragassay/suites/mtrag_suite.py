"""MT-RAG: the fifteen fields of an evaluated record, and the figures of its paper and ranking."""

from __future__ import annotations

from ragassay.metrics.mtrag import ranking_score
from ragassay.suites import Suite, Total

_FIELDS = {
    "Recall": ("reference_recall", "algorithmic"),
    "RougeL_stemFalse": ("reference_rougeL", "algorithmic"),
    "BertscoreP": ("reference_bertscore.p", "algorithmic"),
    "BertscoreR": ("reference_bertscore.r", "algorithmic"),
    "BertKPrec": ("passage_bertscore", "algorithmic"),
    "Extractiveness_RougeL": ("passage_rougeL", "algorithmic"),
    "Length": ("answer_words", "algorithmic"),
    "RB_agg": ("rb_agg", "algorithmic"),
    "RB_agg_zero_denominator": ("rb_agg_zero_denominator", "algorithmic"),
    "idk_eval": ("idk_eval", "idk"),
    "RL_F": ("rl_f", "ragas"),
    "RB_llm": ("rb_llm", "radbench"),
    "RB_agg_idk": ("rb_agg_idk", "idk_condition"),
    "RB_llm_idk": ("rb_llm_idk", "idk_condition"),
    "RL_F_idk": ("rl_f_idk", "idk_condition"),
}
_OTHER_NAMES = {
    "RBalg": "rb_agg_idk",
    "RBllm": "rb_llm_idk",
    "RLF": "rl_f_idk",
    "RB_agg_idk_underspecified": "rb_agg_idk",
    "RB_llm_idk_underspecified": "rb_llm_idk",
    "RL_F_idk_underspecified": "rl_f_idk",
    "conditional_idk": "answerability_accuracy",
}

SUITE = Suite(
    name="mtrag",
    title="Multi-turn RAG answers against targets and passages, with IDK conditioning",
    source="Katsis et al. 2025, MTRAG; MT-RAG metrics reference",
    metrics=(*_FIELDS, "answerability_accuracy"),
    aliases={field: metric for field, (metric, _) in _FIELDS.items()} | _OTHER_NAMES,
    columns={metric: field for field, (metric, _) in _FIELDS.items()}
    | {"answer_characters": "Length", "answerability_accuracy": "answerability_accuracy"},
    published={"answer_words": "answer_characters"},
    steps={field: step for field, (_, step) in _FIELDS.items()},
    default_model="gpt-4o-mini",
    notes=(
        "A score is the first target's value, or the highest of the passages; the published lists "
        "are its parts.",
        "Length counts words, as MT-RAG's page says. The benchmark's published values count "
        "characters: --published gives those.",
        "idk_eval, RL_F and RB_llm ask a judge; a value that the record's metrics bring is taken "
        "first, whichever judge is named, and such scores are marked as given. --option "
        "given=false has every record judged.",
        "Contexts that a record does not have count as none retrieved: extractiveness, and with it "
        "RB_agg, is 0 there, and RB_llm is rated without passages and says so.",
        "What is null is counted by its reason beside the mean, and 'ragassay explain RUN QUERY "
        "METRIC' tells it: nothing was retrieved (BertKPrec, Extractiveness_RougeL, RL_F), an "
        "answer without claims (RL_F), a model that is not here (BERTScores, and RB_agg, which is "
        "made of them), a judge that gave no answer.",
        "BERTScores are taken from the record where it brings them; else they are computed as the "
        "benchmark does, with microsoft/deberta-xlarge-mnli, layer 40, rescaled. --option "
        "model=NAME (with layer=N and rescale=false) takes another encoder for all of them and "
        "for RB_agg: such numbers do not compare with published ones.",
        "RB_agg_idk, RB_llm_idk and RL_F_idk follow the paper's table, in which an 'I don't know' "
        "to an answerable query scores 0; RB_agg_idk(rule=spec) is the shorter rule of the page, "
        "and --option rule=spec takes it for all three, which then are shown under that name.",
        "A conditioned value that a record brings is taken where its other values do not give it. "
        "One that the table cannot give for the record's label is counted, told and made anew: it "
        "was made without the label, as the benchmark's own files were (its issue 23).",
        "Where RB_agg, RB_llm or RL_F could not be computed or asked for at all (no model, a "
        "judge that does not answer such questions, the budget spent), the conditioned metric is "
        "unscored with that reason, unless the record brings its value: the samples that the table "
        "decides would else be its whole mean. Where the reason lies in the sample (no claims, "
        "nothing retrieved), the table decides.",
        "answerability_accuracy says how often 'I don't know' is said exactly when it should be; "
        "ranking_score, by which MTRAGEval ranks, is the harmonic mean of the means of RL_F_idk, "
        "RB_llm_idk and RB_agg_idk.",
        "ragassay mtrag idk FILE -o OUT.jsonl runs one published step over a file that grows.",
        "extractive_coverage sees a sentence copied from a long passage, to which "
        "Extractiveness_RougeL gives next to nothing.",
    ),
    totals={
        "ranking_score": Total(
            "Harmonic mean of the means of RL_F_idk, RB_llm_idk and RB_agg_idk (MTRAGEval)",
            {"rl_f": "rl_f_idk", "rb_llm": "rb_llm_idk", "rb_alg": "rb_agg_idk"},
            ranking_score,
        )
    },
)
