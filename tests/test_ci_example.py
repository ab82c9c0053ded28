"""`examples/ci`, a repository that gates its system: workflow, tests and hook run as they stand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragassay.cli.command_line import call

ROOT = Path(__file__).parents[1]
PLUGIN = "ragassay.testing.pytest_plugin"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, as the working directory."""
    place = tmp_path / "repository"
    shutil.copytree(ROOT / "examples" / "ci", place)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    return place


def steps() -> list[dict[str, Any]]:
    text = (ROOT / "examples/ci/.github/workflows/evaluation.yml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = yaml.safe_load(text)["jobs"]["evaluate"]["steps"]
    return found


def run_pytest(place: Path) -> subprocess.CompletedProcess[str]:
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    words += [] if installed else ["-p", PLUGIN]
    return subprocess.run(words, cwd=place, capture_output=True, text=True)


def test_every_command_of_the_page_succeeds_in_its_order_and_github_is_told(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / "summary.md"))
    commands = [step["run"] for step in steps() if "run" in step]
    assert commands[0] == "pip install ./ragassay pytest"  # nothing is published yet
    page = (ROOT / "examples/ci/README.md").read_text(encoding="utf-8")
    told = [
        line.strip()
        for block in page.split("```sh\n")[1:]
        for line in block.split("```")[0].strip().splitlines()
    ]
    assert told[2:] == [line for line in commands[1:] if not line.startswith(("cp ", "echo "))]
    assert told[:2] == [told[2], "ragassay run evaluation/run.yaml -o runs/main"]
    for line in told:
        if line == "pytest":
            done = run_pytest(repository)
            assert done.returncode == 0, done.stdout
            assert "gate low(token_f1.r)>=0.7: passed" in done.stdout
        else:
            assert call(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    assert "::notice title=gate passed%3A P@1>=0.9::" in capsys.readouterr().out
    assert "gate P" in (repository / "summary.md").read_text()
    for name in ("junit.xml", "report.html", "summary.json"):
        assert (repository / "runs" / "new" / name).is_file()
    assert "token_f1.r" in (repository / "runs" / "compared.xml").read_text()


def test_a_step_of_the_workflow_that_fails_hides_none_of_what_is_reported() -> None:
    """By default a step is skipped after one that failed."""
    after = False
    for step in steps():
        if after and "cp " not in step.get("run", "") and "save" not in step.get("uses", ""):
            assert "!cancelled()" in step["if"], step
            assert not step.get("continue-on-error"), step
        after = after or "ragassay ask" in step.get("run", "")
    words = [step.get("run", step.get("uses", "")) for step in steps()]
    ends = [(words[at], step.get("with"), step.get("if")) for at, step in enumerate(steps())]
    (kept,) = (when for text, of, when in ends if "save" in text and of["path"] == ".ragassay")
    assert kept == "always()", "what a judge answered is paid for"
    for begin, there in (("ragassay compare", "!="), ('echo "::warning ', "==")):
        (when,) = (when for text, _, when in ends if text.startswith(begin))
        assert f"hashFiles('runs/main/summary.json') {there} ''" in when
    reports = [at for at, one in enumerate(words) if one.startswith("ragassay ")]
    assert max(reports) < words.index("pytest")


def test_the_workflow_gates_no_answers_of_an_earlier_system() -> None:
    (command,) = [one["run"] for one in steps() if "ragassay ask" in one.get("run", "")]
    assert "--refresh" in shlex.split(command)


def test_a_worse_system_fails_the_tests_and_the_run(repository: Path, capsys) -> None:
    source = repository / "my_rag.py"
    source.write_text(source.read_text().replace("key=lambda name: -len", "key=lambda name: len"))
    done = run_pytest(repository)
    assert done.returncode == 1
    assert "gate P@1>=0.9: FAILED" in done.stdout
    words = "ask evaluation/queries.jsonl --target my_rag:answer -o answers.jsonl"
    assert call(words.split()) == 0
    assert call(["run", "evaluation/run.yaml", "-o", "runs/new", "--github"]) == 1
    assert "::error title=gate failed%3A P@1>=0.9::" in capsys.readouterr().out


def test_the_hook_takes_several_files_and_fails_where_one_is_wrong(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    config = yaml.safe_load((repository / ".pre-commit-config.yaml").read_text())
    assert config["repos"][0]["hooks"][0]["id"] == hook["id"] and hook["language"] == "python"
    program = repository / "bin" / "ragassay"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ragassay "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    def run(*files: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*shlex.split(hook["entry"]), *files],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
        )

    (repository / "wrong.jsonl").write_text(json.dumps({"id": "1", "passages": 3}) + "\n")
    good = "evaluation/queries.jsonl"
    # The table of docs/ci.md: the code of the command, and what the hook makes of it.
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (\d) \|.*\| (passes|fails) \|$", page, re.MULTILINE))
    told = {"id": "1", "query": "Who?", "answer": "nan", "references": ["Ann"]}
    (repository / "told.jsonl").write_text(json.dumps(told) + "\n")
    codes = {}
    for name, other in (("told.jsonl", good), (good, good), ("wrong.jsonl", good)):
        done = run(name, other)
        codes[str(call(["validate", name]))] = "fails" if done.returncode else "passes"
        assert ("answers that say only 'nan'" in done.stderr) == (name == "told.jsonl")
    assert codes == table and len(codes) == 3
    assert "wrong.jsonl, line 1, field 'passages'" in done.stderr
