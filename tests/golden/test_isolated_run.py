"""A run with gold passages beside the full one tells where a query fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragassay
from ragassay.cli import call
from ragassay.engine.golden import isolated
from ragassay.errors import UsageError


def run(folder: Path, answers: str) -> ragassay.Result:
    """A run whose answers are right (r), wrong (w) or missing (-), query by query."""
    said = {"r": "It is nine.", "w": "It is ten.", "-": None}
    records = [
        {"id": f"q{at}", "query": "When?", "answer": said[one], "references": ["nine"]}
        for at, one in enumerate(answers)
    ]
    return ragassay.evaluate(records, metrics=["contains_answer"], save=folder)


def test_each_query_has_its_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full, alone = run(tmp_path / "full", "rrwwww-r"), run(tmp_path / "alone", "rrrrrwrw")
    found = isolated(full, alone, "contains_answer")
    assert found.queries == {
        "right": ("q0", "q1"),
        "retrieval": ("q2", "q3", "q4"),
        "generation": ("q5",),
        "despite": ("q7",),
    }
    assert found.unscored == 1
    [difference] = found.comparison.differences
    # Seven pairs are scored: with the gold passages 5 are right, with the retrieved ones 3.
    assert difference.n == 7
    assert difference.diff == pytest.approx(2 / 7)
    words = [str(tmp_path / "full"), str(tmp_path / "alone")]
    assert call(["golden", "isolate", *words]) == 0
    out = capsys.readouterr().out
    assert "3 of 7  right with the gold passages only: retrieval failed  (q2, q3, q4)" in out
    assert call(["golden", "isolate", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"]["generation"] == ["q5"]


def test_a_metric_that_a_run_lacks_is_named(tmp_path: Path) -> None:
    one = run(tmp_path / "one", "rw")
    with pytest.raises(UsageError, match=r"has no metric 'contains_answers'. Did you mean"):
        isolated(one, one, "contains_answers")
