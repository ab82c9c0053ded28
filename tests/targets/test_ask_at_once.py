"""Two processes that ask one system with one ledger share what they ask."""

import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from ragassay import load
from run_process import Commands
from system_server import Reply, SystemServer, echo

N = 20


@pytest.fixture(autouse=True)
def _queries(desk: Path) -> None:
    jsonl("queries.jsonl", *({"id": f"q{n}", "query": f"What is {n}?"} for n in range(N)))


@pytest.fixture
def started(processes: Commands) -> Callable[..., Any]:
    """Begins to ask in a process of its own."""
    words = ("ask", "queries.jsonl", "--target", "mine.yaml", "-o")
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return partial(processes.beside, *words, **pipes)


def questions(server: SystemServer) -> Counter[str]:
    return Counter(one["question"] for one in server.asked)


def test_two_processes_ask_each_query_once(started: Any) -> None:
    outputs = ("answers.jsonl", "answers.jsonl")
    with SystemServer(lambda *asked: time.sleep(0.1) or echo(*asked)) as server:
        both = [started(output, "-j", "4") for output in outputs]
        for process in both:
            _, told = process.communicate(timeout=120)
            assert process.returncode == 0, told
        assert questions(server) == {f"What is {n}?": 1 for n in range(N)}
    answers = [[one.answer_text for one in load(output)] for output in outputs]
    assert answers[0] == answers[1] == [f"about What is {n}?" for n in range(N)]


def test_what_one_process_cannot_get_the_other_asks(started: Any) -> None:
    """A failure is nobody's answer: the query is free again."""
    failed = threading.Event()

    def rule(number: int, asked: Any) -> Any:
        if asked["question"] == "What is 0?" and not failed.is_set():
            failed.set()
            time.sleep(0.3)
            return Reply(status=400)
        return echo(number, asked)

    with SystemServer(rule) as server:
        first = started("a.jsonl", "-j", "1")
        assert failed.wait(60)
        second = started("b.jsonl", "-j", "1")
        first.communicate(timeout=120)
        second.communicate(timeout=120)
        assert (first.returncode, second.returncode) == (3, 0)
        assert questions(server) == {f"What is {n}?": 1 + (n == 0) for n in range(N)}


def test_who_waits_for_another_process_can_be_interrupted(started: Any) -> None:
    hold, begun = threading.Event(), threading.Event()

    def rule(number: int, asked: Any) -> Any:
        begun.set()
        return Reply(hold=hold, drop=True) if number == 0 else echo(number, asked)

    with SystemServer(rule) as server:
        first = started("a.jsonl", "-j", "1")
        assert begun.wait(60)
        second = started("b.jsonl", "-j", "1")
        time.sleep(1.5)  # it has started, and waits
        second.send_signal(signal.SIGINT)
        _, told = second.communicate(timeout=20)
        assert second.returncode == 130 and len(told.strip().splitlines()) == 1, told
        assert len(server.asked) == 1
        first.kill()
        first.wait()
        hold.set()
        third = started("c.jsonl")
        _, told = third.communicate(timeout=60)
        assert third.returncode == 0, told
