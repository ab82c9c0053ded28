"""Logging does not wait for the service, loses nothing while it is away, and doubles nothing."""

import asyncio
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from lossy_proxy import LossyProxy
from ragassay.base.errors import InputError, RagassayError, RagassayWarning, UsageError
from service_process import Service, serving

pytest.importorskip("httpx2", reason="needs the extra 'client'")

from ragassay.client import record_buffer
from ragassay.client.clients import AsyncClient, Client

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, forked_module: None) -> Iterator[Service]:
    """A service without a worker."""
    with serving(tmp_path_factory.mktemp("service") / "data", "--no-worker") as made:
        yield made


@pytest.fixture
def task(service: Service) -> str:
    """An empty task of the service."""
    with Client(f"http://127.0.0.1:{service.port}") as client:
        return client.create_task(client.create_project(f"p{time.time_ns()}").id, "t").id


@pytest.fixture
def proxy(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[LossyProxy]:
    """Stands before the service; clients wait for nothing."""
    monkeypatch.setattr("ragassay.client.clients.PAUSES_S", ())
    monkeypatch.setattr(record_buffer, "AWAY_S", 0.01)
    with LossyProxy(service.port) as made:
        yield made


def stored(service: Service, task: str) -> list[dict[str, Any]]:
    page = service.ask("GET", f"tasks/{task}/records?limit=500")
    assert page["next"] is None
    return [one["record"] for one in page["items"]]


def test_what_is_logged_while_the_service_is_away_is_there_once_later(service, task, proxy) -> None:
    proxy.away = True
    with Client(proxy.url) as client:

        def log(part: int) -> None:
            for n in range(50):
                client.log(task, {"id": f"{part}-{n}", "user_input": "?"})

        threads = [threading.Thread(target=log, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while len(proxy.seen) < 2:  # until it was tried in vain, and again
            assert not client.flush(0.05)
        assert stored(service, task) == []
        proxy.away, proxy.lost = False, 3  # it is back, and some answers do not arrive
        assert client.flush(60)
        names = sorted(one["id"] for one in stored(service, task))
    assert names == sorted(f"{part}-{n}" for part in range(4) for n in range(50))


def test_large_records_go_in_several_requests(monkeypatch, caplog) -> None:
    class Sending:
        def __init__(self) -> None:
            self.batches: list[list[str]] = []

        def add_records(self, task_id: str, records: Any) -> None:
            self.batches.append([one["id"] for one in records])

        def close(self) -> None: ...

    monkeypatch.setattr(record_buffer, "BATCH_BYTES", 250)
    monkeypatch.setattr(record_buffer, "MOST_BYTES", 1_000)
    monkeypatch.setattr(record_buffer, "GATHER_S", 60.0)
    client = Sending()
    buffer = record_buffer.RecordBuffer(lambda: client)
    for _ in range(3):  # what was sent makes room
        for name in "abcdef":
            record = {"id": name, "timestamp": 1.0, "user_input": "x" * 100}
            assert buffer.add("u" if name in "cd" else "t", record)
        assert not buffer.add("t", record | {"more": "x" * 200}) and buffer.flush(60)
    buffer.close()  # what is left of a task comes after the others
    assert client.batches == [["a", "b"], ["c", "d"], ["e", "f"]] * 3
    assert caplog.text.count("The buffer is full.") == 3


def test_a_record_gets_an_id_and_the_moment_at_which_it_was_logged(service, task, proxy) -> None:
    proxy.away = True
    before = time.time()
    with Client(proxy.url) as client:
        record = {"user_input": "?", "response": "!"}
        assert client.log(task, record) and client.log(task, record)
        record["response"] = "changed after it was logged"
        after = time.time()
        proxy.away = False
    made = stored(service, task)
    assert len(made) == 2 and {one["answer"] for one in made} == {"!"}
    assert all(before <= one["timestamp"] <= after for one in made)


def test_a_refused_record_takes_no_other_with_it_and_is_said(service, task, proxy, caplog) -> None:
    with Client(proxy.url) as client:
        for n in range(30):
            client.log(task, {"id": ".." if n == 17 else f"n{n}", "user_input": "?"})
        for away in ("nowhere", "nowhere", ".."):
            client.log(away, {"user_input": "?"})
    assert len(stored(service, task)) == 29
    said = [one.getMessage() for one in caplog.records if one.name == "ragassay.client"]
    assert sorted(one.partition(" were not logged")[0] for one in said) == [
        "1 records", "1 records", "2 records",
    ], "a task that is not there is tried once for all"  # fmt: skip


def test_what_waits_is_bounded_and_what_is_left_is_said(task, proxy, monkeypatch, caplog) -> None:
    monkeypatch.setattr(record_buffer, "MOST_BYTES", 10_000)
    monkeypatch.setattr(record_buffer, "CLOSE_S", 0.05)
    proxy.away = True
    client = Client(proxy.url)
    taken = [client.log(task, {"user_input": "x" * 900}) for _ in range(30)]
    assert 5 < sum(taken) < 11 and not any(taken[sum(taken) :])
    client.close()
    said = [one.getMessage() for one in caplog.records if one.name == "ragassay.client"]
    assert len(said) == 2 and said[1].startswith(f"{sum(taken)} records were not acknowledged")
    with pytest.raises(UsageError, match="is closed"):
        client.log(task, {"user_input": "?"})


def test_what_is_no_record_is_refused_where_it_is_logged(task: str, proxy: LossyProxy) -> None:
    wrong: Any
    with Client(proxy.url) as client:
        for wrong in ([{"user_input": "?"}], {"user_input": object()}, {"x": float("nan")}):
            with pytest.raises(RagassayError):
                client.log(task, wrong)
        huge = {"user_input": "é" * (33 << 19)}
        with pytest.raises(InputError, match="33 MB") as large:
            client.log(task, huge)
        with pytest.raises(InputError, match="33 MB") as second:
            client.add_records(task, [{}, huge])
        with pytest.raises(InputError, match="type object") as odd:
            client.add_records(task, [{"user_input": "?"}, {"user_input": [object()]}])
        with pytest.raises(InputError, match="not finite") as infinite:
            client.add_records(task, [{"x": float("inf")}])
        with pytest.raises(UsageError, match="no time zone"):
            client.add_records(task, [{"timestamp": datetime(2026, 1, 1)}])  # noqa: DTZ001
    assert (odd.value.line, odd.value.field, infinite.value.field) == (2, "user_input", "x")
    assert (large.value.line, second.value.line, proxy.seen) == (None, 2, [])


def test_the_end_of_the_program_waits_for_what_was_logged(service: Service, task: str) -> None:
    url = f"http://127.0.0.1:{service.port}"
    script = (
        "from ragassay.client.clients import Client\n"
        f"client = Client({url!r})\n"
        f"def log(): [client.log({task!r}, {{'user_input': '?'}}) for n in range(10)]\n"
        "import os; log(); client.flush(); child = os.fork(); log()\n"
        "if child: os.waitpid(child, 0)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "" and len(stored(service, task)) == 30, "also in a forked process"


def test_an_asynchronous_program_logs_without_awaiting(service: Service, task: str) -> None:
    async def life() -> None:
        async with AsyncClient(f"http://127.0.0.1:{service.port}") as client:
            assert client.log(task, {"user_input": "?"})
            assert await client.flush(60)
            assert len(stored(service, task)) == 1
            client.log(task, {"user_input": "?"})

    asyncio.run(life())
    assert len(stored(service, task)) == 2


def test_what_was_left_out_of_records_is_a_warning(service: Service, task: str, caplog) -> None:
    record = {"id": "r", "user_input": "q", "response": "a", "trace": {"x": {"y": 1}}}
    with Client(f"http://127.0.0.1:{service.port}") as client:
        with pytest.warns(RagassayWarning, match="'trace'"):
            done = client.add_records(task, [record])
        assert done.new == 1 and len(done.notes) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # must not end the thread
            for name in ("first", "second"):
                client.log(task, {**record, "id": name})
                assert client.flush()
    assert {one["id"] for one in stored(service, task)} == {"r", "first", "second"}
    assert "'trace'" in caplog.text
