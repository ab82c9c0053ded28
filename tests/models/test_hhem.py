"""HHEM: the model by its weights' names, and the two metrics that it measures."""

import csv
import json
import re
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as drawn, settings, strategies as st

import ragassay
import tiny_hhem
from json_lines import jsonl
from ragassay import Reason
from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Score, Unscored
from ragassay.cli.command_line import call
from ragassay.metrics.core.metric import Window
from ragassay.metrics.grounding.hallucination import Hhem, HhemWindows
from ragassay.models.classifiers.hhem import HHEM, PROMPT, SHAPE, HhemModel, windows
from ragassay.models.device import Batches, threads
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable

NEEDS = "the extra 'models' is not installed"
PASSAGES = (Passage("Iron is heavy.", id="[1]"), Passage("Wool is light.", id="[2]"))


def sample(answer: Any = "Iron is heavy [1]. Wool too [2].", **more: Any) -> Sample:
    base = {"id": "q1", "query": "What is heavy?", "passages": PASSAGES, "answer": answer}
    return Sample(**(base | more))


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch", reason=NEEDS)
    pytest.importorskip("transformers", reason=NEEDS)
    found.set_num_threads(2)
    return found


@pytest.fixture(scope="module")
def folders(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return tiny_hhem.save_all(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def models(folders: dict[str, str]) -> Models:
    return Models(ModelOptions(folders))


@pytest.fixture(scope="module")
def model(models: Models) -> HhemModel:
    return models.use(HhemModel)


def scored(metric: Hhem | HhemWindows, models: Models, *samples: Sample) -> list[Any]:
    return list(metric.score_window(Window(samples, models=models)))


def test_the_prompt_is_the_published_one_to_the_letter() -> None:
    begin = "<pad> Determine if the hypothesis is true given the premise?"
    assert PROMPT.format(text1="A", text2="B") == f"{begin}\n\nPremise: A\n\nHypothesis: B"


def test_flan_t5_base_has_as_many_parameters_as_the_published_model(torch: Any) -> None:
    from transformers import T5Config, T5ForTokenClassification

    with torch.device("meta"):
        model = T5ForTokenClassification(T5Config(**SHAPE, num_labels=2))
    assert sum(one.numel() for one in model.parameters()) == 109_630_082


def test_scores_equal_the_librarys_own_forward_on_the_same_weights(torch, model, folders) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(folders["google/flan-t5-base"]) / "tokenizer.json"))
    plain = tiny_hhem.plain()
    pairs = [("Iron is heavy.", "Iron is light."), ("Wool {is} light", "a {text1}"), ("", "x" * 90)]
    expected = []
    for source, text in pairs:
        ids = torch.tensor([tokenizer.encode(PROMPT.format(text1=source, text2=text)).ids])
        with torch.no_grad():
            expected.append(torch.softmax(plain(input_ids=ids).logits[0, 0], -1)[1].item())
    assert model.scores(pairs) == pytest.approx(expected, abs=1e-6)
    assert len({round(value, 3) for value in expected}) == len(pairs), "they can be told apart"


CARD = [
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0110615),
    ("I am in California", "I am in United States.", 0.6473632),
    ("I am in United States", "I am in California.", 0.1290172),
    ("A person on a horse jumps over a broken down airplane.",
     "A person is outdoors, on a horse.", 0.8969419),
    ("A boy is jumping on skateboard in the middle of a red bridge.",
     "The boy skates down the sidewalk on a red bridge", 0.1846249),
    ("A man with blond-hair, and a brown shirt drinking out of a public water fountain.",
     "A blond man wearing a brown shirt is reading a book.", 0.0050310),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543235),
]  # fmt: skip
"""Pairs and scores of the model's own page."""


def test_the_published_model_gives_the_scores_of_its_page(torch: Any) -> None:
    try:
        published = HhemModel(ModelOptions(device="cpu"))
    except Unavailable as error:
        pytest.skip(f"the published weights are not here: {error}")
    found = published.scores([(source, text) for source, text, _ in CARD])
    assert found == pytest.approx([score for *_, score in CARD], abs=1e-3)


ROUNDING = 1e-5
"""What a batch may move a score by in single precision, as docs/models.md says: where texts are
padded, sums are added in another order."""


