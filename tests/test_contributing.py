"""CONTRIBUTING.md can be followed literally; hooks and workflow run what .ci/run runs."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.M | re.S)
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason=".ci/run runs mypy on Python 3.11 only")
@pytest.mark.parametrize("checks", [False, pytest.param(True, marks=pytest.mark.heavy)])
def test_the_page_can_be_followed_literally(tmp_path: Path, checks: bool) -> None:
    """In a copy of the project; the first command's result is replaced by this environment.

    Without ``checks``, what .ci/run checks of the project itself is left out: its layers and types.
    """
    for name in ("src", "tests", "benchmarks", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "approved")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    # Types that were checked before are not checked again.
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path / "src"),
        "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"),
    }
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    set_up, done = None, []
    for language, info, body in FENCE.findall(page):
        if language == "python":
            written = tmp_path / info.strip()
            assert not written.exists(), f"{info} is a file of the project"
            written.write_text(body, encoding="utf-8")
        for line in body.splitlines() if language == "sh" else ():
            if set_up is None:
                set_up = line
                continue
            if not checks and re.search(r"mypy|test_layers", line):
                continue
            run = subprocess.run(
                ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert run.returncode == 0, f"{line}\n{run.stdout}\n{run.stderr}"
            done.append(run.stdout)
    assert set_up is not None
    assert f"\n{set_up} && " in (ROOT / "README.md").read_text(encoding="utf-8")  # run by .ci/run
    assert any("2 passed" in output for output in done)  # the tests of the new metric
    assert any("shorter words do not count" in output for output in done)


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for field, value in (("title", "name"), ("version", "version"), ("license", "license")):
        assert citation[field] == PROJECT[value]
    assert citation["keywords"] == PROJECT["keywords"]
