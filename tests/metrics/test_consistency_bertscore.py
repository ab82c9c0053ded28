"""BERTScore over the runs of a query, on tiny encoders."""

from itertools import combinations
from pathlib import Path

import pytest

from json_lines import jsonl

pytest.importorskip("torch", reason="models are not installed")

import ragassay
from ragassay.base.sample import Sample
from ragassay.base.score import Score, Unscored
from ragassay.engine.run.rescoring import rescore
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.token_matching import compare
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Weights
from tiny_models import SENTENCES, tiny_encoder

XLM = "xlm-roberta-large"
NAME = "runs_bertscore(layer=2,rescale=false)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny", "roberta", layers=3)


@pytest.fixture
def models(folder: str) -> Models:
    return Models(ModelOptions({XLM: folder}))


def group(*answers: str | None) -> Sample:
    runs = tuple(Sample(id="q", repeat=at, answer=text) for at, text in enumerate(answers))
    return Sample(id="q", runs=runs)


def test_each_pair_has_its_bertscore_and_each_answer_is_encoded_once(models: Models) -> None:
    answers = SENTENCES[:5]
    window = Window([group(*answers), group(*answers[:3])], models=models)
    encoder = models.use(Encoder, Weights.parse(XLM), 2)
    found = {part: window.outcomes(naming.parse(f"{NAME}.{part}")) for part in ("f", "p", "r")}
    assert encoder.n_encoded == len(answers)
    pairs = [(later, earlier) for earlier, later in combinations(answers, 2)]
    expected = compare(encoder, pairs)
    for part, (first, second) in found.items():
        assert isinstance(first, Score) and isinstance(second, Score)
        values = [getattr(match, part) for match in expected]
        assert first.parts["values"] == pytest.approx(values, abs=1e-6)
        assert first.value == pytest.approx(sum(values) / len(values), abs=1e-6)
        assert second.parts["pairs"] == [[0, 1], [0, 2], [1, 2]]


def test_empty_answers_cannot_be_compared_with_each_other(models: Models) -> None:
    window = Window([group("", " ", "x"), group("", "")], models=models)
    some, none = naming.parse(NAME).score_window(window)
    long = Window([group("a " * 999, "b", "c")], models=models)
    [cut] = long.outcomes(naming.parse(NAME))
    assert "answers longer than the model takes were cut" in cut.explanation
    assert some.parts["values"] == [None, 0.0, 0.0]
    assert isinstance(none, Unscored) and none.reason == "empty_answer"


def test_a_run_with_a_local_model_end_to_end(folder: str, tmp_path: Path) -> None:
    lines = [
        {"id": f"q{query}", "repeat": repeat, "answer": SENTENCES[(query + repeat) % 7]}
        for repeat in range(3)
        for query in range(4)
    ]
    data = jsonl(tmp_path / "data.jsonl", *lines)
    result = ragassay.evaluate(
        data, "consistency", models={XLM: folder}, options={"layer": 2, "rescale": False},
        save=tmp_path / "run",
    )  # fmt: skip
    assert result.consistency is not None
    (name,) = (n for n in result.consistency.summary.metrics if n.startswith("consistency_bert"))
    assert name == "consistency_bert_score(layer=2,rescale=false)"
    one = result.consistency.summary.metrics[name]
    assert one.n_scored == 4 and f"|model={XLM}#" in one.signature
    again = ragassay.open_run(tmp_path / "run" / "consistency")
    assert rescore(again).different == ()
    row = next(row for row in again.scores if row.metric == name)
    assert len(row.parts["values"]) == 3


def test_a_layer_that_the_model_does_not_have_leaves_the_rest(models: Models) -> None:
    window = Window([group("a b", "a b")], models=models)
    found = window.outcomes(naming.parse("runs_bertscore(rescale=false)"))[0]  # layer 17
    assert isinstance(found, Unscored) and found.reason == "failed"
    assert window.outcomes(naming.parse("runs_rougeL"))[0].value == 1.0


def test_a_pair_with_an_empty_answer_says_that_its_raw_value_is_0(models: Models) -> None:
    name = "runs_bertscore(layer=2,rescale=false)"
    (plain,) = naming.parse(name).score_window(Window([group("", "a", "b")], models=models))
    assert isinstance(plain, Score)
    assert "in 2 of 3 pairs one answer is empty: a raw BERTScore of 0" in plain.explanation
    (scaled,) = naming.parse("runs_bertscore(layer=2)").score_window(
        Window([group("", "a")], models=models)
    )
    assert isinstance(scaled, Score) and isinstance(scaled.value, float)
    assert scaled.value < 0 and f"{scaled.value:.2f} on this scale" in scaled.explanation
