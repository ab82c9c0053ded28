"""A system that is given the gold passages: the isolated run of its generation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call

QUERIES = [
    {"id": "a", "query": "When?", "references": ["nine"],
     "gold": [{"document": "d", "start": 0, "end": 13, "text": "Open at nine."}]},
    {"id": "b", "query": "Where?", "references": ["here"],
     "gold": [{"document": "d", "start": 14, "end": 24, "text": "It is far."},
              {"document": "d", "start": 30, "end": 35, "text": "Noise", "grade": 0}]},
]  # fmt: skip


def generator(query: str, passages: list[str] | None = None) -> dict[str, object]:
    """Retrieves a wrong passage, and repeats what it is given."""
    found = ["Nobody knows."] if passages is None else passages
    return {"answer": " ".join(found), "passages": found}


def test_a_function_answers_from_the_gold_passages() -> None:
    full = ragassay.ask(QUERIES, generator).samples
    alone = ragassay.ask(QUERIES, generator, gold_passages=True).samples
    assert [one.answer_text for one in full] == ["Nobody knows.", "Nobody knows."]
    assert [one.answer_text for one in alone] == ["Open at nine.", "It is far."]
    assert [[passage.text for passage in one.passages or ()] for one in alone] == [
        ["Open at nine."],
        ["It is far."],
    ]
    assert all(one.metadata["asked"]["passages"] == "gold" for one in alone)


def test_the_passages_of_an_answer_are_those_that_were_given_whatever_it_says() -> None:
    def silent(query: str, passages: list[str] | None = None) -> dict[str, object]:
        return {"answer": "So.", "passages": ["Nobody knows."]}

    (sample, _) = ragassay.ask(QUERIES, silent, gold_passages=True).samples
    assert [one.text for one in sample.passages or ()] == ["Open at nine."]
    assert sample.passages_prescribed


def test_a_system_without_a_place_for_passages_is_refused() -> None:
    with pytest.raises(UsageError, match="takes no passages, so it cannot be given the gold ones"):
        ragassay.ask(QUERIES, lambda query: "x", gold_passages=True)


def test_both_runs_tell_where_a_query_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command is given them in its request; answers of both kinds are kept apart."""
    monkeypatch.chdir(tmp_path)
    import json

    Path("queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUERIES))
    Path("rag.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "print(json.dumps({'answer': ' '.join(asked.get('passages', ['Nobody knows.']))}))\n"
    )
    words = ["ask", "queries.jsonl", "--target", f"command:{sys.executable} rag.py"]
    suite = ["--suite", "qa", "--save"]
    assert call([*words, "-o", "full.jsonl", *suite, "runs/full"]) == 0
    alone = ["-o", "alone.jsonl", *suite, "runs/alone", "--gold-passages"]
    assert call([*words, *alone]) == 0
    capsys.readouterr()
    assert call(["golden", "isolate", "runs/full", "runs/alone", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["queries"]
    assert (found["retrieval"], found["generation"]) == (["a"], ["b"])
