"""What was paid for is kept, found again, and readable by others."""

import asyncio
import contextlib
import hashlib
import os
import socket
import sqlite3
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from postgres_server import PostgresServer
from ragassay.base.errors import InputError, LedgerError, RagassayError, UsageError
from ragassay.cli.command_line import call
from ragassay.judges.ledger import ledger_admin
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import VERSION, Ledger, is_there
from ragassay.judges.ledger.paid_answers import EMBEDDING, JUDGE_ANSWER, TABLE, VECTOR, Paid
from ragassay.judges.ledger.postgres_ledger import LedgerDatabase

DAY = 86_400.0


def entry(
    number: int = 0, *, reason: str | None = None, kind: str = "relevance_grade",
    endpoint: str = "https://api.openai.com/v1", model: str = "gpt-4o",
    created: float | None = None, sent: bytes | None = None, **changes: Any,
) -> Paid:  # fmt: skip
    """The row of an answer; ``changes`` are of its record."""
    facts = {
        "question": kind, "version": 1, "key": f"{number:032x}", "repeat": 0,
        "answer": {"match": 1, "trust": 2, "grade": 3} if reason is None else None,
        **({} if reason is None else {"reason": reason, "detail": "no"}),
        "model": "gpt-4o-2024-08-06", "prompt_hash": "abcdefabcdef",
        "reply": '{"match":1,"trust":2,"grade":3}', "input_tokens": 700, "output_tokens": 20,
        "cost": 0.002, "latency": 0.25, "attempts": 1, "dropped": [], **changes,
    }  # fmt: skip
    if sent is None:
        sent = orjson.dumps({"messages": [{"role": "user", "content": f"Passage {number}"}]})
    return Paid(
        hashlib.sha256(str(number).encode()).hexdigest(), JUDGE_ANSWER, endpoint, model, kind,
        facts, zlib.compress(sent, 3), reason, facts["input_tokens"], facts["output_tokens"],
        facts["cost"], 1_750_000_000.0 + number if created is None else created,
    )  # fmt: skip


async def commit(ledger: Ledger, *rows: Paid) -> None:
    await asyncio.gather(*(ledger.keep(lambda row=row: [row]) for row in rows))  # type: ignore[misc]


