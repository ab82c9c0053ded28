"""Two processes with one ledger never pay for a question twice."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llm_server import LLMServer
from postgres_server import PostgresServer
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import VERDICT

N = 12


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "ledger.sqlite")
    return str(request.getfixturevalue("postgres").new_database())


def started(place: str, server: LLMServer, folder: Path, name: str) -> subprocess.Popen[bytes]:
    data = folder / "data.jsonl"
    if not data.exists():
        records = ({"id": str(at), "query": f"q{at}?", "answer": "a"} for at in range(N))
        data.write_text("\n".join(map(json.dumps, records)))
    environment = {**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "of-a-test"}
    words = ["run", str(data), "-m", "idk_eval", "--judge", "openai:m", "--ledger", place]
    return subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words, "-o", str(folder / name)],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def scores(folder: Path) -> str:
    return (folder / "scores.jsonl").read_text()


def asked(server: LLMServer) -> int:
    return int(server.stats()["requests"])


def test_two_runs_at_a_time_ask_each_question_once(place: str, tmp_path: Path) -> None:
    with LLMServer(latency=0.5) as server:
        runs = [started(place, server, tmp_path, name) for name in ("a", "b")]
        for run in runs:
            _, told = run.communicate()
            assert run.returncode == 0, told.decode()
        assert asked(server) == N
    assert scores(tmp_path / "a") == scores(tmp_path / "b")
    with Ledger(place, create=False) as ledger:  # there, and not in a file of that name
        assert sum(1 for _ in ledger.rows("kind = ?", VERDICT)) == N
    stored = {"data.jsonl", "a", "b", "ledger.sqlite", "ledger.sqlite-leases"}
    assert {path.name for path in tmp_path.iterdir()} <= stored


def test_the_questions_of_a_run_that_was_killed_are_free_again(place: str, tmp_path: Path) -> None:
    with LLMServer(hold=True) as server:
        killed = started(place, server, tmp_path, "a")
        while asked(server) < 2:
            time.sleep(0.05)
        other = started(place, server, tmp_path, "b")
        time.sleep(1.0)
        killed.kill()
        killed.wait()
        server.settings.hold = False
        _, told = other.communicate()
        assert other.returncode == 0, told.decode()


def test_a_lease_in_a_database_is_held_until_it_is_given_back(postgres: PostgresServer) -> None:
    place = str(postgres.new_database())
    waiting: list[str] = []

    async def hold(ledger: Ledger, name: str) -> None:
        async with ledger.lease("00" * 32), ledger.lease("01" * 32):
            waiting.append(name)
            await asyncio.sleep(0.1)
            waiting.append(name)

    async def both(*ledgers: Ledger) -> None:
        await asyncio.gather(*(hold(one, str(at)) for at, one in enumerate(ledgers)))

    with Ledger(place) as one, Ledger(place) as other:
        asyncio.run(both(one, other))
        asyncio.run(both(other, one))
    assert waiting in (["0", "0", "1", "1"] * 2, ["0", "0", "1", "1", "1", "1", "0", "0"])


def test_a_lease_that_another_process_has_is_not_taken_before_that_ends(tmp_path: Path) -> None:
    place, key = str(tmp_path / "ledger.sqlite"), "00" * 32
    code = (
        "from ragassay.judges.ledger.ledger_store import Ledger; import sys; "
        f"print(Ledger({place!r})._place.take({key!r}), flush=True); sys.stdin.read()"
    )
    other = [sys.executable, "-c", code]
    with (
        Ledger(place) as ledger,
        subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder,
    ):
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == "True\n"
        assert ledger._place.take(key) is False
        assert ledger._place.take("01" * 32) is True
        holder.stdin.close()
        holder.wait()
        assert ledger._place.take(key) is True


def test_where_no_file_of_leases_can_be_made_each_process_asks(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite-leases").mkdir()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger._place.take("00" * 32) is True
        ledger._place.release("00" * 32)
