"""``ragassay models``: what there is, fetching it, trying it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny_hhem
from hub_server import HubServer
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.engine.models import model_survey
from ragassay.engine.models.model_survey import check, survey
from ragassay.models.classifiers.hhem import FOUNDATION, HHEM
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.fetching import needed, readable
from ragassay.models.weights.weight_files import (
    KNOWN,
    PINNED,
    KnownModel,
    Unavailable,
    Weights,
    folder_of,
    identity,
    is_path,
    missing_folder,
    place_of,
)
from ragassay.reports.views import catalogue_view

NEEDS = "the extra 'models' is not installed"


def test_the_page_lists_every_model_with_its_commit_licence_and_size() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    form = r"(?m)^\| `([^`]+/[^`]+|xlm[^`]+)` \| `(\w+)` \| .+ \| (.+) \| (.+) \|$"
    rows = re.findall(form, page)
    told = {name: tuple(rest) for name, *rest in rows}
    for name, commit in PINNED.items():
        assert re.fullmatch(r"[0-9a-f]{40}", commit), name
        assert KNOWN[name].licence and KNOWN[name].size and KNOWN[name].what, name
    assert told == {
        name: (commit, KNOWN[name].licence, readable(KNOWN[name].size))
        for name, commit in PINNED.items()
    }


def test_the_list_says_what_each_is_for_and_that_it_is_not_here(outside: dict[str, str]) -> None:
    code, said = run(outside, "models", "--json")
    assert code == 0
    told = {one["name"]: one for one in json.loads(said)}
    assert set(PINNED) <= set(told)
    hhem = told[HHEM.name]
    assert hhem["commit"] == HHEM.revision and hhem["licence"] == "Apache-2.0"
    assert hhem["metrics"]["hhem"] == ["trecrag"] and hhem["metrics"]["hhem_windows"] == []
    assert hhem["needs"] == [FOUNDATION.name] and not hhem["here"]
    assert hhem["problem"] and hhem["folder"] is None
    embedder = told["sentence-transformers/all-MiniLM-L6-v2"]["metrics"]
    assert {"answer_similarity", "ChunkR(by=cosine)@5", "recall_at_k_similarity@5"} <= set(embedder)
    assert all(one["metrics"] for one in told.values()), "what nothing uses need not be listed"
    text = " ".join(run(outside, "models")[1].split())
    assert "answer_similarity" in text and "ChunkR(by=cosine)@5" in text
    assert HHEM.revision in text and "439 MB" in text and "hhem (trecrag)" in text
    unknown = model_survey.Surveyed("a/b", "", KnownModel("", "", 0), {}, None, False, 0, "lost")
    (row,) = catalogue_view.models_report([unknown]).blocks[0].rows
    assert row.cells[1].below == ("licence ?, ?", "not here")


def test_a_named_folder_is_shown_with_what_lies_in_it(tmp_path: Path, capsys) -> None:
    pytest.importorskip("torch", reason=NEEDS)
    folders = tiny_hhem.save_all(tmp_path)
    whole = sum(path.stat().st_size for path in (tmp_path / "hhem").iterdir())
    (tmp_path / "hhem" / ".cache").mkdir()  # of a download, for its own use
    (tmp_path / "hhem" / ".cache" / "a.lock").write_text("x")
    (one,) = (found for found in survey(folders) if found.name == HHEM.name)
    assert one.given and not one.problem and one.folder == tmp_path / "hhem"
    assert one.size == whole
    (tmp_path / "hhem" / "model.safetensors").unlink()
    assert call(["models", "--model", f"{HHEM.name}={tmp_path / 'hhem'}"]) == 0
    assert "holds no weights" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("there", "wanted"), [
    (["README.md", "config.json", "model.safetensors", "modeling_x.py", "pytorch_model.bin",
      "tokenizer.json", "tf_model.h5", "onnx/model.onnx"],
     {"config.json", "model.safetensors", "tokenizer.json"}),
    (["config.json", "pytorch_model.bin", "tf_model.h5", "vocab.json", "bpe_encoder.bin"],
     {"config.json", "pytorch_model.bin", "vocab.json"}),
    (["config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
      "model-00002-of-00002.safetensors", "pytorch_model-00001-of-00001.bin"],
     {"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
      "model-00002-of-00002.safetensors"}),
    (["config.json", "pytorch_model.bin.index.json", "pytorch_model-00001-of-00001.bin"],
     {"config.json", "pytorch_model.bin.index.json", "pytorch_model-00001-of-00001.bin"}),
    (["modules.json", "config.json", "model.safetensors", "1_Pooling/config.json",
      "2_Dense/config.json", "2_Dense/model.safetensors", "2_Dense/pytorch_model.bin",
      "openvino/config.json", "1_Pooling/run.py"],
     {"modules.json", "config.json", "model.safetensors", "1_Pooling/config.json",
      "2_Dense/config.json", "2_Dense/model.safetensors"}),
], ids=["safetensors", "pickled", "pieces", "pickled pieces", "steps"])  # fmt: skip
def test_only_what_a_model_needs_is_fetched_and_never_its_code(there, wanted: set[str]) -> None:
    found = needed(there)
    assert set(found) == wanted and len(found) == len(wanted)
    assert not any(name.endswith(".py") for name in found)
    there = ["config.json", "model.safetensors", "tokenizer.json", "spiece.model", "README.md"]
    assert {*needed(there, tokenizer=True)} == {"config.json", "tokenizer.json", "spiece.model"}


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    pytest.importorskip("torch", reason=NEEDS)
    pytest.importorskip("huggingface_hub", reason=NEEDS)
    place = tmp_path_factory.mktemp("published")
    tiny_hhem.save_all(place)
    code = {"modeling_hhem_v2.py": b"raise SystemExit('was run')", "README.md": b"# HHEM"}
    shown = {"config.json": b"{}", "README.md": b"nothing else"}
    with HubServer(
        {
            HHEM.name: (HHEM.revision, held(place / "hhem") | code),
            FOUNDATION.name: (FOUNDATION.revision, held(place / "flan") | {"tf_model.h5": b"no"}),
            "owner/unpinned": ("a" * 40, held(place / "hhem")), "owner/empty": ("b" * 40, shown),
            "owner/gated": ("c" * 40, shown),
        }, gated=("owner/gated",),
    ) as server:  # fmt: skip
        yield server


@pytest.fixture
def outside(hub: HubServer, tmp_path: Path) -> dict[str, str]:
    """The environment of a machine with an empty cache, and that hub for the hub."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS_"))}
    hub.asked.clear()
    return {
        **kept, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.url, "NO_PROXY": "127.0.0.1",
        "OMP_NUM_THREADS": "2",
    }  # fmt: skip


