"""Two processes with one ledger never pay for a question twice."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from llm_server import LLMServer
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import JUDGE_ANSWER

N = 12
ASKS = """
import asyncio, sys
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import NO_KEY

async def ask(judge):
    await judge.open()
    questions = [RelevanceGrade(f"q{at}?", "p") for at in range(int(sys.argv[3]))]
    asked = [asyncio.ensure_future(judge.answer(one)) for one in questions]
    await asyncio.sleep(0.1)
    print("asks", flush=True)
    grades = [(await one).answer.grade for one in asked]
    await judge.close()
    return grades

with Ledger(sys.argv[1]) as ledger:
    print(asyncio.run(ask(LLMJudge(OpenAIChat(sys.argv[2], NO_KEY), "m", ledger=ledger))))
"""
"""A process that asks questions, and prints when it has begun, and the answers."""


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "ledger.sqlite")
    return str(request.getfixturevalue("postgres").new_database())


def started(place: str, server: LLMServer, folder: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", ASKS, place, server.url, str(N)]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "asks\n"
    return process


def wait_for(server: LLMServer, requests: int) -> None:
    while server.stats()["requests"] < requests:
        time.sleep(0.02)


def test_two_processes_at_a_time_ask_each_question_once(place: str, tmp_path: Path) -> None:
    with LLMServer(hold=True) as server:
        runs = [started(place, server, tmp_path) for _ in range(2)]
        wait_for(server, N)
        server.settings.hold = False
        first, second = (run.communicate()[0] for run in runs)
        assert server.stats()["requests"] == N
    assert first == second and [run.returncode for run in runs] == [0, 0]
    with Ledger(place, create=False) as ledger:  # there, and not in a file of that name
        assert sum(1 for _ in ledger.rows("kind = ?", JUDGE_ANSWER)) == N
    assert {path.name for path in tmp_path.iterdir()} <= {"ledger.sqlite", "ledger.sqlite-leases"}


def test_the_questions_of_a_process_that_was_killed_are_free_again(place: str, tmp_path) -> None:
    with LLMServer(hold=True) as server:
        killed = started(place, server, tmp_path)
        wait_for(server, N)
        other = started(place, server, tmp_path)
        killed.kill()
        killed.communicate()
        server.settings.hold = False
        told, _ = other.communicate()
        assert other.returncode == 0 and told.count(",") == N - 1
