"""The notebook in examples/ runs from its first cell to its last, in a kernel."""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import ragassay

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebook").glob("*.ipynb"))


def test_notebooks_are_kept_without_outputs() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), f"{path.name}: clear the outputs before you commit"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_what_it_speaks_of(path: Path, tmp_path, monkeypatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs the extra 'test'")
    pytest.importorskip("ipykernel", reason="needs the extra 'test'")
    source = str(Path(ragassay.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([source, *sys.path]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = importlib.import_module("nbformat").read(path, as_version=4)
    manager = _manager(tmp_path, monkeypatch)
    where = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=120, resources=where, **manager)
    client.execute()
    shown = [
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", {})
    ]
    assert shown.count("text/html") >= 6
    printed = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )
    assert "a stand-in that reads nothing" in printed


def _manager(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The kernel is this very Python, whatever kernels the machine has."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": words, "display_name": "Python 3", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    return {"kernel_name": "python3"}
