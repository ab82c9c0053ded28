"""UltraRAG's own servers under our runner, and our evaluation under its runner and its Python.

The tests with UltraRAG itself need its repository (``ULTRARAG``) and the Python of an environment
that runs it (``ULTRARAG_PYTHON``): its packages cannot stand beside ragassay's.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.base.errors import RagassayError
from ragassay.compat.ultrarag import mcp_servers, pipelines

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

EVALUATION = Path(__file__).parents[2] / "examples" / "ultrarag" / "evaluation"
ULTRARAG, PYTHON = os.environ.get("ULTRARAG", ""), os.environ.get("ULTRARAG_PYTHON", "")
needs_ultrarag = pytest.mark.skipif(
    not (ULTRARAG and PYTHON), reason="ULTRARAG and ULTRARAG_PYTHON name no UltraRAG"
)
BARE = str(getattr(sys, "_base_executable", sys.executable))
"""The interpreter below a virtual environment, which has none of its packages."""
has_bare = subprocess.run([BARE, "-c", "import ragassay"], capture_output=True).returncode != 0
needs_bare = pytest.mark.skipif(not has_bare, reason="the tests run in no virtual environment")

DATA = {"question": "Who?", "golden_answers": ["Ann", "Anna"]}


@pytest.fixture
def place(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with our evaluation, and data."""
    shutil.copytree(EVALUATION, here / "servers" / "evaluation")
    (here / "data").mkdir()
    (here / "data" / "sample_nq_10.jsonl").write_text(json.dumps(DATA) + "\n")
    monkeypatch.delenv("RAGASSAY_PYTHON", raising=False)
    return here


PIPELINE = (
    "servers:\n  benchmark: servers/benchmark\n  evaluation: servers/evaluation\npipeline:\n"
    "- benchmark.get_data\n- evaluation.evaluate:\n    input: {pred_ls: q_ls}\n"
)


def evaluated(python: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What our evaluation, started by a Python, says of the first gold answer."""
    monkeypatch.setattr(mcp_servers, "_interpreter", lambda program: python)
    Path("p.yaml").write_text(PIPELINE)
    found = pipelines.run(Path("p.yaml")).variables["eval_res"]
    return {name: value for name, value in found.items() if name.startswith("avg_")}


@needs_bare
@pytest.mark.parametrize("found_by", ["path", "name", "link", "first line"])
def test_our_evaluation_finds_the_python_that_has_ragassay(place, monkeypatch, found_by) -> None:
    scripts = place / "scripts"
    scripts.mkdir()
    command = scripts / "ragassay"
    if found_by == "path":
        monkeypatch.setenv("RAGASSAY_PYTHON", sys.executable)
    elif found_by == "name":
        monkeypatch.setenv("RAGASSAY_PYTHON", "python-of-ours")
        (scripts / "python-of-ours").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (scripts / "python-of-ours").chmod(0o755)
    elif found_by == "link":  # as pipx and uv link it
        command.symlink_to(Path(sys.executable).with_name("ragassay"))
    else:  # 'pip install --user' puts no Python beside it
        command.write_text(f"#!{sys.executable}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{scripts}:/usr/bin:/bin")
    found = evaluated(BARE, monkeypatch)
    assert found and set(found.values()) == {0.0}
    assert found == evaluated(sys.executable, monkeypatch)


@needs_bare
@pytest.mark.parametrize("named", [None, BARE, "/no/such/python"])
def test_our_evaluation_says_where_it_finds_no_ragassay(place, monkeypatch, named) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if named is not None:
        monkeypatch.setenv("RAGASSAY_PYTHON", named)
    with pytest.raises(RagassayError, match="RAGASSAY_PYTHON"):
        evaluated(BARE, monkeypatch)


@needs_ultrarag
def test_ultrarags_servers_run_under_our_runner(tmp_path, monkeypatch) -> None:
    place = tmp_path / "ultrarag"
    kept = shutil.ignore_patterns(".git", ".venv", "output", "index", "ui", "docs")
    shutil.copytree(ULTRARAG, place, ignore=kept)
    monkeypatch.chdir(place)
    names = ("benchmark", "retriever", "prompt", "custom")
    servers = [f"  {one}: servers/{one}" for one in names]
    monkeypatch.setenv("PATH", f"{Path(PYTHON).parent}:{os.environ['PATH']}")
    steps = [
        *("benchmark.get_data", "retriever.retriever_init", "retriever.bm25_index"),
        *("retriever.retriever_init", "retriever.bm25_search", "prompt.qa_rag_boxed"),
        "custom.output_extract_from_boxed:\n    input: {ans_ls: prompt_ls}", "evaluation.evaluate",
    ]  # fmt: skip
    Path("p.yaml").write_text(
        "\n".join(["servers:", *servers, f"  evaluation: {EVALUATION}", "pipeline:"])
        + "".join(f"\n- {step}" for step in steps)
    )
    pipelines.build(Path("p.yaml"))
    file = Path("parameters/p_parameter.yaml")
    text = file.read_text().replace("backend: sentence_transformers\n", "backend: bm25\n")
    text = text.replace("prompt/qa_boxed.jinja", "prompt/qa_rag_boxed.jinja")
    file.write_text(text.replace("top_k: 5", "top_k: 3"))
    found = pipelines.run(Path("p.yaml")).variables
    assert [len(passages) for passages in found["ret_psg"]] == [3] * 10
    assert len(found["prompt_ls"]) == len(found["pred_ls"]) == 10
    assert found["ret_psg"][0][0] in found["prompt_ls"][0]
    assert len(found["eval_res"]["em"]) == 10


@needs_ultrarag
def test_our_evaluation_runs_under_ultrarags_runner(place: Path, monkeypatch) -> None:
    shutil.copytree(Path(ULTRARAG) / "servers" / "benchmark", "servers/benchmark")
    monkeypatch.setenv("RAGASSAY_PYTHON", sys.executable)
    monkeypatch.setenv("PATH", f"{Path(PYTHON).parent}:{os.environ['PATH']}")
    Path("p.yaml").write_text(PIPELINE)
    runner = str(Path(PYTHON).with_name("ultrarag"))
    for act in ("build", "run"):
        done = subprocess.run([runner, act, "p.yaml"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    (kept,) = Path("output").glob("memory_*.json")
    assert "eval_res" in kept.read_text()
    assert json.loads(Path("output/evaluate_results.json").read_text())
