"""The pipelines that UltraRAG's page prints run as printed, and its published values come out."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ragassay.cli.command_line import call

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ultrarag"

EVALUATE_RESULTS = {
    "acc": [0, 0], "em": [0, 0], "stringem": [0, 0], "coverem": [0, 0], "f1": [4 / 7, 0],
    "rouge-1": [4 / 7, 0], "rouge-2": [0, 0], "rouge-l": [0.4, 0],
}  # fmt: skip
"""What UltraRAG's code gives for the two records of the page."""


@pytest.fixture
def page(shared: Path) -> str:
    return (shared / "spec" / "ultrarag-evaluation.md").read_text(encoding="utf-8")


def printed(page: str, path: str) -> str:
    """A file that the page prints."""
    found = re.search(rf"```yaml {re.escape(path)} [^\n]*\n(.*?)```", page, re.DOTALL)
    assert found, path
    return found[1]


def place(page: str, folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(printed(page, path), encoding="utf-8")


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "data").mkdir()
    return here


def test_a_run_is_evaluated(page: str, folder: Path, shared: Path, capsys) -> None:
    for name in ("qrels.test", "results.test"):
        shutil.copy(shared / "data" / "trec_eval" / name, folder / "data" / name)
    place(page, folder, "examples/eval_trec.yaml")
    assert call(["build", "examples/eval_trec.yaml"]) == 0
    # A person edits the file: the page prints it with the old lines and the new ones.
    place(page, folder, "examples/parameters/eval_trec_parameter.yaml")
    assert call(["run", "examples/eval_trec.yaml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.partition("\n")[2])["eval_res"]
    assert found["map"] == pytest.approx(0.178545, abs=5e-7)
    assert found["ndcg@20"] == pytest.approx(0.352543, abs=5e-7)
    assert json.loads((folder / "output" / "evaluate_results.json").read_text()) == found


def test_two_runs_are_tested(page: str, folder: Path, shared: Path, capsys) -> None:
    place(
        page, folder,
        "examples/eval_trec_pvalue.yaml", "examples/parameters/eval_trec_pvalue_parameter.yaml",
    )  # fmt: skip
    given = {"qrels.test": "qrels.txt", "results.test": "run_a.txt", "results.trunc": "run_b.txt"}
    for name, printed_name in given.items():
        shutil.copy(shared / "data" / "trec_eval" / name, folder / "data" / printed_name)
    assert call(["run", "examples/eval_trec_pvalue.yaml"]) == 0
    found = json.loads((folder / "output" / "evaluate_results.json").read_text())
    assert found["map"]["B_mean"] == pytest.approx(0.1016, abs=5e-5)
    assert len(found) == 20
    table = capsys.readouterr().out
    assert re.search(r"^ *map +0\.1785 +0\.1016 +0\.0770 +1\.0000 +no", table, re.MULTILINE)


def test_results_that_exist_are_evaluated(page: str, folder: Path, capsys) -> None:
    place(page, folder, "examples/evaluate_results.yaml")
    records = re.search(r'```json [^\n]*\n(\{"id".*?)```', page, re.DOTALL)
    assert records
    (folder / "data" / "test_evaluate.jsonl").write_text(records[1], encoding="utf-8")
    assert call(["build", "examples/evaluate_results.yaml"]) == 0
    hint = " ".join(capsys.readouterr().err.split())
    assert "add 'pred_ls: FIELD' to benchmark.benchmark.key_map" in hint
    place(page, folder, "examples/parameters/evaluate_results_parameter.yaml")
    assert call(["run", "examples/evaluate_results.yaml"]) == 0
    found = json.loads((folder / "output" / "evaluate_results.json").read_text())
    table = capsys.readouterr().out
    for name, values in EVALUATE_RESULTS.items():
        assert re.search(rf"^ *{name} +{sum(values) / 2:.4f} +2 *$", table, re.MULTILINE)
        assert found[name] == pytest.approx(values)
        assert found[f"avg_{name}"] == pytest.approx(sum(values) / 2)


def test_a_file_that_is_built_is_the_one_printed(page: str, folder: Path) -> None:
    """But for what the page edits: build gives the lines that it crosses out."""
    place(page, folder, "examples/eval_trec_pvalue.yaml")
    assert call(["build", "examples/eval_trec_pvalue.yaml"]) == 0
    path = "examples/parameters/eval_trec_pvalue_parameter.yaml"
    assert (folder / path).read_text().split() == printed(page, path).split()


def test_the_full_pipeline_runs_offline_on_bundled_documents(page, tmp_path, monkeypatch) -> None:
    pytest.importorskip("bm25s", reason="the example's retriever needs bm25s")
    example = tmp_path / "examples" / "ultrarag"
    shutil.copytree(EXAMPLE, example, ignore=shutil.ignore_patterns("output"))
    bundled = Path("src/ragassay/examples/town")
    shutil.copytree(ROOT / bundled, tmp_path / bundled)
    monkeypatch.chdir(example)
    assert (example / "examples/rag_full.yaml").read_text() == printed(
        page, "examples/rag_full.yaml"
    )
    assert call(["run", "examples/rag_full.yaml"]) == 0
    found = json.loads((example / "output" / "evaluate_results.json").read_text())
    assert len(found["acc"]) == 72
    assert found["avg_f1"] == pytest.approx(sum(found["f1"]) / 72)
    # The generator quotes what was retrieved: some answers hold a reference, most do not equal one.
    assert found["avg_acc"] > found["avg_em"]
    steps = sorted(path.name for path in (example / "output" / "rag_full_steps").iterdir())
    assert steps[0] == "01_benchmark.get_data.json"
    assert steps[-1] == "10_evaluation.evaluate.json"
    assert len(steps) == 10
