import dataclasses

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample
from ragassay.base.score import Reason, Score, Unscored
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, Window
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.suites import all_suites, get, published_elsewhere


def built(cls: type[Metric]) -> Metric:
    """An instance with its required cut-off given."""
    required = [s.name for s in dataclasses.fields(cls) if s.default is dataclasses.MISSING]
    return cls(**dict.fromkeys(required, 1))


OURS = [cls for cls in naming.metric_classes().values() if "ragassay." in cls.__module__]
"""Those of other tests are known only where these were loaded."""


@pytest.mark.parametrize("cls", OURS, ids=str)
def test_every_metric_is_declared_in_full(cls: type[Metric]) -> None:
    assert cls.title and cls.source and cls.family
    assert not cls.title.endswith(".") and len(cls.title) < 120
    assert cls.low is None or cls.high is None or cls.low < cls.high
    assert all(spec.metadata.get("doc") for spec in dataclasses.fields(cls))


@pytest.mark.parametrize("cls", OURS, ids=str)
def test_a_printed_name_parses_back(cls: type[Metric]) -> None:
    metric = built(cls)
    assert naming.parse(str(metric)) == metric
    assert repr(metric) == str(metric)


@pytest.mark.parametrize("suite", all_suites().values(), ids=lambda suite: suite.name)
def test_every_name_in_a_suite_resolves(suite) -> None:
    metrics = suite.resolve()
    published = suite.resolve(published=True)
    assert len(metrics) == len(set(metrics)) and len(published) == len(metrics)
    for alias in suite.aliases:
        naming.find(alias, suite.aliases)
    for canonical in suite.columns:
        assert str(naming.parse(canonical)) == canonical


def test_ultrarag_names_stand_for_one_metric_a_cutoff_and_names_stay_as_they_were_typed() -> None:
    found = naming.metrics_by_name("mrr,map,recall,ndcg,precision", ks=[1, 5])
    assert [str(metric) for metric in found.values()] == [
        "RR", "AP", "Recall@1", "Recall@5", "nDCG@1", "nDCG@5", "P@1", "P@5",
    ]  # fmt: skip
    assert len(naming.known("recall")) == 6
    assert not naming.lacks_cutoff("IPrec")  # its level is none of ks
    rag = all_suites()["rag"]  # where nothing can be measured, all are named
    assert rag.fitted([Sample(id="q")], lambda metric: True).metrics == rag.metrics
    asked = ["AutoNuggetizer", "UMBRELA", "Citation", "is_matching", "NUGGETS.vital", "rougeL"]
    assert list(naming.metrics_by_name(asked)) == [*asked[:-1], "rougeL.f"]
    assert list(naming.metrics_by_name("umbrela,UMBRELA,citation")) == ["umbrela", "citation.f1"]
    assert naming.split(["a(x=1,y=2),b", " c ,"]) == ["a(x=1,y=2)", "b", "c"]
    assert str(naming.parse("latency_p95(percentile=50)")) == "latency(percentile=50)"
    assert str(naming.parse("RBP(p=0.12345678)")) == "RBP(p=0.12345678)"


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [("ChunkP@{}", "1 1000", "0 -1 1.5 x"), ("ChunkP{}", "@1", "(threshold=0.5)@3 (by=bm25)@3"),
     ("ChunkP(by=cosine,threshold={})@3", "-1 0 1", "-1.01 1.01 80 nan"),
     ("ChunkP(rel={})@3", "1 2", "0"), ("umbrela_P(rel={})@1", "1 3", "0"),
     ("hybrid(alpha={})@3", "0 1", "-0.01 1.01 2"), ("hybrid(gamma={})@30", "0 2", "-1 1e308"),
     ("hybrid_log_rank_score_exact(alpha={})", "0 1", "2 -0.1"),
     ("hybrid_log_rank_score_exact(gamma={})", "0 0.1 9", "inf -0.1"),
     ("precision_at_k_exact@{}", "1", "0"), ("SpanP{}", "@1", "@0 @"), ("CharP@{}", "1", "0"),
     ("SpanR(threshold={})@3", "0.01 1", "0 1.01 2"), ("nDCG@{}", "1", "0 -1"),
     ("P(rel={})@5", "0 1 9", "-1"), ("IPrec@{}", "0 0.5 1", "-0.1 1.1"), ("AP@{}", "1", "0"),
     ("Rprec(mult={})", "0 0.5 2", "-0.1 nan"), ("RBP(p={})", "0.01 0.99", "0 1"),
     ("SetF(x={})", "0 4", "-1"), ("ERR(max_grade={})", "1", "0"), ("Utility(rest={})", "0", "nan"),
     ("AP11(levels={})", "0;1 0.5", "0;1.1 -0.1 x"), ("runs_rbo(p={})", "0.1 0.9", "0 1"),
     ("nuggets(min_grade={})", "0 3", "-1 4"), ("nuggets(batch={})", "1", "0"),
     ("citation({})", "full=1 partial=1 none=0.5", "full=1.1 none=0.6 partial=2 none=-1"),
     ("answer_match(temperature={})", "0 1.5", "-1"), ("token_f1(articles={})", "keep", "x"),
     ("BLEU(smooth={})", "floor", "x"), ("nDCG{}", "@5", "(gain=exp,gains=1:2) (k=5)@9")],
)  # fmt: skip
def test_a_parameter_is_taken_up_to_its_limits_and_refused_beyond(name, allowed, refused) -> None:
    for value in allowed.split():
        naming.parse(name.format(value))
    for value in refused.split():
        with pytest.raises(UsageError):
            naming.parse(name.format(value))


