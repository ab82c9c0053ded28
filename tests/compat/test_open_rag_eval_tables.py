"""Consistency cells and plots by the names of Open RAG Eval."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Sample
from ragassay.cli.command_line import call
from ragassay.reports.run_reports import write_reports
from ragassay.reports.tables.ore_values import COLUMNS

PASSAGES = (Passage("Iron is heavy.", id="[1]"),)


def sample(name: str = "q1", answer: str = "Iron is heavy [1].", **more: Any) -> Sample:
    base = {"id": name, "query": "What is heavy?", "passages": PASSAGES, "answer": Answer(answer)}
    return Sample(**(base | more))


def words(path: Path) -> str:
    """All texts of a picture."""
    return path.read_text()


def test_rouge_cells_hold_precision_recall_and_f1_of_each_pair(tmp_path: Path) -> None:
    runs = [sample(answer=said, repeat=at) for at, said in enumerate(("a b", "a b c d"))]
    result = ragassay.evaluate(runs, "consistency", save=tmp_path)
    write_reports(result, formats=["consistency"])
    with (tmp_path / "consistency.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    for column in ("rouge_score", "rouge1_score", "rouge2_score"):
        cell = json.loads(row[f"consistency_{column}"])
        assert cell["recall"] == [1.0]
        assert cell["precision"] == [pytest.approx(1 / 3 if "2" in column else 1 / 2)]
        assert cell["f1"] == cell["values"]


def test_golden_answers_are_plotted_from_a_run_and_from_a_table(tmp_path: Path) -> None:
    data = [sample(f"q{at}", references=("Iron is heavy.",)) for at in range(3)]
    ragassay.evaluate(data, "golden", save=tmp_path / "run")
    table = tmp_path / "golden.csv"
    table.write_text(
        "query_id,query,run_1_semantic_similarity,run_1_factual_correctness_f1\n"
        "q1,Who?,0.75,0.5\nq2,When?,0.25,\n"
    )
    for source in (tmp_path / "run", table):
        target = tmp_path / "plot.svg"
        command = ["plot", str(source), "--evaluator", "golden_answer", "-o", str(target)]
        assert call(command) == 0
        assert "Factual F1" in words(target)
    assert "Semantic similarity" in words(target)
    assert call(["plot", str(table), "--evaluator", "trec", "-o", str(target)]) == 2


def test_the_docs_say_of_each_column_what_it_holds() -> None:
    """`trecrag.csv` has the tool's columns with the page's formulas."""
    docs = Path(__file__).parents[2] / "docs" / "open-rag-eval.md"
    text = docs.read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"| `{column}` |" in text, column
