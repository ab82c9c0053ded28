"""`ragassay ask --suite`: answers are evaluated as they arrive, and nothing is lost."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from llm_server import LLMServer
from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.cli.command_line import call
from ragassay.formats import load
from ragassay.golden.golden_folder import GoldenSet
from ragassay.targets.ask_run import open_asking, read_queries
from system_server import SystemServer, echo


@pytest.fixture(autouse=True)
def _queries(desk: Path) -> None:
    jsonl("queries.jsonl", *({"id": f"q{n}", "query": f"What is {n}?"} for n in range(160)))


def test_a_judge_is_asked_before_the_last_query_is(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragassay.engine.run.scoring.JUDGED_WINDOW", 16)
    waited: list[bool] = []
    with LLMServer() as judge:

        def rule(number: int, sent: Any) -> Any:
            if sent["question"] == "What is 39?":
                end = time.monotonic() + 30
                while not judge.stats()["requests"] and time.monotonic() < end:
                    time.sleep(0.01)
                waited.append(bool(judge.stats()["requests"]))
            return echo(number, sent)

        with SystemServer(rule):
            code = call(
                ["ask", "queries.jsonl", "--target", "mine.yaml", "--save", "run", "--suite",
                 "trecrag", "--judge", f"{judge.url}#m", "--limit", "40"]
            )  # fmt: skip
    assert code in (0, 3) and waited == [True]
    summary = json.loads(Path("run/summary.json").read_text())
    assert summary["n_samples"] == 40 and summary["title"] == "answers.jsonl"
    assert summary["metrics"]["umbrela"]["n_scored"] == 40
    assert len(load("answers.jsonl")) == 40
    assert "umbrela" in capsys.readouterr().out


def test_an_evaluation_that_fails_does_not_end_the_asking(capsys) -> None:
    Path("taken").write_text("a file where the run folder would be")
    with SystemServer() as server:
        command = ["ask", "queries.jsonl", "--target", "mine.yaml", "--suite", "serving"]
        assert call([*command, "--save", "taken"]) == 2
        assert "the asking goes on" in " ".join(capsys.readouterr().err.split())
        assert all(sample.answer is not None for sample in load("answers.jsonl"))
        assert call([*command, "--save", "run"]) in (0, 3)
        assert len(server.asked) == 160


def test_an_answer_that_is_missing_is_seen_although_its_evaluation_is_complete(capsys) -> None:
    Path("ten.py").write_text("def answer(query):\n    return f\"{1 / ('is 10?' not in query)}\"\n")
    words = ["ask", "queries.jsonl", "--target", "ten:answer", "--suite", "serving"]
    assert call(words) == 3
    capsys.readouterr()
    assert call([*words, "--quiet"]) == 3
    assert capsys.readouterr().err.startswith("answer: 1 failed: query 'q10'")


def test_what_is_wrong_with_the_evaluation_shows_before_asking(monkeypatch, capsys) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with SystemServer() as server:
        words = ["--suite", "trecrag", "--judge", "openai:gpt-4o"]
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml", *words]) == 2
        assert not server.asked and "OPENAI_API_KEY" in capsys.readouterr().err
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-process")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        ragassay.evaluate("queries.jsonl", judge="openai:gpt-4o", environment={})


def test_samples_are_read_in_their_order_as_often_as_wanted_while_others_are_asked() -> None:
    hold = threading.Event()

    def system(query: str) -> str:
        if query == "What is 100?":
            assert hold.wait(30)
        return f"about {query}"

    with open_asking("queries.jsonl", {"mine": system}, concurrency=4) as asking, asking:
        arriving = iter(asking.arriving["mine"])
        first = [next(arriving).id for _ in range(100)]
        assert first == [f"q{n}" for n in range(100)] and asking.done < 160
        hold.set()
        rest = [sample.id for sample in arriving]
        assert rest == [f"q{n}" for n in range(100, 160)]
        assert len(list(asking.arriving["mine"])) == 160
        assert asking.wait().complete


FACTS = ["Line 4 runs often.", "A ticket costs 3 euros.", "The depot lies in Hafen Street."]


@pytest.fixture
def golden() -> Path:
    """A set of three items, the last of which is a draft."""
    Path("docs").mkdir()
    Path("docs/bus.md").write_text(f"# Bus\n\n{' '.join(FACTS)}\n")
    spans = [{"text": one, "document": "bus"} for one in FACTS]
    records = [{"id": f"g{n}", "query": f"Fact {n}?", "gold": [spans[n]]} for n in range(3)]
    jsonl("set.jsonl", *records)
    assert call(["golden", "import", "set.jsonl", "--documents", "docs", "-o", "golden"]) == 0
    made = GoldenSet.open(Path("golden"))
    for item in made.items[:2]:
        item.status = "accepted"
    made.save()
    return Path("golden")


def retrieves(query: str) -> dict[str, object]:
    """A system that tells the texts of its passages, not where they stand."""
    fact = FACTS[int(query.split()[1].rstrip("?"))]
    return {"answer": fact, "passages": [{"id": "1", "text": f"{fact} "}]}


def test_passages_are_found_in_the_documents_of_a_golden_set_that_is_asked(golden: Path) -> None:
    Path("mine.py").write_text(f"FACTS = {FACTS}\ndef answer(query):\n    return " + (
        "{'answer': '', 'passages': [{'id': '1', 'text': FACTS[int(query.split()[1][0])]}]}\n"
    ))  # fmt: skip
    done: list[int] = []
    command = ["ask", "golden", "--target", "mine:answer", "--suite", "chunks", "--save", "asked"]
    assert call(command) == 0
    assert call(["run", "answers.jsonl", "--golden", "golden", "-s", "chunks", "-o", "run"]) == 0
    asked, run = (json.loads(Path(one, "summary.json").read_text()) for one in ("asked", "run"))
    assert asked["metrics"]["SpanR@5"]["mean"] == asked["metrics"]["CharR@5"]["mean"] == 1.0
    assert asked["metrics"] == run["metrics"] and asked["warnings"] == run["warnings"]
    with pytest.warns(RagassayWarning, match="1 draft of golden left out"):
        about: Any = {"name": "mine", "limit": 1, "progress": done.append}
        result = ragassay.evaluate(golden, "chunks", system=retrieves, **about)
    assert result.summary.metrics["SpanR@5"].mean == 1.0 and result.summary.title == "mine"
    assert result.summary.n_samples == done[-1] == 1


def test_drafts_that_are_left_out_are_told(golden: Path, capsys) -> None:
    Path("mine.py").write_text("def answer(query):\n    return 'x'\n")
    assert [one.id for one in read_queries(golden, 1, tell_drafts=False)] == ["g0"]
    assert call(["ask", "golden", "--target", "mine:answer"]) == 0
    told = "1 draft of golden left out: review it (ragassay golden review golden)"
    assert f"note: {told}.\n" in capsys.readouterr().err
    # An evaluation tells the same: once is enough.
    words = ["ask", "golden", "--target", "mine:answer", "--suite"]
    assert call([*words, "retrieval"]) == 3
    capsys.readouterr()
    assert call([*words, "serving"]) == 0
    said = capsys.readouterr()
    assert f"{said.err}{said.out}".count("1 draft of golden left out") == 1
    words = ["ask", "golden", "-t", "x=mine:answer", "-t", "y=mine:answer"]
    assert call([*words, "--save", "both"]) in (0, 3)
    runs = [ragassay.open_run(f"both/answers-{name}") for name in "xy"]
    assert [run.summary.system for run in runs] == ["x", "y"]

    def told_of(*ids: str, drafts: bool = False) -> str:
        answers = [{"id": one, "answer": "x"} for one in ids]
        one = ragassay.evaluate(answers, metrics=["em"], golden="golden", golden_drafts=drafts)
        return " ".join(one.summary.warnings)

    assert f"{told}, or count drafts, too (ragassay run --golden-drafts)." in told_of("g0", "g1")
    both = told_of("g0", "g1", "g2")
    assert "1 draft of golden left out, with 1 sample: " in both and "no item of this" not in both
    assert "left out" not in told_of("g0", "g1", "g2", drafts=True)
    with pytest.raises(InputError, match="Some ids are of drafts: review them"):
        told_of("g2")