@settings(max_examples=6)
@drawn(
    st.lists(
        st.tuples(st.integers(0, 15), st.integers(0, 6), st.sampled_from(["Iron", "abc", "Wool"])),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([None, 1, 3]),
)
def test_a_score_depends_on_its_batch_by_rounding_only(torch, model, found, size) -> None:
    pairs = [(f"{word} is heavy. " * n, f"{word} is light. " * m) for n, m, word in found]
    alone = [model.scores([pair])[0] for pair in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_batches", Batches(torch.device("cpu"), size))
        together = model.scores([*pairs, *pairs])
    assert together == pytest.approx(alone * 2, abs=ROUNDING, rel=0)


def test_no_code_of_the_checkpoint_is_run(folders: dict[str, str], tmp_path: Path) -> None:
    place = tiny_hhem.save_hhem(tmp_path / "hhem")
    told = json.loads((place / "config.json").read_text())
    told["auto_map"] = {"AutoConfig": "configuration_hhem_v2.HHEMv2Config"}
    (place / "config.json").write_text(json.dumps(told))
    (place / "configuration_hhem_v2.py").write_text("raise SystemExit('was run')\n")
    HhemModel(ModelOptions({**folders, HHEM.name: str(place)}))


def refusal(place: Path, folders: dict[str, str]) -> str:
    with pytest.raises(Unavailable) as caught:
        HhemModel(ModelOptions({**folders, HHEM.name: str(place)}))
    return str(caught.value)


NAME = "t5.transformer.encoder.block.1.layer.0.SelfAttention.k.weight"
SHARED = "t5.transformer.shared.weight"
OTHER = "t5.transformer.encoder.embed_tokens.weight"


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda w: w.pop(NAME), f'Missing key(s) in state_dict: "{NAME}"'),
    (lambda w: w.update({"t5.more": w[NAME]}), 'Unexpected key(s) in state_dict: "t5.more"'),
    (lambda w: w.update({NAME: w[NAME][:-1].clone()}), f"size mismatch for {NAME}"),
    (lambda w: w.update({NAME: w[NAME].int()}), f"{NAME} holds torch.int32"),
    (lambda w: w.update({OTHER: w[SHARED] + 1}), "differ, and must be one"),
], ids=['missing', 'extra', 'shape', 'whole numbers', 'two'])  # fmt: skip
def test_a_weight_that_does_not_fit_is_named(folders, tmp_path, spoil, says: str) -> None:
    weights = tiny_hhem.tensors()
    spoil(weights)
    said = refusal(tiny_hhem.save_hhem(tmp_path / "hhem", weights), folders)
    assert says in said and "ragassay models fetch" in said


@pytest.mark.parametrize(("name", "text", "says"), [
    ("model.safetensors", "no tensors", "cannot be read"),
    ("model.safetensors", None, "holds no weights"),
    ("config.json", None, "holds no config.json"), ("config.json", "{", "config.json is damaged"),
    ("config.json", '{"foundation": "google/t5-v1_1-xl"}', "another prompt or foundation"),
    ("config.json", '{"prompt": "{text1}?"}', "another prompt"),
    ("tokenizer.json", "{", "tokenizer.json is damaged"),
])  # fmt: skip
def test_a_folder_that_is_no_hhem_says_what_is_wrong(folders, tmp_path, name, text, says) -> None:
    place = tiny_hhem.save_hhem(tmp_path / "hhem")
    (place / name).unlink() if text is None else (place / name).write_text(text)
    assert says in refusal(place, folders)


def test_without_a_tokenizer_it_says_whose_is_needed(folders: dict[str, str], tmp_path) -> None:
    lone = {HHEM.name: folders[HHEM.name], "google/flan-t5-base": str(tmp_path / "nowhere")}
    with pytest.raises(Unavailable, match=r"tokenizer is missing.*not a folder"):
        HhemModel(ModelOptions(lone))
    (tmp_path / "nowhere").mkdir()
    with pytest.raises(Unavailable, match=r"holds no tokenizer\.json of google/flan-t5-base"):
        HhemModel(ModelOptions(lone))


def test_half_precision_is_near(model: HhemModel, folders: dict[str, str]) -> None:
    pairs = [("Iron is heavy.", "Wool is light."), ("Iron is heavy.", "Iron is heavy.")]
    pairs += [("", ""), ("Iron is heavy. " * 60, "Wool is light. " * 20)]
    low = HhemModel(ModelOptions(folders, device="cpu", dtype="float16")).scores(pairs)
    assert low == pytest.approx(model.scores(pairs), abs=0.01)
    assert low != model.scores(pairs)


