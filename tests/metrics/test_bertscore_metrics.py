"""The metrics by BERTScore: in a run, by name, with what a record brings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="models need torch: pip install 'ragassay[models]'")

import ragassay
from mtrag_records import FIELDS, SAID, record, written
from ragassay import Answer, Passage, Sample, Score, Unscored, UsageError, suites
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.engine.run.scoring import score_stream
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import AllSamples, Window
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Weights
from scripted_judge import Scripted
from tiny_models import SENTENCES, tiny_encoder

pytestmark = pytest.mark.usefixtures("one_thread")

MNLI = "microsoft/deberta-xlarge-mnli"
CLOSE = 1e-5
LONG = " ".join(SENTENCES * 9)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("models") / "bert", "bert")


@pytest.fixture(scope="module")
def mnli(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small model in place of MT-RAG's, with as many layers as are asked for, and one more."""
    return tiny_encoder(tmp_path_factory.mktemp("models") / "deberta", "deberta", layers=41)


def sample(answer: str | None, *references: str, at: int = 0, **more: Any) -> Sample:
    said = None if answer is None else Answer(answer)
    return Sample(id=f"q{at}", answer=said, references=references, **more)


def outcome(name: str, one: Sample, models: Models | None = None) -> Any:
    return naming.parse(name).score_window(Window([one], models=models))[0]


# --- by name --------------------------------------------------------------------------------------


def test_a_layer_that_nobody_recommends_must_be_named_where_values_are_rescaled() -> None:
    assert naming.parse("bertscore(model=a/b).f").scale.layer is None  # type: ignore[attr-defined]
    unknown = ("bertscore(model=a/b,rescale=true).f", "rb_agg(model=a/b)")
    for name in (*unknown, "passage_bertscore(model=a/b)"):
        with pytest.raises(UsageError, match="no layer is recommended for the model a/b"):
            naming.parse(name)
    assert naming.parse("bertscore(model=roberta-large).f").scale.layer == 17  # type: ignore[attr-defined]
    assert naming.parse("passage_bertscore").scale.layer == 40  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="at least 0"):
        naming.parse("bertscore(layer=-1).f")
    for wrong in ({"model": "a,b"}, {"rescale": True, "baseline": "a(1).tsv"}):
        with pytest.raises(UsageError, match="cannot be part of a metric's name"):
            type(naming.parse("bertscore.f"))(layer=1, **wrong)  # type: ignore[arg-type]


def test_a_model_is_read_at_its_last_layer_where_none_is_named_and_none_recommended(bert) -> None:
    one = sample("the small river", "a river that is small")
    layers = Encoder(ModelOptions(), Weights.parse(bert), None).model.config.num_hidden_layers
    models = Models(ModelOptions())
    found = outcome(f"bertscore(model={bert}).f", one, models)
    last = outcome(f"bertscore(model={bert},layer={layers}).f", one, models)
    first = outcome(f"bertscore(model={bert},layer=0).f", one, models)
    assert isinstance(found, Score) and found.value == last.value != first.value
    with pytest.raises(UsageError, match="no layer is recommended"):
        naming.parse(f"bertscore(model={bert},rescale=true).f")


# --- bertscore ------------------------------------------------------------------------------------


def test_the_best_of_several_references_counts_as_in_bert_score(bert: str) -> None:
    bert_score = pytest.importorskip("bert_score", reason="the peer")
    scorer = bert_score.BERTScorer(model_type=bert, num_layers=2, device="cpu")
    answer, references = SENTENCES[0], list(SENTENCES[1:5])
    wanted = scorer.score([answer], [references], batch_size=1)
    for part, value in zip("prf", wanted, strict=True):
        found = outcome(f"bertscore(model={bert},layer=2).{part}", sample(answer, *references))
        assert found.value == pytest.approx(value.item(), abs=CLOSE)
        assert found.parts[part] == found.value and len(found.parts["values"]) == 4