def published(suite: str, names: str) -> list[str]:
    return [str(metric) for metric in all_suites()[suite].resolve(names, published=True)]


def test_published_forms_keep_the_cut_off_that_was_asked_for() -> None:
    assert published("chunks", "ChunkP@5,ChunkP@10,ChunkR@3") == [
        "precision_at_k_exact@5", "precision_at_k_exact@10", "recall_at_k_exact@3",
    ]  # fmt: skip
    assert published("chunks", "hybrid(alpha=0.3)@5,CharP") == [
        "hybrid_log_rank_score_exact(alpha=0.3)",
        "CharP",
    ]
    assert published("chunks", "hybrid@5,hybrid@10") == ["hybrid_log_rank_score_exact"]
    assert published("mtrag", "Length") == published("mtrag", "answer_words")
    assert published("mtrag", "Length") == ["answer_characters"]
    shown = all_suites()["mtrag"].metrics_by_name("Length,answer_words", published=True)
    assert list(shown) == ["Length"]


@pytest.mark.parametrize("name", ["ChunkP(rel=2)@5", "ChunkF1(by=cosine)@5"])
def test_what_a_published_form_cannot_do_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="has no published form"):
        published("chunks", name)


BARE = Sample(
    id="q", query="a", passages=(Passage(text="a", id="p"),), answer=Answer("a"), references=("a",),
    gold=(GoldPassage(id="p", text="a"),), answerability=Answerability.ANSWERABLE,
)  # fmt: skip
BY_A_MODEL_OR_GIVEN = [
    *("reference_bertscore.p", "reference_bertscore.r", "passage_bertscore", "rb_agg"),
    *("rb_agg_zero_denominator", "rb_agg_idk"),
]
GIVEN = {
    "BertscoreP": 0.5, "BertscoreR": 0.5, "BertKPrec": 0.5, "idk_eval": 0, "RL_F": 0.5,
    "RB_llm": 0.5, "passage_embeddings": [[1.0]], "gold_embeddings": [[1.0]],
}  # fmt: skip


@pytest.mark.parametrize("name", BY_A_MODEL_OR_GIVEN)
def test_where_its_model_is_not_here_a_metric_takes_what_the_record_brings(name: str) -> None:
    metric = naming.parse(name)
    gone = Models(ModelOptions({"microsoft/deberta-xlarge-mnli": "no/such/folder"}))
    (absent,) = metric.score_window(Window([BARE], models=gone))
    assert metric.lacks(BARE) is None
    assert isinstance(absent, Unscored) and absent.reason is Reason.NEEDS_EXTRA
    full = dataclasses.replace(BARE, given=GIVEN)
    assert metric.lacks(full) is None
    assert isinstance(metric.score_window(Window([full], models=gone))[0], Score)