@drawn(
    st.lists(st.sampled_from(["a", "bb", " ", "\n", "ccccc "]), min_size=1, max_size=60),
    st.integers(1, 12),
    st.data(),
)
def test_windows_hold_every_token_and_none_too_many(pieces: list[str], size: int, data) -> None:
    text = "".join(pieces)
    tokens = [found.span() for found in re.finditer(r"\s*\S{1,2}", text)]
    found = windows(text, tokens, size, data.draw(st.integers(0, size // 2)))
    for start, end in found:
        assert 1 <= sum(start <= a and b <= end for a, b in tokens) <= size
    for a, b in tokens:
        assert any(start <= a and b <= end for start, end in found)
    assert found == sorted(set(found)), "each begins and ends behind the one before it"


def test_windows_are_as_long_as_they_may_be_share_the_overlap_and_end_between_words() -> None:
    def cut(text: str, size: int, overlap: int) -> list[str]:
        tokens = [found.span() for found in re.finditer(r"\s*\S", text)]
        return [text[start:end] for start, end in windows(text, tokens, size, overlap)]

    assert cut("a b c d e f g h", 4, 1) == ["a b c d", " d e f g", " g h"]
    assert cut("abcd efg", 6, 0) == ["abcd", " efg"]
    assert cut("ab cdefghi", 6, 0) == ["ab cdef", "ghi"], "no word begins in its second half"
    assert cut("ab cdefgh ijkl", 8, 3) == ["ab cdefgh", "fgh ijkl"]


def test_the_passages_are_joined_and_cut_and_the_answer_is_not(model, models: Models) -> None:
    assert Hhem().max_chars == 8192, "as published"
    long = Passage("Iron is heavy. " * 20)
    answer = " ".join(["Wool is light [1]."] * 30)
    (found,) = scored(Hhem(max_chars=200), models, sample(answer, passages=(PASSAGES[1], long)))
    source = f"Wool is light. {long.text}"
    said = " ".join(["Wool is light", *[". Wool is light"] * 29])
    assert len(said) > 200 and len(source) > 200
    assert found.value == pytest.approx(model.scores([(source[:200], said)])[0], abs=1e-6)
    assert found.parts == {"source_characters": len(source), "read_characters": 200}
    assert found.explanation == "the passages were cut at 200 of 315 characters"
    (whole,) = scored(Hhem(max_chars=29), models, sample())
    assert whole.parts["read_characters"] == 29 and not whole.explanation
    (short,) = scored(Hhem(max_chars=14), models, sample())
    assert short.value == pytest.approx(
        model.scores([("Iron is heavy.", "Iron is heavy . Wool too")])[0], abs=1e-6
    )


def test_a_value_in_the_record_comes_first_unless_it_is_not_wanted(model, models: Models) -> None:
    brought = sample(given={"hhem_score": 0.9})
    (taken,) = scored(Hhem(), models, brought)
    assert taken == Score(0.9, explanation="read from the record", given=True)
    (measured,) = scored(Hhem(given=False), models, brought)
    assert not measured.given and measured.value != 0.9
    assert Hhem().score(sample(passages=None, given={"hhem": 0.4, "hhem_score": 1})).value == 0.4  # type: ignore[union-attr]
    assert str(Hhem(given=False)) == "hhem(given=false)"
    wrong = Hhem().score(sample(passages=None, given={"hhem": 7}))
    assert isinstance(wrong, Unscored) and "the given hhem holds 7" in wrong.detail


@pytest.mark.parametrize("metric", [Hhem(), HhemWindows()], ids=str)
@pytest.mark.parametrize(("lacking", "reason", "says"), [
    (sample(None), Reason.MISSING_INPUT, "no answer"),
    (sample(""), Reason.EMPTY_ANSWER, "answer is empty"),
    (sample("[1]"), Reason.EMPTY_ANSWER, "answer is empty"),
    (sample(passages=None), Reason.MISSING_INPUT, "no retrieved passages"),
    (sample(passages=()), Reason.NOTHING_RETRIEVED, "nothing was retrieved"),
    (sample(passages=(Passage(id="x"),)), Reason.MISSING_INPUT, "passage 1 has no text"),
    (sample(passages=(Passage(" "), Passage("\n"))), Reason.NOTHING_RETRIEVED, "empty texts"),
])  # fmt: skip
def test_what_cannot_be_scored_says_why_and_needs_no_model(metric, lacking, reason, says) -> None:
    found = metric.score(lacking)
    assert isinstance(found, Unscored) and found.reason is reason and says in found.detail


def test_numbers_that_overflow_are_no_score(torch, model, models: Models, monkeypatch) -> None:
    plain = model.scores
    with monkeypatch.context() as patch:
        nowhere = SimpleNamespace(logits=torch.tensor([[[0.0, float("nan")]], [[0.0, 0.0]]]))
        patch.setattr(model, "_model", lambda **inputs: nowhere)
        assert plain([("a long source", "b"), ("a", "b")]) == [None, 0.5]
    monkeypatch.setattr(model, "scores", lambda *a, **b: [None, *plain(*a, **b)[1:]])
    for metric in (Hhem(), HhemWindows()):
        first, *rest = scored(metric, models, sample(), sample())
        assert isinstance(first, Unscored) and first.reason is Reason.FAILED
        assert "use --dtype float32" in first.detail
        assert metric.name == "hhem_windows" or isinstance(rest[0], Score)
    (wordless,) = scored(HhemWindows(), models, sample("?! [1]"))
    assert isinstance(wordless, Unscored) and wordless.reason is Reason.EMPTY_ANSWER


def test_two_threads_are_used_and_given_back(torch, model, models: Models, monkeypatch) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    seen: list[int] = []
    monkeypatch.setattr(model, "_forward", lambda tokens: seen.append(torch.get_num_threads()))
    with pytest.raises(TypeError):
        scored(Hhem(), models, sample())
    assert (seen, torch.get_num_threads()) == ([2], 3)
    with threads(9):
        assert torch.get_num_threads() == 3, "a limit, and no wish for more"
    torch.set_num_threads(before)


def test_each_sentence_counts_with_the_window_that_bears_it_out_best(model, models: Models) -> None:
    (found,) = scored(HhemWindows(), models, sample("Iron is heavy [1]. Is wool of iron? Yes [2]."))
    sentences = ["Iron is heavy.", "Is wool of iron?", "Yes."]
    texts = [str(passage.text) for passage in PASSAGES]
    table = [model.scores([(text, sentence) for text in texts]) for sentence in sentences]
    best = [max(value for value in row if value is not None) for row in table]
    assert found.value == pytest.approx(sum(best) / 3, abs=1e-6)
    assert found.parts["minimum"] == pytest.approx(min(best), abs=1e-6)
    told = found.parts["sentences"]
    assert [one["text"] for one in told] == sentences
    for one, row in zip(told, table, strict=True):
        assert one["passage"] == f"[{row.index(max(v for v in row if v is not None)) + 1}]"
    assert sentences[best.index(min(best))] in found.explanation


def test_a_long_passage_is_read_to_its_end_and_the_window_can_be_found_in_it(model, models) -> None:
    text = f"{'Wool is light. ' * 40}Iron is heavy."
    metric = HhemWindows(window=16)
    (found,) = scored(metric, models, sample("Iron is heavy.", passages=(Passage(text, id="p"),)))
    spans = model.windows(text, 16, 4)
    values = [model.scores([(text[a:b], "Iron is heavy.")])[0] for a, b in spans]
    assert spans[-1][1] == len(text) and found.parts["windows"] == len(spans) > 10
    assert all(spans[at][1] > spans[at + 1][0] for at in range(len(spans) - 1))
    (one,) = found.parts["sentences"]
    assert found.value == pytest.approx(max(v for v in values if v is not None), abs=1e-6)
    assert (one["start"], one["end"]) in spans and one["passage"] == "p"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    passages = [{"id": one.id, "text": one.text} for one in PASSAGES]
    asked = {"query": "What is heavy?", "passages": passages}
    rows = [{"id": f"q{n}", **asked, "answer": f"Iron {n} [1]."} for n in range(3)]
    return jsonl(tmp_path / "data.jsonl", *rows)


def test_the_suite_has_hhems_column_with_a_folder(data, folders, tmp_path, capsys) -> None:
    named = [word for name, place in folders.items() for word in ("--model", f"{name}={place}")]
    out = tmp_path / "run"
    assert call(["run", str(data), "--suite", "trecrag", *named, "-o", str(out), "--json"]) == 0
    metric = json.loads(capsys.readouterr().out)["metrics"]["hhem"]
    assert metric["n_scored"] == 3 and 0 < metric["mean"] < 1
    for name in folders:
        assert f"model={name.split('/')[1]}#" in metric["signature"]
    assert call(["report", str(out), "--format", "trecrag"]) == 0
    with (out / "trecrag.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert all(0 < float(row["generation_score_hallucination_score"]) < 1 for row in rows)


def test_without_the_model_all_else_is_computed(data: Path, tmp_path: Path, monkeypatch) -> None:
    with suppress(ImportError):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    result = ragassay.evaluate(str(data), "trecrag")
    metrics = result.summary.metrics
    assert metrics["hhem"].unscored == {"needs_extra": 3} and result.summary.incomplete == 0
    assert metrics["umbrela"].n_scored == metrics["citation.f1"].n_scored == 3
    (said,) = {row.explanation for row in result.scores if row.metric == "hhem"}
    assert "is not on this machine" in said or "pip install 'ragassay[models]'" in said