def test_precision_recall_and_f_share_a_comparison_and_each_has_a_best_reference(bert: str) -> None:
    longer, shorter = f"{SENTENCES[0]} {SENTENCES[1]}", " ".join(SENTENCES[0].split()[:2])
    found = outcome(f"bertscore(model={bert},layer=0).r", sample(SENTENCES[0], longer, shorter))
    (p, r, f), (p_short, r_short, f_short) = found.parts["values"]
    assert p > p_short and r < r_short == found.value
    assert (found.parts["p"], found.parts["f"]) == (p, max(f, f_short))
    models = Models()
    window = Window([sample(text, *SENTENCES) for text in SENTENCES], models=models)
    for part in "prf":
        found = window.outcomes(naming.parse(f"bertscore(model={bert},layer=2).{part}"))
        assert all(isinstance(one, Score) for one in found)
    assert models.use(Encoder, Weights.parse(bert), 2).n_encoded == len(SENTENCES)


def test_empty_and_missing_texts_have_a_declared_result_and_a_cut_one_is_named(bert: str) -> None:
    name = f"bertscore(model={bert},layer=2).f"
    empty = outcome(name, sample(" ", "a novel"))
    assert empty.value == 0 and "empty" in empty.explanation
    for references in (("",), (" ", "\n")):
        assert outcome(name, sample("a novel", *references)).reason is Reason.UNDEFINED
    best = outcome(name, sample("a novel", "", "a novel"))
    assert best.value == pytest.approx(1, abs=CLOSE) and not best.explanation
    assert outcome(name, sample(None, "a novel")).reason is Reason.MISSING_INPUT
    assert outcome(name, sample("a novel")).reason is Reason.NOT_APPLICABLE
    found = outcome(f"bertscore(model={bert},layer=2).f", sample(LONG, "a novel", LONG))
    said = "cut to the 64 tokens that the model takes: the answer, reference 2"
    assert found.explanation == said


def test_what_does_not_fit_or_is_not_here_is_unscored_with_one_clear_sentence(
    bert: str, tmp_path
) -> None:
    one = sample("a", "b")
    for name, said in (
        (f"bertscore(model={bert},layer=2,rescale=true).f", "no baseline is known"),
        (f"bertscore(model={bert},layer=9).f", "layers 0 to 3, not 9"),
        (f"bertscore(model={tmp_path},layer=2).f", "no config.json"),
        (
            f"bertscore(model={bert},layer=2,rescale=true,baseline=no.tsv).f",
            "no.tsv cannot be read",
        ),
    ):
        found = outcome(name, one)
        assert isinstance(found, Unscored) and found.reason is Reason.FAILED, name
        assert said in found.detail and len(found.detail) < 400
    named = Models(ModelOptions({MNLI: str(tmp_path / "gone")}))
    found = outcome("bertscore.f", sample("a", "b"), named)
    assert found.reason is Reason.NEEDS_EXTRA and "is not a folder" in found.detail


def test_numbers_that_overflow_cost_a_score_and_not_the_run(bert: str, monkeypatch) -> None:
    models = Models()
    ours = models.use(Encoder, Weights.parse(bert), 2)
    plain = ours._forward

    def overflowing(rows: Any, batch: Any) -> Any:
        return [one * (torch.nan if len(one) > 30 else 1) for one in plain(rows, batch)]

    monkeypatch.setattr(ours, "_forward", overflowing)
    window = Window([sample("a", "b"), sample(SENTENCES[0], "b", at=1)], models=models)
    first, second = window.outcomes(naming.parse(f"bertscore(model={bert},layer=2).f"))
    assert isinstance(first, Score)
    assert second.reason is Reason.FAILED and "no finite numbers" in second.detail


