"""Nothing that was paid for is lost in a crash, and nothing is paid for twice.

The real command, against a real server, killed for real.
"""

import os
import random
import sqlite3
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from llm_server import LLMServer
from run_process import Commands

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")

SAMPLES = 40
PER_SAMPLE = 3
"""Questions of the suite ``ragreport``: one about each relationship."""
QUESTIONS = SAMPLES * PER_SAMPLE
IN_FLIGHT = 8


def samples(n: int) -> list[dict[str, Any]]:
    draw = random.Random(0)
    words = ["river", "bridge", "mayor", "tower", "market", "harbour", "1875", "stone", "old", "is"]

    def text(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    return [
        {
            "id": f"q{at}", "query": f"{at} {text(6)}?", "contexts": [text(20), text(20)],
            "answer": f"{text(12)} {at}.",
        }
        for at in range(n)
    ]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with (tmp_path / "samples.jsonl").open("wb") as stream:
        for record in samples(SAMPLES):
            stream.write(orjson.dumps(record) + b"\n")
    return tmp_path


@pytest.fixture
def commands(processes: Commands, project: Path) -> Commands:
    processes.folder = project
    return processes


def words(server: LLMServer, output: str, *more: str, ledger: str = "ledger.sqlite") -> list[str]:
    return [
        "run", "samples.jsonl", "--suite", "ragreport", "--judge", f"{server.url}#m",
        "-j", str(IN_FLIGHT), "--ledger", ledger, "-o", output, *more,
    ]  # fmt: skip


def scores(folder: Path) -> list[Any]:
    lines = (folder / "scores.jsonl").read_bytes().splitlines()
    assert lines
    return [orjson.loads(line) for line in lines]


def prompt_of(body: dict[str, Any]) -> str:
    return orjson.dumps(body["messages"]).decode()


def committed(ledger: Path) -> set[str]:
    """The prompts of all verdicts that a ledger holds, read past our own code."""
    if not ledger.exists():
        return set()
    connection = sqlite3.connect(ledger)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return set()  # killed while it was being made
        rows = connection.execute("SELECT payload FROM paid_answers").fetchall()
        return {prompt_of(orjson.loads(zlib.decompress(row[0]))) for row in rows}
    finally:
        connection.close()


def until(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up, what
        time.sleep(0.001)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.heavy)])
def test_a_run_that_is_killed_many_times_ends_with_the_same_scores_and_pays_once(
    project: Path, server: LLMServer, commands: Commands, kills: int
) -> None:
    assert commands.run(*words(server, "whole", ledger="other.sqlite")) == 0, commands.output()
    assert server.stats()["answered"] == server.stats()["distinct"] == QUESTIONS

    server.state.reset()
    server.settings.latency, server.settings.jitter = 0.075, 0.06
    draw = random.Random(1)
    ledger = project / "ledger.sqlite"
    known: set[str] = set()
    for at in range(kills):
        asked = server.state.bodies.copy()
        goal = server.stats()["requests"] + draw.randint(0, 2 * (QUESTIONS - len(known)) // kills)
        commands.start(*words(server, "killed"))
        until(lambda goal=goal: server.stats()["requests"] > goal, commands.output())  # type: ignore[misc]
        time.sleep(draw.random() * 0.1)
        assert commands.kill() == -9, f"kill {at} came too late: {commands.output()}"
        # The server has answered what killed processes left behind.
        until(lambda: server.stats()["in_flight"] == 0, "the server goes on answering")
        again = {prompt_of(body) for body in server.bodies[asked.total() :]}
        assert not again & known, "a committed verdict was paid for again"
        now = committed(ledger)
        assert now >= known, "a committed verdict is lost"
        known = now
        assert not (project / "killed" / "scores.jsonl").exists(), "half a run looks like a whole"
    assert 0 < len(known) < QUESTIONS

    assert commands.run(*words(server, "killed")) == 0, commands.output()
    assert scores(project / "killed") == scores(project / "whole")
    found = server.stats()
    assert found["distinct"] == QUESTIONS
    assert QUESTIONS <= found["answered"] <= QUESTIONS + kills * IN_FLIGHT
    assert len(committed(ledger)) == QUESTIONS


def test_failures_that_would_come_again_are_asked_again_only_on_demand(project, server, commands):
    server.settings.faults = lambda request: "refusal" if request.digest[0] < 40 else None
    assert commands.run(*words(server, "first")) == 3
    refused = server.stats()["faults"]["refusal"]
    assert 10 < refused < QUESTIONS
    assert server.stats()["requests"] == QUESTIONS, "a refusal is an answer: it is not retried"

    server.settings.faults = {}
    server.state.reset()
    assert commands.run(*words(server, "second")) == 3
    assert server.stats()["requests"] == 0
    assert scores(project / "first") == scores(project / "second")

    assert commands.run(*words(server, "third", "--retry-failed")) == 0
    assert server.stats()["requests"] == refused
    assert commands.run(*words(server, "fourth", "--retry-failed")) == 0
    assert server.stats()["requests"] == refused


def test_an_exported_ledger_replays_the_run_without_an_endpoint(project, server, commands) -> None:
    server.settings.faults = lambda request: "refusal" if request.digest[0] < 20 else None
    assert commands.run(*words(server, "first")) == 3
    assert commands.run("ledger", "export", "ledger.sqlite", "-o", "answers.jsonl") == 0
    asked = server.stats()["requests"]
    replay = ["run", "samples.jsonl", "--suite", "ragreport", "--judge", "replay:answers.jsonl"]
    assert commands.run(*replay, "-o", "second") == 3, commands.output()
    assert server.stats()["requests"] == asked
    both = (scores(project / name) for name in ("first", "second"))
    first, second = ([{**row, "judge": ""} for row in rows] for rows in both)
    assert first == second
