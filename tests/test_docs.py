"""Every command and every snippet in the documentation runs as it is printed."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_server import LLMServer
from ragassay.cli import call

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.M | re.S)
QRELS = "".join(f"q{q} 0 d{d} {int(d % 3 == q % 3)}\n" for q in range(6) for d in range(9))
RUN = "".join(f"q{q} Q0 d{d} 0 {(d * 7 + q) % 11} tag\n" for q in range(6) for d in range(9))


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(info.strip(), body) for kind, info, body in found if kind == language]


def commands(page: Path) -> list[str]:
    lines = [line for _, body in blocks(page, "sh") for line in body.splitlines()]
    return [line for line in lines if line.startswith("ragassay ")]


@pytest.fixture(scope="module")
def judge() -> Iterator[LLMServer]:
    """Stands in for the endpoints of ``openai:`` and ``vllm:``."""
    with LLMServer() as server:
        yield server


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: LLMServer) -> Path:
    """A folder with the files that the documentation speaks of, and judges that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    for variable in ("OPENAI_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.setenv(variable, judge.url)
    for page in ("README.md", "docs/judges.md"):
        for name, body in blocks(ROOT / page, "jsonl"):
            (tmp_path / name).write_text(body)
    for page in ("configuration.md", "own-metrics.md"):
        for language in ("yaml", "text"):
            for name, body in blocks(ROOT / "docs" / page, language):
                (tmp_path / name).write_text(body)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "old.txt").write_text(RUN.replace("d1 0", "d1 9"))
    assert call(["run", "answers.jsonl", "-s", "qa", "-o", "runs/old"]) == 0
    shutil.copytree("runs/old", "runs/new")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_succeeds(page: Path, desk: Path, capsys) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)[1:]
        assert call(words) == 0, f"{line}\n{capsys.readouterr().err}"


def test_the_readme_shows_the_main_commands() -> None:
    shown = {shlex.split(line)[1] for line in commands(ROOT / "README.md")}
    assert {"run", "compare", "trec", "report", "validate", "metrics"} <= shown


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_of_a_page_runs(name: str, desk: Path, capsys) -> None:
    found = blocks(ROOT / name, "python")
    for _, body in found:
        exec(compile(body, name, "exec"), {})
    assert found and "em" in capsys.readouterr().out


def test_every_public_name_is_there() -> None:
    import ragassay
    from ragassay import metrics

    for package in (ragassay, metrics):
        for name in package.__all__:
            assert getattr(package, name) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_configuration_page_lists_every_key_and_no_other() -> None:
    from ragassay.engine.config import RunConfig

    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == set(RunConfig.model_fields)
