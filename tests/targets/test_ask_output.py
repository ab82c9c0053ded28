"""Where the answers go, and the table of what came of asking."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.formats import load
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import AskSummary, asked_report
from terminal_text import shown

ROOT = Path(__file__).resolve().parents[2]
SERVE = ROOT / "examples" / "systems" / "serve.py"
LONG = (
    "a-very-long-name-of-a-system-under-test-2026-11",
    "a-very-long-name-of-a-system-under-test-2",
)


@pytest.fixture(autouse=True)
def _queries(desk: Path) -> None:
    Path("q.jsonl").write_text(json.dumps({"id": "q1", "query": "Who?"}) + "\n")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "x.csv.gz", "x.XLSX"])
def test_a_name_of_another_kind_of_file_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [sys.executable, "-c", "open('asked', 'w')"]
    assert call(["ask", "q.jsonl", "-t", f"command:{' '.join(words)}", "-o", name]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{name}: the answers are written as JSON Lines" in said and ".jsonl.gz" in said
    assert not Path("asked").exists() and not Path(name).exists()


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.ndjson", "x"])
def test_each_system_has_a_file_whose_name_ends_alike(name: str) -> None:
    asked = ask("q.jsonl", {"one": str.upper, "two": str.lower}, output=name)
    stem, dot, end = name.partition(".")
    assert [str(path) for path in asked.files.values()] == [
        f"{stem}-one{dot}{end}", f"{stem}-two{dot}{end}",
    ]  # fmt: skip
    for path, said in zip(asked.files.values(), ("WHO?", "who?"), strict=True):
        assert [one.answer_text for one in load(path)] == [said]


def summary(system: str, cost: float) -> AskSummary:
    return AskSummary(
        system=system, fingerprint="", asked=12_000, answered=11_800, no_answer=7,
        from_ledger=10_000, failed={"timeout": 200},
        ways={"timeout": [("it is slow", 200)]}, retries=34,
        latency={"p50": 0.3, "p95": 12.3, "p99": 101.2}, first_token={}, input_tokens=12_345_678,
        output_tokens=345_678, cost=cost, versions=(),
    )  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits_and_shows_names_whole(width: int) -> None:
    report = asked_report([summary(LONG[0], 123.4567), summary(LONG[1], 0.0012)])
    lines = shown(report, width).splitlines()
    assert max(map(len, lines)) <= width
    rows = "".join(lines).partition("No room")[0]
    if width >= 80:
        assert "12.7M" in rows and "$123.46" in rows and "$0.0012" in rows
    names = "".join(line[: line.find("  ", 2)].strip() for line in lines[3:7])
    assert all(name in names for name in LONG)