def run(environment: dict[str, str], *words: str) -> tuple[int, str]:
    """The command in a process of its own: the hub's package reads its settings once."""
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", *words], env=environment, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "defect" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_a_fetched_model_is_found_in_the_cache_and_works_offline(hub, outside, tmp_path) -> None:
    code, said = run(outside, "models", "fetch", HHEM.name)
    assert code == 0, said
    assert f"{HHEM.name}@{HHEM.revision[:12]} is here" in said
    assert set(hub.asked) == {
        f"{HHEM.name}:config.json", f"{HHEM.name}:model.safetensors",
        f"{FOUNDATION.name}:config.json", f"{FOUNDATION.name}:tokenizer.json",
    }  # fmt: skip
    n = len(hub.asked)
    offline = {**outside, "HF_HUB_OFFLINE": "1"}
    code, said = run(offline, "models", "fetch", HHEM.name)
    assert code == 0 and "was here" in said and len(hub.asked) == n
    code, said = run(offline, "models", "--json")
    (one,) = (found for found in json.loads(said) if found["name"] == HHEM.name)
    assert one["here"] and HHEM.revision in one["folder"] and not one["named"]
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": "1", "answer": "Iron [1].", "passages": ["Iron is heavy."]}))
    code, said = run(offline, "run", str(data), "-m", "hhem,hhem_windows", "--json")
    assert code == 0, said
    metrics = json.loads(said)["metrics"]
    assert metrics["hhem"]["n_scored"] == metrics["hhem_windows"]["n_scored"] == 1
    assert f"model={HHEM}" in metrics["hhem"]["signature"]