def test_a_baseline_file_rescales(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("LAYER,P,R,F\n2,0.5,0.6,0.75\n")
    one = sample(SENTENCES[0], SENTENCES[1])
    raw = outcome(f"bertscore(model={bert},layer=2).f", one)
    found = outcome(f"bertscore(model={bert},layer=2,rescale=true,baseline={path}).f", one)
    for part, base in (("p", 0.5), ("r", 0.6), ("f", 0.75)):
        assert found.parts[part] == pytest.approx((raw.parts[part] - base) / (1 - base))
    empty = outcome(
        f"bertscore(model={bert},layer=2,rescale=true,baseline={path}).f", sample("", "a")
    )
    assert empty.value == pytest.approx(-3)
    cut = outcome(
        f"bertscore(model={bert},layer=2,rescale=true,baseline={path}).f", sample(LONG, "a")
    )
    assert cut.explanation.startswith("cut to the 64 tokens")


# --- idf weights take the whole run ---------------------------------------------------------------


def idf_run(bert: str, size: int, whole: AllSamples | None) -> list[Any]:
    samples = [sample(SENTENCES[at - 1], SENTENCES[at], at=at) for at in range(len(SENTENCES))]
    metrics = [naming.parse(f"bertscore(model={bert},layer=2,idf=true).f")]
    return [
        one
        for _, (found,) in score_stream(samples, metrics, size=size, all_samples=whole)
        for one in found
    ]


def test_idf_weights_are_those_of_the_run_and_not_of_a_window(bert: str) -> None:
    def read() -> Iterator[Sample]:
        return (sample(None, text) for text in SENTENCES)

    at_once = idf_run(bert, 100, AllSamples(read))
    by_two = idf_run(bert, 2, AllSamples(read))
    values = [one.value for one in at_once]
    assert [one.value for one in by_two] == pytest.approx(values, abs=CLOSE)
    assert {one.parts["idf_references"] for one in by_two} == {len(SENTENCES)}
    bert_score = pytest.importorskip("bert_score", reason="the peer")
    scorer = bert_score.BERTScorer(
        model_type=bert, num_layers=2, device="cpu", nthreads=0, idf=True, idf_sents=list(SENTENCES)
    )
    said = [SENTENCES[at - 1] for at in range(len(SENTENCES))]
    assert values == pytest.approx(
        scorer.score(said, list(SENTENCES), batch_size=1)[2].tolist(), abs=CLOSE
    )


def test_idf_weights_are_of_all_references_that_an_iterator_gives(bert: str) -> None:
    name = f"bertscore(model={bert},layer=2,idf=true).f"
    records = [{"id": "q", "answer": "a novel", "references": ["the novel", "a cat"]}]
    (row,) = ragassay.evaluate(iter(records), [name]).scores
    assert isinstance(row.outcome, Score) and row.outcome.parts["idf_references"] == 2


# --- MT-RAG ---------------------------------------------------------------------------------------


def test_a_run_with_a_local_model_gives_all_fields_of_mtrag(mnli: str, tmp_path, capsys) -> None:
    data = written(tmp_path / "in.jsonl", [record(1), record(2, "UNANSWERABLE")])
    result = ragassay.evaluate(
        str(data), "mtrag", judge=Scripted(SAID), models={MNLI: mnli}, save=tmp_path / "run"
    )
    for field in FIELDS:
        assert result.summary.metrics[field].n_scored == 2, field
    rows = {(row.identity, row.metric): row.outcome for row in result.scores}
    for identity in {row.identity for row in result.scores}:
        parts = rows[identity, "RB_agg"].parts
        assert parts["recall"] == (rows[identity, "BertscoreR"].value + 1) / 2
        assert parts["extractiveness"] == (rows[identity, "BertKPrec"].value + 1) / 2
        assert not rows[identity, "RB_agg"].given
    assert f"model={Path(MNLI).name}#" in result.summary.metrics["RB_agg"].signature
    model = f"{MNLI}={mnli}"
    words = ["run", str(data), "--suite", "mtrag", "--model", model, "--json"]
    call([*words, "-o", str(tmp_path / "cli")])
    printed = json.loads(capsys.readouterr().out)["metrics"]
    for field in FIELDS[:9]:
        assert printed[field]["n_scored"] == 2
        assert printed[field]["mean"] == pytest.approx(result.summary.metrics[field].mean)


def test_a_given_aggregate_is_the_same_whether_there_is_a_model_or_not(mnli: str) -> None:
    passages = (Passage(text=SENTENCES[3]),)
    one = sample(SENTENCES[0], SENTENCES[1], passages=passages, given={"RB_agg": [0.4]})
    for models in (Models(), Models(ModelOptions({MNLI: mnli}))):
        (found,) = Window([one], models=models).outcomes(naming.parse("rb_agg"))
        assert isinstance(found, Score) and found.value == 0.4 and found.given


def test_the_values_are_bert_scores_rescaled_by_its_baseline(mnli: str, tmp_path: Path) -> None:
    bert_score = pytest.importorskip("bert_score", reason="the peer")
    root = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    options = {"num_layers": 40, "device": "cpu", "lang": "en", "rescale_with_baseline": True}
    path = str(root / f"{MNLI}.tsv")
    scorer = bert_score.BERTScorer(model_type=mnli, baseline_path=path, **options)
    passages = tuple(Passage(text=text) for text in SENTENCES[3:7])
    one = sample(SENTENCES[0], *SENTENCES[1:3], passages=passages)
    models = Models(ModelOptions({MNLI: mnli}))
    p, r, _ = scorer.score([SENTENCES[0]] * 2, list(SENTENCES[1:3]), batch_size=1)
    kp, _, _ = scorer.score([SENTENCES[0]] * 4, list(SENTENCES[3:7]), batch_size=1)
    suite = suites.get("mtrag")
    for field, wanted in (("BertscoreP", p), ("BertscoreR", r), ("BertKPrec", kp)):
        (metric,) = suite.resolve([field])
        (found,) = metric.score_window(Window([one], models=models))
        assert isinstance(found, Score) and not found.given
        assert found.parts["values"] == pytest.approx(wanted.tolist(), abs=CLOSE)
        first = wanted.max() if field == "BertKPrec" else wanted[0]
        assert found.value == pytest.approx(first.item(), abs=CLOSE)
    assert models.use(Encoder, Weights.parse(MNLI), 40).n_encoded == 7


def test_a_value_that_the_record_brings_comes_first_unless_told_otherwise(mnli: str) -> None:
    models = Models(ModelOptions({MNLI: mnli}))
    given = {"BertscoreP": [0.1], "BertscoreR": [0.2], "BertKPrec": [0.3], "RB_agg": [0.9]}
    one = sample("a cat", "the cat sat", passages=(Passage(text="a dog"),), given=given)
    for name, value in (
        ("reference_bertscore.p", 0.1),
        ("reference_bertscore.r", 0.2),
        ("passage_bertscore", 0.3),
    ):
        taken = outcome(name, one, models)
        assert taken.value == value and taken.given and "read from the record" in taken.explanation
        fresh = outcome(name.replace("bertscore", "bertscore(given=false)"), one, models)
        assert fresh.value != value and not fresh.given
    assert outcome("rb_agg", one, models).given
    anew = outcome("rb_agg(given=false)", one, models)
    assert not anew.given and anew.value not in (0.9, outcome("rb_agg", one, models).value)
    gone = Models(ModelOptions({MNLI: "no/such/folder"}))
    assert outcome("rb_agg(given=false)", one, gone).reason is Reason.NEEDS_EXTRA


def test_an_empty_answer_has_rb_agg_0_and_no_crash(mnli: str) -> None:
    """Its rescaled BERTScore is below -1; the share of ROUGE-L is 0, and so is the aggregate."""
    models = Models(ModelOptions({MNLI: mnli}))
    one = sample("", "the cat sat", passages=(Passage(text="a cat"), Passage(text="")))
    recall = outcome("reference_bertscore.r", one, models)
    assert recall.value == pytest.approx(-0.5170288 / (1 - 0.5170288)) and recall.explanation
    assert outcome("rb_agg", one, models).value == 0
    assert outcome("rb_agg_zero_denominator", one, models).value is False


def test_what_only_rescaling_uses_is_refused_without_it() -> None:
    for name, idle in (
        ("bertscore(baseline=own.tsv).f", "baseline"),
        ("bertscore(lang=de).f", "lang"),
        ("reference_bertscore(rescale=false,lang=zh).p", "lang"),
        ("rb_agg(rescale=false,baseline=own.tsv)", "baseline"),
        ("runs_bertscore(rescale=false,lang=de).f", "lang"),
    ):
        with pytest.raises(UsageError, match=rf"{idle} needs rescale=true"):
            naming.parse(name)
    assert naming.parse("bertscore(rescale=false,lang=en).f") == naming.parse("bertscore.f")
