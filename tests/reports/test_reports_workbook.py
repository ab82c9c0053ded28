"""The Excel workbook, read back with another library."""

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay import Sample
from ragassay.base.sample import Answer, Passage
from ragassay.engine.results.score_rows import by_sample
from ragassay.reports.tables import workbook
from ragassay.reports.tables.ore_values import RunColumns
from ragassay.reports.text import wording

pytest.importorskip("xlsxwriter", reason="needs the extra 'excel'")
openpyxl = pytest.importorskip("openpyxl")


def sample(number: int, answer: str = "It has 180 ECTS.", **more: Any) -> Sample:
    passages = (Passage("The programme has 180 ECTS.", "1"), Passage("Exams.", "2"))
    query = "How many ECTS has the programme?"
    return Sample(id=f"r{number}", query=query, passages=passages, answer=Answer(answer), **more)


def judge(prompt: str) -> str:
    """Answers each of ragreport's questions, worse where the response has no idea."""
    stars = 1 if "No idea" in prompt else 4
    report = {"relevance": stars, "usefulness": stars, "utilization": 50, "attribution": [1]}
    return json.dumps(report | {"stars": stars, "explanation": "So it is."})


def written(samples: list[Sample], path: Path, suite: str = "ragreport") -> Any:
    result = ragassay.evaluate(samples, suite, judge=judge if suite == "ragreport" else None)
    workbook.write_workbook(result, path)
    return result, openpyxl.load_workbook(path)


def cells(sheet: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in sheet.iter_rows(values_only=True)]


def test_the_workbook_holds_what_the_result_holds(tmp_path: Path) -> None:
    result, book = written([sample(1), sample(2, "No idea at all.")], tmp_path / "r.xlsx")
    assert book.sheetnames == ["Summary", "Records", "How it was computed"]
    rows = {row[0]: row for row in cells(book["Summary"]) if row[0]}
    assert {*result.summary.warnings} <= {*rows} and result.summary.warnings
    groups = ("Retrieval Evaluation", "Context Factual Correctness", "Response Evaluation")
    assert any(str(name).startswith(groups[0]) for name in rows)
    for name, metric in result.summary.metrics.items():
        numbers = (metric.mean, metric.low, metric.high)
        assert rows[name][1:4] == pytest.approx(numbers)
        assert rows[name][4:6] == (metric.n_scored, metric.n_total)
    heads, *records = cells(book["Records"])
    named = ("id", "system", "query", "context", "answer", "reference", "relevance")
    assert (heads[:8], heads[-2:]) == ((*named, "relevance: explanation"), ("right", "cause"))
    assert [row[0] for row in records] == ["r1", "r2"]
    assert records[0][3] == "[1] The programme has 180 ECTS.\n[2] Exams."
    scores = {(row.sample, row.metric): row for row in result.scores}
    for row in records:
        for at, name in enumerate(heads[6:-2:2]):
            value, told = row[6 + 2 * at], scores[row[0], name]
            is_list = isinstance(told.value, list)
            assert value == (str(told.value) if is_list else told.value)
    facts = dict(row[:2] for row in cells(book["How it was computed"]))
    assert "relevance: signature" in facts
    assert facts["metrics"] == ", ".join(result.summary.metrics)
    assert facts["published"] == "false" and facts["suite"] == "ragreport"


def test_a_mean_of_values_for_missing_parts_does_not_stand_alone(tmp_path: Path) -> None:
    """Their number and the mean without them stand beside it; a dash where nothing is left."""
    lacking = [sample(1), Sample(id="r2", query="?", answer=Answer("It has 180 ECTS."))]
    result, book = written(lacking, tmp_path / "r.xlsx")
    heads, *rows = [row for row in cells(book["Summary"]) if row[1] is not None]
    by_name = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    metrics = {name: one for name, one in result.summary.metrics.items() if one.mean is not None}
    said = " ".join(str(result).split())
    assert {0, 1} == {metric.n_assumed for metric in metrics.values()}
    for name, metric in metrics.items():
        beside = by_name[name]["for missing parts"], by_name[name]["mean without them"]
        left = "–" if metric.n_assumed and metric.mean_measured is None else metric.mean_measured
        assert beside == (metric.n_assumed or None, left)
        if metric.n_assumed and metric.mean_measured is not None:
            assert f"without them is {wording.number(metric.mean_measured)}" in said
    _, book = written(lacking[1:], tmp_path / "r.xlsx")
    (row,) = [row for row in cells(book["Summary"]) if row[0] == "relevance"]
    assert row[1:2] + row[6:8] == ("–", 1, "–")


def test_it_holds_a_prompt_of_each_question_and_what_is_unscored(tmp_path, monkeypatch) -> None:
    with LLMServer() as llm:
        monkeypatch.setenv("OPENAI_BASE_URL", llm.url)
        monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
        result = ragassay.evaluate(
            [sample(1), sample(2, "It has 90.")], metrics=["answered", "AP"],
            judge=["openai:a", "openai:b"], ledger=str(tmp_path / "ledger.sqlite"),
        )  # fmt: skip
    workbook.write_workbook(result, tmp_path / "r.xlsx")
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    facts = dict(row[:2] for row in cells(book["How it was computed"]))
    (prompt,) = (str(facts[name]) for name in facts if str(name).endswith(": a prompt"))
    assert "user: " in prompt and "It has 180 ECTS." in prompt
    assert facts["AP: unscored"] == "2 not applicable"
    # A panel's tokens are those of its votes, also in the published columns.
    tokens = [RunColumns(result).tokens(rows) for _, rows in by_sample(result)]
    judging = result.summary.judging
    assert "signatures" not in facts and facts["requests"] == f"{judging.calls}" == "4"
    sheet = book["Records"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("B2", "A1:J3")
    assert judging is not None and len(tokens) == 2 and judging.input_tokens > 0
    for kind in ("input", "output"):
        total = sum(one[f"total_{kind}_tokens"] for one in tokens)
        assert total == getattr(judging, f"{kind}_tokens")


def test_text_stays_text_and_what_excel_cannot_hold_is_cut_or_refused(tmp_path, monkeypatch):
    texts = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "http://example.org/x", "1e5", "<b>&amp;"]
    _, book = written([*map(sample, range(6), texts)], tmp_path / "r.xlsx", "qa")
    for cell, text in zip(book["Records"]["E"][1:], texts, strict=True):
        assert cell.value == text and cell.data_type == "s" and cell.hyperlink is None
    texts = ["a\x00b\x1b[2J", "x" * 40_000, "😀" * 20_000, "x" * 32_767]
    _, book = written([*map(sample, range(4), texts)], tmp_path / "r.xlsx", "qa")
    answers = [row[4] for row in cells(book["Records"])[1:]]
    assert answers[0] == "a\\u0000b\\u001b[2J"
    assert len(answers[1]) == 32_767 and answers[1].endswith("(cut)")
    assert len(answers[2].encode("utf-16-le")) // 2 <= 32_767
    assert answers[2].endswith("😀 ... (cut)") and answers[3] == texts[3]
    monkeypatch.setattr(workbook, "MOST_ROWS", 2)
    result = ragassay.evaluate([sample(1), sample(2)], "qa")
    with pytest.raises(ragassay.UsageError, match="the run 2 samples"):
        workbook.write_workbook(result, tmp_path / "r.xlsx")