def test_fetched_into_a_folder_it_can_be_copied_and_named(hub, outside, tmp_path) -> None:
    place = tmp_path / "copied" / "hhem"
    code, said = run(outside, "models", "fetch", HHEM.name, "-o", str(place))
    assert code == 0 and f"--model {HHEM.name}={place}" in said
    names = {path.name for path in place.iterdir() if not path.name.startswith(".")}
    assert names == {"config.json", "model.safetensors", "tokenizer.json"}
    assert "HHEMv2Config" in (place / "config.json").read_text(), "the model's own, not another's"
    cache = tmp_path / "home" / "hub"
    assert not cache.exists() or not any(cache.iterdir())


@pytest.mark.parametrize(("words", "says"), [
    (["owner/nothing"], "There is no model 'owner/nothing' at http"),
    (["owner/gated"], "agreed to its terms"), (["owner/empty"], "holds no weights"),
    (["not a name"], "is not the name of a model"),
    ([f"{HHEM.name}@{'d' * 40}"], f"has no commit '{'d' * 40}'"),
], ids=["unknown", "gated", "no weights", "no name", "no commit"])  # fmt: skip
def test_what_cannot_be_fetched_is_one_sentence(outside, words: list[str], says: str) -> None:
    code, said = run(outside, "models", "fetch", *words)
    assert code == 2 and says in " ".join(said.split())


def test_without_a_network_the_sentence_says_what_else_can_be_done(outside: dict[str, str]) -> None:
    code, said = run({**outside, "HF_ENDPOINT": "http://127.0.0.1:9"}, "models", "fetch", HHEM.name)
    assert code == 2 and "cannot be reached" in said and f"--model {HHEM.name}=FOLDER" in said
    code, said = run({**outside, "HF_HUB_OFFLINE": "1"}, "models", "fetch", HHEM.name)
    assert code == 2 and "HF_HUB_OFFLINE forbids" in said and "--output FOLDER" in said


def test_without_the_package_fetching_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setattr("ragassay.models.weights.fetching.find_spec", lambda name: None)
    assert call(["models", "fetch", HHEM.name]) == 2
    assert "pip install 'ragassay[models]'" in capsys.readouterr().err


