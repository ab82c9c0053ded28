"""From documents to a comparison of two systems, by the commands of docs/golden.md alone."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet

pytest.importorskip("fastapi", reason="needs the extra 'service'")

ROOT = Path(__file__).resolve().parents[2]
PAGE = "## From documents to a comparison"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder beside which the two systems of the examples run."""
    shutil.copytree(ROOT / "examples" / "systems", tmp_path / "examples" / "systems")
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("serve", ROOT / "examples/systems/serve.py")
    assert spec is not None and spec.loader is not None
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    with serve.serving() as port:
        monkeypatch.setenv("TOWN_URL", f"http://127.0.0.1:{port}")
        yield tmp_path


def commands() -> tuple[list[str], list[str]]:
    """The commands of the page: until the documents are edited, and after that."""
    text = (ROOT / "docs" / "golden.md").read_text(encoding="utf-8").split(PAGE)[1]
    first, second = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)[:2]
    return first.splitlines(), second.splitlines()


def review_five(line: str, chromium: Any) -> None:
    """Does what a person does on the page: three are accepted, one edited, one rejected."""
    words = [*shlex.split(line)[1:], "--port", "0"]
    program = subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", program.stdout.readline())
        assert found is not None
        page = chromium.new_page()
        page.set_default_timeout(15_000)
        page.goto(found[0])
        for n, key in enumerate("aaear"):
            page.wait_for_selector(f"#progress >> text={n} of 60 items are reviewed")
            page.wait_for_selector("body[data-item^='golden/'] #text:not(:empty)")
            page.keyboard.press(key)
            if key == "e":
                page.fill("#item textarea >> nth=0", "What is the number that is asked for here?")
                page.keyboard.press("Control+Enter")
        page.wait_for_selector("#progress >> text=5 of 60 items are reviewed, 5 by you")
        page.close()
    finally:
        program.send_signal(signal.SIGINT)
        assert program.wait(30) in (0, 130)


def fill_in(sheet: Path) -> None:
    """Accepts what is left."""
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 55
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows({**row, "decision": "accept"} for row in rows)


def recall(run: str) -> float:
    mean = ragassay.open_run(run).summary.metrics["CharR@5"].mean
    assert mean is not None
    return mean


def wrong(run: str) -> set[str]:
    """The queries whose answers hold no reference."""
    rows = ragassay.open_run(run).scores
    return {one.sample for one in rows if one.metric == "contains_answer" and one.value == 0}


def abstained(answers: str, golden: Path) -> float:
    """The share of the unanswerable queries to which a system says that it does not know."""
    of = [one.id for one in GoldenSet.open(golden).items if one.answerability == "unanswerable"]
    said = {one.id: one.answer for one in ragassay.load(answers)}
    texts = [answer.text for name in of if (answer := said[name]) is not None]
    assert len(texts) == len(of) > 2
    return texts.count("I do not know.") / len(of)


def check_diagnoses(capsys: pytest.CaptureFixture[str]) -> None:
    """Each wrong answer has one cause, and between systems each moves once."""
    capsys.readouterr()
    assert call(["diagnose", "runs/hybrid", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    blamed = [sample for one in told["classes"] for sample, _, _ in one["samples"]]
    assert wrong("runs/hybrid") and sorted(blamed) == sorted(wrong("runs/hybrid"))
    assert call(["diagnose", "runs/hybrid", "runs/keyword", "--json"]) == 0
    moves = json.loads(capsys.readouterr().out)["transitions"]
    for side in ("new", "old"):
        n = sum(one["n"] for one in moves if one[side] != "fine")
        assert n == len(wrong("runs/hybrid" if side == "new" else "runs/keyword"))


@pytest.mark.browser
def test_the_commands_of_the_page_lead_from_documents_to_a_comparison(
    desk: Path, chromium: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = commands()
    for line in first:
        if line.endswith("review set --reviewer ann"):
            review_five(line, chromium)
            continue
        if "--read" in line:
            fill_in(desk / "rest.csv")
        assert call(shlex.split(line)[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
        if line.startswith("ragassay golden isolate"):
            told = capsys.readouterr().out
            assert "right with what was retrieved and with the gold passages" in told
        if line == "ragassay diagnose runs/hybrid":
            n, of = len(wrong("runs/hybrid")), len(GoldenSet.open(desk / "set-test").items)
            assert of > 20 and f"{n} of {of} samples fail" in capsys.readouterr().out
    items = GoldenSet.open(desk / "set").items
    assert [one.status for one in items[:5]] == ["accepted"] * 4 + ["rejected"]
    assert items[2].query == "What is the number that is asked for here?"
    told = " ".join(capsys.readouterr().out.split())
    assert "hybrid against keyword: better on 1, exploratory on" in told
    assert abstained("out-hybrid.jsonl", desk / "set-test") >= 0.5
    check_diagnoses(capsys)
    before = {name: recall(f"runs/{name}") for name in ("hybrid", "keyword")}

    for path in (desk / "data" / "documents").glob("*.md"):
        news = "# News\n\nThis page was looked through in October; ask at the desk for more.\n\n"
        path.write_text(news + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert call(["golden", "check", "set-test"]) == 1
    assert "'ragassay golden anchor' finds it" in capsys.readouterr().out
    for line in second:
        assert call(shlex.split(line)[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
    told = " ".join(capsys.readouterr().out.split())
    assert "hybrid-again against keyword-again: better on 1, exploratory on" in told
    assert {name: recall(f"runs/{name}-again") for name in before} == pytest.approx(before)
