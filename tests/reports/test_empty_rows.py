"""A comparison names the metrics that no query has in both runs in one line, not in empty rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragassay
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.reports import text_of
from ragassay.reports.run_reports import write_comparison

LINE = "exact_match, P@5: no query has a score in both runs."


def run_of(answer: str) -> Result:
    data = [{"id": f"q{n}", "query": "Who?", "answer": f"{answer} {n}"} for n in range(5)]
    return ragassay.evaluate(data, ["answer_words", "exact_match", "P@5"])


@pytest.fixture(scope="module")
def both() -> tuple[Comparison, Result, Result]:
    new, old = run_of("It is Frank"), run_of("Frank")
    return ragassay.compare(new, old), new, old


def test_the_terminal_and_python_tell_them_in_one_line(
    both: tuple[Comparison, Result, Result],
) -> None:
    said = text_of(both[0])
    assert LINE in " ".join(said.split()) and said.count("P@5") == 1
    assert "answer_words" in said


def test_pages_and_markdown_tell_them_in_one_line(
    both: tuple[Comparison, Result, Result], tmp_path: Path
) -> None:
    for name in ("c.html", "c.md"):
        write_comparison(*both, tmp_path / name)
    text = (tmp_path / "c.md").read_text()
    assert text.count("exact\\_match") == 1 and LINE.replace("_", "\\_") in text
    assert "| answer\\_words" in text
    page = (tmp_path / "c.html").read_text()
    table = page.partition('id="differences"')[2].partition('id="browse"')[0]
    assert LINE in table and table.count("exact_match") == 1


def test_without_any_score_there_is_no_table(tmp_path: Path) -> None:
    data = [{"id": f"q{n}", "query": "Who?", "answer": "x"} for n in range(5)]
    run = ragassay.evaluate(data, ["exact_match"])
    compared = ragassay.compare(run, run)
    assert "difference" not in text_of(compared)
    for name in ("c.html", "c.md"):
        write_comparison(compared, run, run, tmp_path / name)
        said = (tmp_path / name).read_text()
        assert "exact_match: no query has a score in both runs." in said.replace("\\", "")
        assert "| metric" not in said and '<th scope="col">verdict' not in said