def named(folders: dict[str, str]) -> list[str]:
    return [word for name, place in folders.items() for word in ("--model", f"{name}={place}")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("torch", reason=NEEDS)
    return tiny_hhem.save_all(tmp_path_factory.mktemp("models"))


def test_weights_that_give_the_published_scores_are_ok(folders, monkeypatch, capsys) -> None:
    from ragassay.models.classifiers.hhem import HhemModel

    assert call(["models", "check", HHEM.name, *named(folders), "--device", "cpu"]) == 3
    assert "says 0.8969: these are other weights" in capsys.readouterr().out
    model = HhemModel(ModelOptions(folders))
    pairs = [(source, text) for source, text, _ in KNOWN[HHEM.name].examples]
    examples = [(*pair, value) for pair, value in zip(pairs, model.scores(pairs), strict=True)]
    # In single precision up to 0.001 off, in half up to 0.03; all of them, and each has a score.
    for off, dtype, more, says in (
        (9e-4, "float32", (), "ok: hhem 0."), (2e-3, "float32", (), "not usable: loads and"),
        (2e-3, "float16", (), "ok: hhem 0."), (4e-2, "float16", (), "not usable: loads and"),
        (0, "", [("Rain.", "", 0.5)], "not usable: the answer is empty"),
    ):  # fmt: skip
        published = [(*pair, value + off) for *pair, value in examples]
        theirs = KnownModel("", "", 1, examples=[*published, *more])
        monkeypatch.setattr(model_survey, "facts", lambda weights, theirs=theirs: theirs)
        words = ["models", "check", HHEM.name, *named(folders), "--device", "cpu"]
        assert call([*words, *(["--dtype", dtype] if off else [])]) == (0 if "ok" in says else 3)
        assert f"{HHEM.name}: {says}" in capsys.readouterr().out


def test_what_is_broken_is_said_and_the_exit_code_tells(tmp_path: Path, capsys) -> None:
    pytest.importorskip("torch", reason=NEEDS)
    folders = tiny_hhem.save_all(tmp_path)
    (tmp_path / "hhem" / "model.safetensors").write_bytes(b"")
    assert call(["models", "check", *named(folders)]) == 3
    out = capsys.readouterr().out
    assert f"{HHEM.name}: not usable:" in out and "cannot be read" in out
    assert f"{FOUNDATION.name}: ok" in out


def test_where_there_is_no_model_and_where_no_metric_uses_it(monkeypatch, capsys) -> None:
    with pytest.raises(UsageError, match=r"Did you mean.*hallucination_evaluation_model"):
        check("vectara/hallucination-evaluation-model", ModelOptions())
    monkeypatch.setattr(model_survey, "survey", lambda folders: [])
    assert call(["models", "check"]) == 3
    assert "No model is on this machine" in capsys.readouterr().out


def test_a_model_is_known_by_its_commit_or_by_what_lies_in_its_folder(tmp_path: Path) -> None:
    assert identity(HHEM, {}) == f"{HHEM.name}@{HHEM.revision[:12]}"

    def known(name: str, numbers: bytes, *more: str) -> str:
        place = tmp_path / name
        for file in ("config.json", *more):
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text("{}")
        (place / "model.safetensors").write_bytes(numbers)
        return identity(HHEM, {HHEM.name: str(place)})

    one = known("one", b"1234")
    assert re.fullmatch(r"hallucination_evaluation_model#[0-9a-f]{12}", one)
    assert known("copy", b"1234", ".cache/huggingface/when.json", "README.md") == one
    assert known("other", b"1235") != one
    assert known("more", b"1234", "tokenizer.json") != one
    assert known("named", b"1234", "vocab.json") != known("otherwise", b"1234", "merge.json")
    at = tmp_path / "a@b"
    at.mkdir()
    assert Weights.parse(str(at)) == Weights(str(at)) and missing_folder(str(at)) == ""
    assert Weights.parse("x/y@abc") == Weights("x/y", "abc") and missing_folder("x/y") == ""
    for name in (HHEM.name, f"{HHEM.name}@{HHEM.revision[:12]}", f"{HHEM.name}@{HHEM.revision}"):
        assert place_of(HHEM, {name: str(at)}) == at, "with the commit, short or complete"
    paths = ("./a", "/a", "~/a", ".\\a", "\\a", "C:\\a", "d:/a", "a/b/c", "a\\b\\c", "a/", "a\\")
    assert [name for name in paths if not is_path(name)] == []
    assert not any(map(is_path, ("a", "a/b", "http://a/v1#m", "openai:a/b/")))


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason=NEEDS)
    lone = Weights("nobody/has-this", "a" * 40)
    with pytest.raises(Unavailable, match=r"ragassay models fetch nobody/has-this.*=FOLDER"):
        folder_of(lone, {})
    with pytest.raises(Unavailable, match="is not a folder"):
        folder_of(lone, {"nobody/has-this": str(tmp_path / "x")})
    models = Models(ModelOptions({HHEM.name: str(tmp_path)}))
    from ragassay.models.classifiers.hhem import HhemModel

    for _ in range(2):
        with pytest.raises(Unavailable, match=r"holds no config\.json"):
            models.use(HhemModel)