@pytest.mark.parametrize("cls", OURS, ids=str)
def test_what_lacks_something_is_never_scored(cls: type[Metric]) -> None:
    metric = built(cls)
    empty = Sample(id="q")
    found = metric.score(empty)
    assert not any(fact.n for fact in metric.remarks(Window([empty])))
    if metric.lacks(empty) is None:
        # ML cube gives the lowest value there; it is marked as no measurement. What a system took
        # is told by metadata, which no part stands for.
        assert isinstance(found, Unscored) or found.assumed
        return
    assert isinstance(found, Unscored)
    if metric.lacks(BARE) is not None:
        assert isinstance(metric.score(BARE), Unscored)


def test_a_published_name_outside_its_suite_says_what_it_stands_for_and_where() -> None:
    resolve = all_suites()["qa"].resolve
    with pytest.raises(UsageError) as caught:
        resolve("em,BertscoreP")
    assert str(caught.value) == (
        "'BertscoreP' is the published name of reference_bertscore.p in the suite mtrag: write "
        "reference_bertscore.p, or add the suite mtrag."
    )
    assert not published_elsewhere("context_precision"), "a name that is valid everywhere"
    # What the name means here is said first, where it means anything.
    with pytest.raises(UsageError, match=r"F1 needs a cut-off.*citation.f1 in the suite trecrag"):
        all_suites()["retrieval"].resolve("F1")
    assert [str(metric) for metric in resolve("RB_agg,rb_agg")] == ["rb_agg"]
    with pytest.raises(UsageError, match="Did you mean 'BertscoreP'"):
        all_suites()["mtrag"].resolve("BertscorP")
    with pytest.raises(UsageError, match="Did you mean 'mtrag'"):
        get("mtrog")
    with pytest.raises(UsageError, match=r"several metrics: rouge1.f, rouge2.f, rougeL.f\. Choose"):
        naming.parse("ROUGE_score")


@pytest.mark.parametrize("suite", all_suites().values(), ids=lambda suite: suite.name)
def test_every_name_that_a_suite_shows_is_understood_or_explained_everywhere(suite) -> None:
    for metric in suite.resolve():
        shown = suite.columns.get(str(metric), str(metric))
        assert suite.resolve(shown) == [metric]
        try:
            everywhere = all_suites()["qa"].resolve(shown)
        except UsageError as error:
            assert f"in the suite {suite.name}" in str(error)
        else:
            # Some are UltraRAG's as well, and show by their cut-offs which of the two they are; ML
            # cube's faithfulness is another than everybody's.
            ranks = all_suites()["qa"].metrics_by_name(shown)
            others = f"{shown}@10" in ranks or (suite.name, shown) == ("ragreport", "faithfulness")
            assert everywhere == [metric] or others


@dataclasses.dataclass(frozen=True, repr=False)
class _Few(Metric):
    """Gives as many outcomes as it is told, or raises where the window has another number."""

    n: int
    error: type[Exception] | None = None

    name, title, family, source = "few", "Few", "answer", "test"

    def __post_init__(self) -> None: ...

    def score_window(self, window: Window) -> list[Score]:
        if self.error is not None and len(window.samples) != self.n:
            raise self.error("odd")
        seen = [id(window.asker), id(window.models), len([*window.all_samples])]
        return [Score(1.0, {"seen": seen} if self.error else {})] * self.n

    def __str__(self) -> str:
        return "few"


def test_a_metric_gives_one_outcome_for_each_sample_and_its_usage_error_ends_the_run() -> None:
    samples = [Sample(id="1"), Sample(id="2")]
    assert Window(samples).outcomes(_Few(2)) == [Score(1.0)] * 2
    for n in (1, 3):
        with pytest.raises(AssertionError, match=f"^few gave {n} outcomes for 2 samples$"):
            Window(samples).outcomes(_Few(n))
    with pytest.raises(UsageError, match=r"^odd$"):
        Window(samples).outcomes(_Few(3, UsageError))
    lost = Window(samples).outcomes(_Few(3, ValueError))
    assert [one.detail for one in lost if isinstance(one, Unscored)] == [
        "few broke down: ValueError: odd"
    ] * 2
    with Asker(OfflineJudge()) as asker:  # what breaks on both together is scored one by one
        alone = Window(samples, asker, models := Models()).outcomes(_Few(1, ValueError))
    assert alone == [Score(1.0, {"seen": [id(asker), id(models), 2]})] * 2
