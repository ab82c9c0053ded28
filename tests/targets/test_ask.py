"""Asking systems: what is recorded, kept and asked again; where the answers go."""

import asyncio
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import RagassayError, UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.cli.command_line import call
from ragassay.formats import load
from ragassay.judges.ledger.ledger_store import DEFAULT, Ledger
from ragassay.judges.ledger.paid_answers import ANSWER
from ragassay.judges.ledger.system_answers import SystemAnswers
from ragassay.targets.ask_run import ask, open_asking, plan_asking
from ragassay.targets.asking.ask_summary import AskSummary, asked_report
from run_process import Commands
from system_server import PLAIN, Reply, SystemServer, echo
from terminal_text import shown

QUERIES = [
    {"id": f"q{n}", "query": f"What is {n}?", "references": [str(n)], "metadata": {"n": n}}
    for n in range(5)
]


def test_an_answer_is_a_sample_with_what_was_measured() -> None:
    with SystemServer():
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 0
    samples = load("answers.jsonl")
    assert [sample.id for sample in samples] == [one["id"] for one in QUERIES]
    for sample, query in zip(samples, QUERIES, strict=True):
        assert sample.answer_text == f"about {query['query']}"
        assert sample.system == "mine" and sample.references == (query["references"][0],)
        assert sample.passages is not None and sample.passages[0].score == 0.5
        asked = sample.metadata["asked"]
        assert asked["latency"] > 0 and asked["attempts"] == 1
        assert sample.timestamp == asked["at"]
        assert (asked["input_tokens"], asked["output_tokens"]) == (10, 3)
        assert len(asked["fingerprint"]) == 16 and sample.metadata["n"] == query["metadata"]["n"]


def test_a_changed_mapping_is_another_system() -> None:
    with SystemServer() as server:
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 0
        Path("mine.yaml").write_text(server.mapping.replace("turns:", "k: 3, turns:"))
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 0
        assert len(server.asked) == 10 and server.asked[-1]["k"] == 3


def test_a_failure_is_no_answer_and_is_asked_again(capsys) -> None:
    def rule(number: int, asked: Any) -> Any:
        if asked["question"] == "What is 3?" and broken:
            return Reply(b'{"detail": "index is missing"}', 422)
        return {"answer": ""} if asked["question"] == "What is 4?" else echo(number, asked)

    broken = [True]
    with SystemServer(rule) as server:
        mapping = server.mapping.replace("passages: hits", "passages: hits?")
        Path("mine.yaml").write_text(mapping)
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 3
        said = " ".join(capsys.readouterr().out.split())
        assert "mine: 1 refused: query 'q3'" in said and "index is missing" in said
        assert "from the ledger" not in said
        samples = {sample.id: sample for sample in load("answers.jsonl")}
        assert samples["q3"].answer is None
        assert samples["q3"].failure and samples["q3"].failure.startswith("refused: ")
        assert samples["q4"].answer_text == "" and samples["q4"].metadata["no_answer"] is True
        broken.clear()
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 0
        assert len(server.asked) == 6  # only the one that failed
        assert load("answers.jsonl")[3].answer is not None


def _kept_answers() -> int:
    with Ledger(DEFAULT) as ledger:
        return sum(1 for _ in ledger.rows("kind = ? AND reason IS NULL", ANSWER))


def _soon(holds: Callable[[], bool]) -> bool:
    """Whether something becomes true within a minute."""
    for _ in range(6_000):
        if holds():
            return True
        time.sleep(0.01)
    return False


