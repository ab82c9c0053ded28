"""A run whose system gave no answer at all is told in a sentence, not in tables without a value."""

from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.cli.command_line import call

SAID = "The system gave no answer: 6 of 6 samples are failures (5 with connection: it is down; "


def records(up: bool) -> list[dict[str, Any]]:
    found = {"answer": "Frank", "passages": [{"id": "d1", "text": "a text"}]}
    lost = ({"failure": f"connection: {why}."} for why in ("late", *["it is down"] * 5))
    asked = {"references": ["Frank"], "gold": [{"id": "d1"}]}
    return [{"id": f"q{n}", "query": f"What is {n}?", **asked, **(found if up else failure)}
            for n, failure in enumerate(lost)]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, up in (("down", False), ("up", True)):
        data = jsonl(folder / f"{name}.jsonl", *records(up))
        expected = 0 if up else 3
        assert call(["run", str(data), "-s", "qa,retrieval", "-o", str(folder / name)]) == expected
    return folder


def told(capsys: pytest.CaptureFixture[str]) -> str:
    both = capsys.readouterr()
    return " ".join((both.out + both.err).split())


def test_a_run_says_it_in_place_of_tables(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["report", str(runs / "down")]) == 0
    said = told(capsys)
    assert SAID in said and "'ragassay ask' command (it asks what is missing)" in said
    assert "missing input" not in said and "Nothing was scored" not in said
    written = (runs / "down" / "report.md").read_text()
    assert SAID in written and "| metric" not in written
    page = (runs / "down" / "report.html").read_text()
    assert SAID in page and 'id="metrics"' not in page and 'id="browse"' in page


@pytest.mark.parametrize("words", [
    ["diagnose", "down"], ["diagnose", "down", "--headline", "exact_match"],
    ["diagnose", "up", "down"], ["compare", "down", "up"], ["compare", "up", "down"],
])  # fmt: skip
def test_it_is_neither_diagnosed_nor_compared(runs: Path, capsys, words: list[str]) -> None:
    named = [str(runs / word) if word in ("up", "down") else word for word in words]
    assert call(named) == 2
    said = told(capsys)
    verb = "diagnosed" if words[0] == "diagnose" else "compared"
    assert f"cannot be {verb}." in said and SAID in said


def test_one_answer_is_enough_and_a_gate_is_undecided_where_all_is_lost() -> None:
    data = [*records(False)[1:], records(True)[0]]
    assert ragassay.plan(data, "error_rate").applicable == {"error_rate": 6}
    result = ragassay.evaluate(data, ["exact_match"])
    assert not result.summary.all_failed
    assert any("5 of 6 samples have no answer" in one for one in result.summary.warnings)
    result = ragassay.evaluate(records(False), fail_under=["faithfulness>=0.5"])
    assert result.gates[0].passed is None and "No sample has" not in str(result)
