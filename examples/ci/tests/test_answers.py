"""Tests of the system: one answer, and all of them together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from my_rag import answer

from ragassay.testing import CollectedSamples, assert_score

QUERIES = Path(__file__).parents[1] / "evaluation" / "queries.jsonl"
CASES = [json.loads(line) for line in QUERIES.read_text(encoding="utf-8").splitlines()]


def test_the_author_of_dune_is_in_the_answer() -> None:
    """One answer by itself."""
    query = "Who wrote Dune?"
    assert_score(
        {"query": query, "references": ["Frank Herbert"], **answer(query)}, "token_f1.r>=1"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_answer(rag_eval: CollectedSamples, case: dict[str, Any]) -> None:
    """The gates of evaluation/run.yaml decide about all of these at the end."""
    reply = answer(case["query"])
    assert reply["answer"], "no answer"
    rag_eval.add(case, **reply)
