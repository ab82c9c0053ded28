"""From documents to a comparison of two systems, by the commands of docs/golden.md alone."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

import ragassay
from filled_sheets import filled, read
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet

pytest.importorskip("fastapi", reason="needs the extra 'service'")

ROOT = Path(__file__).resolve().parents[2]
PAGE = "## From documents to a comparison"


@pytest.fixture
def desk(here: Path, town: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside which the two systems of the examples run."""
    shutil.copytree(ROOT / "examples" / "systems", here / "examples" / "systems")
    monkeypatch.setenv("TOWN_URL", town)
    return here


def commands() -> tuple[list[str], list[str]]:
    """The commands of the page: until the documents are edited, and after that."""
    text = (ROOT / "docs" / "golden.md").read_text(encoding="utf-8").split(PAGE)[1]
    first, second = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)[:2]
    return first.splitlines(), second.splitlines()


def recall(run: str) -> float:
    mean = ragassay.open_run(run).summary.metrics["CharR@5"].mean
    assert mean is not None
    return mean


def wrong(run: str) -> set[str]:
    """The queries whose answers hold no reference."""
    rows = ragassay.open_run(run).scores
    return {one.sample for one in rows if one.metric == "contains_answer" and one.value == 0}


def test_the_commands_of_the_page_lead_from_documents_to_a_comparison(desk: Path, capsys) -> None:
    first, second = commands()
    for line in first:
        if line.endswith("review set --reviewer ann"):
            continue  # what a person does on the page is tested there
        if "--read" in line:
            rest = [row[0] for row in read(desk / "rest.xlsx")[1:]]
            assert len(rest) == 60
            filled(desk / "rest.xlsx", **{name: {"decision": "accept"} for name in rest})
        assert call(shlex.split(line)[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
        if line.startswith("ragassay golden isolate"):
            told = capsys.readouterr().out
            assert "right with what was retrieved and with the gold passages" in told
        if line == "ragassay diagnose runs/hybrid":
            n, of = len(wrong("runs/hybrid")), len(GoldenSet.open(desk / "set-test").items)
            said = re.search(r"(\d+) of (\d+) samples fail", capsys.readouterr().out)
            assert said and int(said[2]) == of > 20
            assert n <= int(said[1]), "other faults count, too"
    assert {one.status for one in GoldenSet.open(desk / "set").items} == {"accepted"}
    told = " ".join(capsys.readouterr().out.split())
    assert re.search(r"SpanHit@1 ↑ [-+.\d ]+ better", told)
    before = {name: recall(f"runs/{name}") for name in ("hybrid", "keyword")}

    for path in (desk / "data" / "documents").glob("*.md"):
        news = "# News\n\nThis page was looked through in October; ask at the desk for more.\n\n"
        path.write_text(news + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert call(["golden", "check", "set-test"]) == 1
    assert "'ragassay golden anchor' finds it" in capsys.readouterr().out
    for line in second:
        assert call(shlex.split(line)[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
    told = " ".join(capsys.readouterr().out.split())
    assert re.search(r"SpanHit@1 ↑ [-+.\d ]+ better", told.partition("hybrid-again (new)")[2])
    assert {name: recall(f"runs/{name}-again") for name in before} == pytest.approx(before)