def test_the_next_query_is_asked_while_an_answer_is_kept_and_no_other() -> None:
    """A ledger that is slow holds no place; what waits for it is bounded, and not given out."""
    with Ledger(DEFAULT) as ledger:
        SystemAnswers(ledger, "other", "")  # makes the table
    with SystemServer() as server, closing(sqlite3.connect(DEFAULT, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asking = open_asking("queries.jsonl", "mine.yaml", ledger=DEFAULT, concurrency=1)
        with asking as begun, begun:
            assert _soon(lambda: len(server.asked) == 2)
            time.sleep(0.2)  # a third would come at once
            assert len(server.asked) == 2
            assert begun.done == 0 and not begun.arriving["mine"].samples
            other.execute("ROLLBACK")
            assert begun.wait().complete
        assert len(server.asked) == _kept_answers() == len(QUERIES)


def test_repeats_go_straight_into_the_consistency_suite(desk: Path) -> None:
    words = ["ask", "queries.jsonl", "--target", "mine.yaml", "--repeat", "3"]
    with SystemServer() as server:
        assert call([*words, "--suite", "qa,consistency", "--save", "runs/mine"]) in (0, 3)
        assert len(server.asked) == 15
    assert {sample.repeat for sample in load("answers.jsonl")} == {0, 1, 2}
    assert (desk / "runs" / "mine" / "consistency" / "summary.json").is_file()


def _noted(order: list[str], name: str, query: str) -> str:
    order.append(name)
    return query


def test_two_systems_are_asked_in_turns_and_have_a_file_each() -> None:
    order: list[str] = []
    systems = {name: partial(_noted, order, name) for name in ("one", "two")}
    answers = ask("queries.jsonl", systems, concurrency=1, output="all.jsonl")
    assert order == ["one", "two", "two", "one"] * 2 + ["one", "two"]
    assert [path.name for path in answers.files.values()] == ["all-one.jsonl", "all-two.jsonl"]
    assert {sample.system for sample in load("all-two.jsonl")} == {"two"}


def test_of_all_systems_together_no_more_are_in_flight_than_wanted() -> None:
    flying, most = 0, 0

    async def system(query: str) -> str:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.01)
        flying -= 1
        return query

    assert ask(QUERIES, {"one": system, "two": system}, concurrency=2, repeat=3).complete
    assert most == 2


def test_history_is_as_given_or_the_systems_own() -> None:
    yes = Turn("user", "First?"), Turn("agent", "Yes.")
    given = Sample(id="a1", query="And now?", history=yes)
    first = Sample(id="a0", query="First?")
    turns = (*given.history, Turn("user", "And now?"), Turn("agent", "So."))
    last = Sample(id="a2", query="Then?", history=turns)
    asked: list[tuple[str, list[Turn]]] = []

    def system(query: str, history: list[Turn]) -> str:
        asked.append((query, history))
        return f"mine to {query}"

    as_given = ask([first, given], system)
    assert as_given.samples[1].history == given.history
    asked.clear()
    own = ask([first, given, last], system, history="own")
    assert own.samples[1].history == (Turn("user", "First?"), Turn("agent", "mine to First?"))
    assert own.samples[1].metadata["asked"]["history"] == "own"
    mine = Turn("user", "And now?"), Turn("agent", "mine to And now?")
    assert own.samples[2].history == (*own.samples[1].history, *mine)
    assert len(asked) == 3  # the earlier turns are queries of the data: each is asked once
    done: list[int] = []
    alone = ask([given], system, history="own", progress=done.append)
    assert done[-1] == 1, "a turn that is no query of the data is none of the samples"
    greeted = Sample(id="h", query="Hello", history=(Turn("agent", "Welcome."),))
    assert ask([greeted], system, history="own").samples[0].history == greeted.history
    assert alone.samples[0].history == own.samples[1].history and len(alone.samples) == 1


def test_it_works_inside_a_running_loop_and_with_every_kind_of_function() -> None:
    async def coroutine(query: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"answer": query, "contexts": ["a text"]}

    async def stream(query: str):
        yield "two "
        yield "words"

    def pieces(context: str, metadata: dict[str, Any]):  # whatever the first is called
        yield from ("three ", f"more {metadata['n']}")

    def whole(item: ragassay.Sample) -> Sample:
        return Sample(id=item.id, answer=item.metadata["n"] * "x")

    async def notebook() -> ragassay.Answers:
        return ask(QUERIES, {"c": coroutine, "s": stream, "p": pieces, "w": whole})

    answers = asyncio.run(notebook())
    assert answers.complete
    (first, *_), streamed = answers.of("c"), answers.of("s")[0]
    assert first.passages is not None and first.passages[0].text == "a text"
    assert streamed.answer_text == "two words" and streamed.metadata["asked"]["first_token"] >= 0
    assert answers.of("p")[2].answer_text == "three more 2"
    assert answers.of("w")[3].answer_text == "xxx"


def test_what_systems_made_of_the_queries_before_is_left_out() -> None:
    about = {"asked": {"cost": 1.0}, "no_answer": True, "n": 1}
    before = [
        Sample(id="q", query="Why?", system=name, answer="old", repeat=repeat, references=("r",),
               timestamp=7.0, passages=(), given={"x": 1}, metadata=about,
               given_unscored={"y": "z"}, failure=None if repeat else "late")
        for name in ("a", "b") for repeat in range(2)
    ]  # fmt: skip
    usage = {"input_tokens": 0, "output_tokens": 2}
    (sample,) = ask(before, lambda query: {"answer": "new", "usage": usage}).samples
    assert usage.items() <= sample.metadata["asked"].items(), "none was read, and that is known"
    assert sample.metadata.keys() == {"asked", "n"} and "cost" not in sample.metadata["asked"]
    assert replace(sample, metadata={}) == Sample(
        id="q", query="Why?", system="lambda", answer="new", references=("r",), timestamp=7.0,
    )  # fmt: skip


@pytest.mark.parametrize(("queries", "options", "said"), [
    ([{"id": "q", "answer": "a"}], {}, "no query"),
    ([{"id": "q", "query": "a"}, {"id": "q", "query": "b", "repeat": 1}], {}, "id of its own"),
    ([Sample(id="q", query="a", repeat=n, history=(Turn("user", "b"),) * n) for n in (0, 1)], {},
     "of its own"),
    (QUERIES, {"repeat": 0}, "repeat is 0"), (QUERIES, {"history": "mine"}, "given or own"),
    (QUERIES, {"concurency": 2}, "concurrency"), (QUERIES, {"timeout": 0}, "greater than 0"),
    ([{"id": "q", "query": "a", "gold": ["p"]}], {}, "lists ids of passages.*gold_ids in the qu"),
])  # fmt: skip
def test_bad_requests_are_refused(queries: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(RagassayError, match=said):
        ask(queries, lambda query: {"answer": query, "passages": {"p": "text"}}, **options)


def test_one_system_under_two_names_keeps_two_answers() -> None:
    """How far a system differs by itself would be none, after a restart."""
    with SystemServer(lambda number, sent: {"a": f"the {number}th"}) as server:
        Path("mine.yaml").write_text(PLAIN.replace("URL", server.url))
        targets = ["a=mine.yaml", "b=mine.yaml"]
        found = [ask("queries.jsonl", targets, ledger="kept.sqlite") for _ in range(2)]
        n_asked = len(server.asked)
        alone = ask("queries.jsonl", "b=mine.yaml", ledger="kept.sqlite")
        assert len(server.asked) == n_asked
        (first, second) = plan_asking("queries.jsonl", targets, ledger="kept.sqlite")
    assert first.to_send == second.to_send == 0
    said = [[one.answer_text for one in each.samples] for each in found]
    assert said[0] == said[1] and len(set(said[0])) == len(said[0]) == n_asked
    assert [one.answer_text for one in alone.samples] == said[0][len(QUERIES) :]


def test_earlier_turns_that_are_no_queries_of_the_data_count_and_mix_with_none() -> None:
    def mine(query: str, history: Any, metadata: Any) -> str:
        return f"{query} {[*metadata]} after {' '.join(turn.text for turn in history)}"

    turns = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "He."}]
    queries = [
        {"id": "c/turn-1", "query": "What else?"},
        {"id": "c", "query": "When?", "history": turns, "metadata": {"k": 1}},
    ]
    other = {**turns[1], "content": "She."}  # not what the other one heard: no turn of its own
    asked = [turns[0], other, {**turns[0], "content": "When?"}, turns[1]]
    queries.append({"id": "d", "query": "And?", "history": asked})
    for _ in range(2):
        answers = ask(queries, mine, history="own", ledger="kept.sqlite")
        assert [one.answer_text for one in answers.samples] == [
            "What else? [] after ",
            "When? ['k'] after Who? Who? ['k'] after ",
            "And? [] after Who? Who? [] after  When? When? [] after Who? Who? [] after ",
        ]
    summary = answers.summaries["mine"]
    assert (summary.answered, summary.from_ledger) == (3, 3)