def keep(ledger: Ledger, *rows: Paid) -> None:
    asyncio.run(commit(ledger, *rows))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".ragassay" / "ledger.sqlite"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that looks at no file holds for a ledger in a database, too."""
    if "ledger" in metafunc.fixturenames:
        own = not {"path", "project", "capsys"}.isdisjoint(metafunc.fixturenames)
        metafunc.parametrize("place", ["file"] if own else ["file", "database"], indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / ".ragassay" / "ledger.sqlite")
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
def ledger(place: str) -> Iterator[Ledger]:
    with Ledger(place) as made:
        yield made


def test_an_entry_comes_back_as_it_was(ledger: Ledger) -> None:
    failed = entry(
        1, reason="refused", detail="It would not say.", cost=None, reply="Ich möchte nicht. 不 🙅",
        dropped=["temperature", "seed"], repeat=3,
    )  # fmt: skip
    keep(ledger, entry(0), failed)
    assert ledger.get(entry(0).key) == entry(0)
    assert ledger.get(failed.key) == failed
    assert ledger.get(entry(2).key) is None


texts = st.text(st.characters(exclude_categories=[]), max_size=60)  # halves of pairs included


@given(reply=texts, detail=texts, request=st.binary(max_size=300))
def test_any_reply_of_a_model_can_be_kept(reply: str, detail: str, request: bytes) -> None:
    with Ledger(":memory:") as ledger:
        keep(ledger, entry(reply=reply, detail=detail, sent=request))
        found = ledger.get(entry().key)
        assert found is not None
        assert zlib.decompress(found.payload) == request
        assert found.facts["reply"] == reply.encode("utf-8", "replace").decode()


def test_a_failure_never_takes_the_place_of_an_answer(ledger: Ledger) -> None:
    failure = entry(reason="refused", detail="no", reply="")
    keep(ledger, entry())
    keep(ledger, failure)
    assert ledger.get(entry().key) == entry()
    keep(ledger, entry(1, reason="unparsable"))
    keep(ledger, entry(1, reason="refused"))
    found = ledger.get(entry(1).key)
    assert found is not None and found.reason == "refused", "a failure takes that of a failure"

    async def replaced() -> None:
        await ledger.keep(lambda: [failure], stale=True)

    asyncio.run(replaced())
    assert ledger.get(entry().key) == failure, "what is not valid any more is no answer"


def test_an_entry_that_cannot_be_kept_costs_no_other(ledger: Ledger) -> None:
    async def work() -> list[object]:
        commits = [commit(ledger, entry(n)) for n in range(20)]
        commits.insert(7, commit(ledger, entry(99, input_tokens=2**64)))
        return list(await asyncio.gather(*commits, return_exceptions=True))

    outcomes = asyncio.run(work())
    assert isinstance(outcomes.pop(7), Exception)
    assert outcomes == [None] * 20
    assert all(ledger.get(entry(n).key) == entry(n) for n in range(20))
    assert ledger.get(entry(99).key) is None


def test_a_commit_returns_only_once_the_file_has_it(path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        for number in range(20):
            await commit(ledger, entry(number))
            with sqlite3.connect(path) as other:
                assert other.execute(f"SELECT count(*) FROM {TABLE}").fetchone()[0] == number + 1

    for _ in range(2):  # full sync is no property of the file: each connection has to ask for it
        with Ledger(path) as ledger:
            assert ledger.select("PRAGMA synchronous") == [(2,)]
            assert ledger.select("PRAGMA journal_mode") == [("wal",)]
    with Ledger(path) as ledger:
        asyncio.run(work(ledger))


def test_a_commit_that_is_cancelled_is_kept_all_the_same(path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        tasks = [asyncio.ensure_future(commit(ledger, entry(n))) for n in range(50)]
        await asyncio.sleep(0)
        for task in tasks[:-1]:
            task.cancel()
        await asyncio.wait_for(tasks[-1], 60)  # who waits for it is told all the same

    with Ledger(path) as ledger:
        asyncio.run(work(ledger))
    with Ledger(path) as ledger:
        assert ledger_admin.stats(ledger).entries == 50


def test_rejected_parameters_are_remembered_across_runs(path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        await ledger.reject("openai", "o3", ["temperature", "seed"])
        await ledger.reject("openai", "o3", ["seed", "top_p"])
        await ledger.reject("openai", "o4", ["seed"])

    with Ledger(path) as ledger:
        asyncio.run(work(ledger))
    with Ledger(path) as ledger:
        assert ledger.rejected("openai", "o3") == {"temperature", "seed", "top_p"}
        assert ledger.rejected("openai", "gpt-4o") == frozenset()


def test_a_missing_ledger_is_made_with_its_folder_or_missed_with_a_sentence(path: Path) -> None:
    with pytest.raises(InputError, match=r"no ledger here\. .*--ledger"):
        Ledger(path, create=False)
    assert not path.parent.exists()
    Ledger(path).close()
    with Ledger(path, create=False) as ledger:
        keep(ledger, entry(sent=os.urandom(1 << 20)))
        files = (path, path.with_name("ledger.sqlite-wal"))
        size = ledger_admin.stats(ledger).size
        assert size == sum(one.stat().st_size for one in files) > 1 << 20
        ledger_admin.prune(ledger, Selection())
        assert ledger_admin.stats(ledger).size < 1 << 18, "the space is given back"
        modes = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
    assert len(modes) > 1 and set(modes.values()) == {0o600}, "it holds all texts that were sent"


@pytest.mark.parametrize(("made", "says"), [
    ("CREATE TABLE answers (x)", "another program"),
    (f"PRAGMA user_version = {VERSION - 1}", f"version {VERSION - 1}, .*--ledger"),
    (f"PRAGMA user_version = {VERSION + 1}", f"version {VERSION + 1}, .*--ledger"),
    (None, "not a ledger"),
])  # fmt: skip
def test_a_file_that_is_no_ledger_of_this_version_is_left_alone(path, made, says: str) -> None:
    path.parent.mkdir()
    if made is None:
        path.write_text("These are my notes, and they are longer than a header of SQLite. " * 20)
    else:
        if "version" in made:
            Ledger(path).close()
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute(made)
    before = path.read_bytes()
    with pytest.raises(InputError, match=says) as caught:
        Ledger(path)
    assert path.read_bytes() == before and str(path) in str(caught.value)


@pytest.mark.parametrize("where", [16, 30, 120, 4096, 4100, 9000, 20_000])
def test_a_damaged_ledger_is_a_sentence_or_still_right(path: Path, where: int) -> None:
    with Ledger(path) as ledger:
        keep(ledger, *(entry(number) for number in range(60)))
    body = bytearray(path.read_bytes())
    body[where : where + 64] = b"\xff" * 64
    path.write_bytes(body)
    try:
        with Ledger(path) as ledger:
            for number in range(60):
                assert ledger.get(entry(number).key) in (None, entry(number))
    except RagassayError as error:
        assert str(path) in str(error)


def test_a_row_that_lacks_a_fact_or_a_time_is_damaged(ledger: Ledger) -> None:
    whole = entry(1)
    for name in ("version", "key", "repeat", "answer", "latency", "attempts", "created"):
        others = {key: value for key, value in whole.facts.items() if key != name}
        for created in (-1.0, 2e11) if name == "created" else (1.0,):
            keep(ledger, replace(whole, facts=others, created=created))
            with pytest.raises(InputError, match="damaged"):
                ledger.get(whole.key)


MINI = {"model": "gpt-4o-mini", "cost": None}


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    keep(
        ledger, *(entry(n) for n in range(5)), entry(10, kind="answered", **MINI),
        entry(11, kind="answered", reason="refused", detail="no", **MINI),
        entry(12, kind="answered", reason="refused", detail="no", **MINI),
        entry(13, reason="unparsable", detail="?", created=1_750_000_000.0 - DAY),
        entry(14, endpoint="http://localhost:8000/v1", model="m", repeat=2),
    )  # fmt: skip
    return ledger


def test_stats_add_up_by_judge_and_question(filled: Ledger) -> None:
    found = ledger_admin.stats(filled)
    assert [(row.judge, row.kind, row.entries, row.failures) for row in found.rows] == [
        ("http://localhost:8000/v1#m", "relevance_grade", 1, {}),
        ("openai:gpt-4o", "relevance_grade", 6, {"unparsable": 1}),
        ("openai:gpt-4o-mini", "answered", 3, {"refused": 2}),
    ]
    body = found.to_json()
    assert body["entries"] == 10
    assert list(body["failures"].items()) == [("refused", 2), ("unparsable", 1)]
    assert body["input_tokens"] == 7000
    assert body["cost"] == pytest.approx(7 * 0.002)
    assert body["unpriced"] == 3
    assert body["rows"][1] == {
        "judge": "openai:gpt-4o", "endpoint": "https://api.openai.com/v1", "model": "gpt-4o",
        "question": "relevance_grade", "entries": 6, "failures": {"unparsable": 1},
        "input_tokens": 4200, "output_tokens": 120, "cost": 0.012, "unpriced": 0,
        "first": "2025-06-14T15:06:40+00:00", "last": "2025-06-15T15:06:44+00:00",
    }  # fmt: skip
    assert (body["output_tokens"], body["path"], len(body["rows"])) == (200, filled.path, 3)
    assert (body["rejected_parameters"], body["systems"]) == ({}, [])
    first = next(ledger_admin.export(filled, Selection(model="m"), messages=True))
    sent = {"messages": [{"role": "user", "content": "Passage 14"}]}
    assert orjson.loads(first)["sent"] == sent and first.endswith(b"}\n")


def test_the_seconds_of_an_answer_are_those_of_all_its_attempts(ledger: Ledger) -> None:
    vector = replace(entry(4), kind=VECTOR, subject=EMBEDDING)
    failed = entry(3, reason="refused", latency=9.0)
    keep(ledger, entry(1, latency=3.0, attempts=3), entry(2, latency=0.5), failed, vector)
    assert [ledger_admin.latencies(ledger, "gpt-4o", n) for n in (9, 1)] == [[0.5, 1.0], [0.5]]
    kinds = [row.kind for row in ledger_admin.stats(ledger).rows]
    assert kinds == ["relevance_grade", EMBEDDING], "vectors come last"
    assert len(list(ledger_admin.export(ledger))) == 3
    with pytest.raises(UsageError, match="Vectors are not exported"):
        list(ledger_admin.export(ledger, Selection(kind=EMBEDDING)))


def test_an_export_holds_every_entry_once_and_oldest_first(filled: Ledger) -> None:
    moment = 1_750_000_100.0  # the same for more than a page
    keep(filled, *(entry(n, created=moment) for n in range(100, 1400)))
    lines = [orjson.loads(line) for line in ledger_admin.export(filled)]
    assert len(lines) == 1310
    assert len({line["request"] for line in lines}) == 1310
    assert len({one.key for one in filled.find(entry(n).key for n in range(100, 1400))}) == 1300
    moments = [line["created"] for line in lines]
    assert moments == sorted(moments)
    assert lines[1] == {
        "id": f"{0:032x}", "question": "relevance_grade", "version": 1, "key": f"{0:032x}",
        "repeat": 0, "answer": {"match": 1, "trust": 2, "grade": 3}, "judge": "openai:gpt-4o",
        "model": "gpt-4o-2024-08-06", "prompt_hash": "abcdefabcdef", "request": entry(0).key,
        "reply": entry(0).facts["reply"], "input_tokens": 700, "output_tokens": 20, "cost": 0.002,
        "latency": 0.25, "attempts": 1, "dropped": [], "created": "2025-06-15T15:06:40+00:00",
    }  # fmt: skip
    refused = next(line for line in lines if line.get("reason") == "refused")
    assert refused["answer"] is None
    assert refused["detail"] == "no"
    assert next(line for line in lines if line["repeat"])["id"].endswith(".2")


@pytest.mark.parametrize(("selection", "gone"), [
    (Selection(model="gpt-4o"), 6), (Selection(kind="answered"), 3),
    (Selection(failed=True), 3), (Selection(failed=True, kind="answered"), 2),
    (Selection(before=1_750_000_000.0), 1),
    (Selection(before=1_750_000_002.0, model="gpt-4o"), 3), (Selection(), 10),
])  # fmt: skip
def test_pruning_removes_what_all_conditions_describe(filled, selection, gone: int) -> None:
    assert ledger_admin.stats(filled, selection).entries == gone
    assert len(list(ledger_admin.export(filled, selection))) == gone
    assert ledger_admin.prune(filled, selection) == gone
    assert ledger_admin.stats(filled).entries == 10 - gone
    assert ledger_admin.stats(filled, selection).entries == 0


def test_a_name_that_occurs_nowhere_is_refused_with_a_hint(filled: Ledger) -> None:
    with pytest.raises(UsageError, match="Did you mean 'gpt-4o'"):
        Selection(model="gpt4o").check(filled)
    with pytest.raises(UsageError, match="There are: answered, relevance_grade"):
        Selection(kind="zzz").check(filled)


@pytest.fixture
def project(filled: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(path.parent.parent)
    return path.parent.parent


def test_the_command_says_where_there_is_no_ledger(here: Path, capsys) -> None:
    for command in (["stats"], ["export"], ["prune", "--all"]):
        assert call(["ledger", *command]) == 2
        assert "there is no ledger here" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_the_command_forgets_rejected_parameters_and_no_answers(project, path, capsys) -> None:
    async def learn(book: Ledger) -> None:
        await book.reject("https://api.openai.com/v1", "o3", ["temperature", "seed"])
        await book.reject("https://api.openai.com/v1", "gpt-4o", ["json_schema"])

    with Ledger(path) as book:
        asyncio.run(learn(book))
    assert call(["ledger", "stats"]) == 0
    assert "$0.01+?" in capsys.readouterr().out, "and what three without a price cost"
    for more in (["--all"], ["--kind", "k"], ["--model", "o3", "--failed"]):
        assert call(["ledger", "prune", "--rejected", *more]) == 2
        assert "--model only" in capsys.readouterr().err
    assert call(["ledger", "prune", "--rejected", "--dry-run"]) == 0
    assert "3 rejected parameters would be forgotten" in capsys.readouterr().out
    assert call(["ledger", "prune", "--rejected", "--model", "gpt-4o", "--dry-run", "--json"]) == 0
    assert orjson.loads(capsys.readouterr().out) == {
        "forgotten": 1, "dry_run": True, "rejected_parameters": {"openai:gpt-4o": ["json_schema"]}
    }  # fmt: skip
    assert call(["ledger", "prune", "--rejected", "--model", "o3"]) == 0
    said = capsys.readouterr().out
    assert "openai:o3 did not take: seed, temperature" in said and "2 rejected" in said
    with Ledger(path) as book:
        assert book.rejected("https://api.openai.com/v1", "o3") == frozenset()
        assert book.rejected("https://api.openai.com/v1", "gpt-4o") == {"json_schema"}
        assert ledger_admin.stats(book).entries == 10
    assert call(["ledger", "prune", "--all"]) == 0
    with Ledger(path) as book:
        assert ledger_admin.stats(book).rejected == {}


@pytest.mark.parametrize(("age", "gone"), [
    ("90d", 10), ("6w", 10), ("5w", 11), ("3 days", 11), ("12h", 12), ("2026-01-31", 10),
    ("soon", 0), ("9999999w", 0),
])  # fmt: skip
def test_ages_and_days_are_understood(project, path, age: str, gone: int, capsys) -> None:
    with Ledger(path) as book:
        keep(book, *(entry(20 + n, created=time.time() - n * DAY / 2) for n in (2, 82)))
    assert call(["ledger", "prune", "--older-than", age, "--dry-run"]) == (0 if gone else 2)
    assert (f"{gone} answers would go" in capsys.readouterr().out) == bool(gone)
    with Ledger(path) as book:
        assert ledger_admin.stats(book).entries == 12, "nothing is deleted"


def test_a_ledger_in_a_schema_of_its_own_makes_it(postgres: PostgresServer) -> None:
    plain = postgres.new_database()
    own = f"{plain}?options=-csearch_path%3Dassay"
    for address, n in ((own, 1), (own, 2), (plain, 1)):
        with Ledger(address) as ledger:
            asyncio.run(commit(ledger, entry(n)))
            assert len(ledger.select(f"SELECT key FROM {TABLE}")) == n


def test_a_database_that_is_not_there_is_a_sentence() -> None:
    pytest.importorskip("psycopg", reason="needs the extra 'postgres'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"postgresql://tester:hush@127.0.0.1:{free.getsockname()[1]}/none"
    with pytest.raises(UsageError) as caught:
        Ledger(address)
    said = str(caught.value)
    assert said.startswith("The ledger's database cannot be used: connection failed")
    assert said.endswith(".") and "\n" not in said and "hush" not in said
    assert isinstance(caught.value, LedgerError) and caught.value.passing and is_there(address)
    assert LedgerDatabase(address).path == address.replace("hush", "***")


def test_a_lost_connection_comes_back_and_a_refusal_is_told_at_once(postgres) -> None:
    plain = postgres.new_database()
    with Ledger(f"{plain}?options=-cstatement_timeout%3D300") as ledger:
        keep(ledger, entry(1))
        with pytest.raises(UsageError, match="canceling statement due to statement timeout"):
            ledger.select("SELECT pg_sleep(20)")
        with Ledger(plain) as other:
            other.select(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert ledger.get(entry(1).key) == entry(1)
        keep(ledger, entry(2))
        assert ledger.get(entry(2).key) == entry(2)