LONG = [f"a-very-long-name-of-a-system-under-test-{end}" for end in ("2026-11", "2")]


@pytest.fixture(autouse=True)
def _query(desk: Path) -> None:
    Path("q.jsonl").write_text(json.dumps({"id": "q1", "query": "Who?"}) + "\n")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "x.csv.gz", "x.XLSX"])
def test_a_name_of_another_kind_of_file_is_refused(name: str, capsys) -> None:
    words = [sys.executable, "-c", "open('asked', 'w')"]
    assert call(["ask", "q.jsonl", "-t", f"command:{' '.join(words)}", "-o", name]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{name}: the answers are written as JSON Lines" in said and ".jsonl.gz" in said
    assert not Path("asked").exists() and not Path(name).exists()


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.ndjson", "x"])
def test_each_system_has_a_file_whose_name_ends_alike(name: str) -> None:
    stem, dot, end = name.partition(".")
    Path(f"{stem}-one{dot}{end}").touch()  # an empty file holds nothing
    asked = ask("q.jsonl", {"one": str.upper, "two": str.lower}, output=name)
    assert [str(path) for path in asked.files.values()] == [
        f"{stem}-one{dot}{end}", f"{stem}-two{dot}{end}",
    ]  # fmt: skip
    for path, said in zip(asked.files.values(), ("WHO?", "who?"), strict=True):
        assert [one.answer_text for one in load(path)] == [said]
    with pytest.raises(UsageError, match=r"'a b' and 'A/b' would share the file x-A-b"):
        ask("q.jsonl", {"a b": str.upper, "A/b": str.lower}, output=name)
    ask("q.jsonl", {"one": str.title}, output=(path := asked.files["one"]))  # replaces its own
    ask(QUERIES[:2], {"one": lambda query: 1 / 0}, output=path)
    ask("q.jsonl", {"one": str.title}, output=path)  # failures of other queries are no loss
    ask(QUERIES[:2], {"one": str.title}, output=path)
    for begin in (ask, plan_asking):  # the other answer would be lost
        with pytest.raises(UsageError, match="holds 1 answer to other queries"):
            begin(QUERIES[:2], {"one": str.title}, output=path, limit=1)
    for content, name in ((path.read_bytes(), "two"), (b"notes", "one"), (b'{"query": 1}', "one")):
        path.write_bytes(content)
        for begin in (ask, plan_asking):
            with pytest.raises(UsageError, match=f"other data than answers of the system '{name}'"):
                begin("q.jsonl", {name: str.lower}, output=path)


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
        assert "12.7M" in rows and "$123.46" in rows and "<$0.01" in rows
    names = "".join(line[: line.find("  ", 2)].strip() for line in lines[3:7])
    assert all(name in names for name in LONG)


@pytest.mark.parametrize(("tokens", "cost", "seconds", "cells"), [
    ((999_998, 1), 9.99999, 0.9996, ("999,999", "$10.00", "1000 ms")),
    ((999_999, 1), 10.0, 1.0, ("1.0M", "$10.00", "1.00 s")), ((None, 1), None, None, ("-",) * 3),
])  # fmt: skip
def test_amounts_are_shown_in_few_digits(tokens: Any, cost: Any, seconds: Any, cells: Any) -> None:
    latency = {} if seconds is None else {"p50": seconds}
    numbers = {"input_tokens": tokens[0], "output_tokens": tokens[1], "latency": latency}
    (table, _) = asked_report([replace(summary("s", cost), **numbers)]).blocks
    row = zip(table.columns, table.rows[0].cells, strict=True)
    read = {column.head: cell.text for column, cell in row}
    assert (read["tokens"], read["cost"], read["p50"]) == cells


def test_a_killed_run_goes_on_where_it_was(processes: Commands, desk: Path) -> None:
    """Its answers are in the ledger, and there is no file until all are there."""
    hold, third = threading.Event(), threading.Event()

    def rule(number: int, asked: Any) -> Any:
        if number < 2:
            return echo(number, asked)
        third.set()
        return Reply(hold=hold, drop=True)

    with SystemServer(rule) as server:
        command = ["ask", "queries.jsonl", "--target", "mine.yaml", "-j", "1"]
        processes.folder = desk
        processes.start(*command)
        assert third.wait(60)
        assert _soon(lambda: _kept_answers() == 2)  # it may be asked while the second is kept
        processes.kill()
        hold.set()
        assert not Path("answers.jsonl").exists()
        server.rule = echo
        assert call(command) == 0
        assert [one["question"] for one in server.asked[3:]] == [f"What is {n}?" for n in (2, 3, 4)]
        assert all(sample.answer is not None for sample in load("answers.jsonl"))
