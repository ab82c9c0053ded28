"""What goes wrong around the service: full and read-only disks, a database that restarts, a clock
that jumps. It is said clearly, and what was acknowledged is there when the fault is over."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import get_job, retry_job
from ragassay.service.store.projects import create_project
from ragassay.service.store.records import count_records
from ragassay.service.store.reports import create_report
from ragassay.service.store.store_errors import StoreUnavailable
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import a_task, add, asking, item

API = "/api/v1"


FULL_DISK = """
import resource, signal, sys
from fastapi.testclient import TestClient
from ragassay.service.application import create_app
from ragassay.service.store.database import Store
from ragassay.service.store.records import count_records

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1])
app = create_app(store)
client = TestClient(app, "http://localhost", client=("127.0.0.1", 5), raise_server_exceptions=False)
project = client.post("/api/v1/projects", json={"name": "p"}).json()["id"]
task = client.post(f"/api/v1/projects/{project}/tasks", json={"name": "t"}).json()["id"]

def send(number):
    records = [{"id": f"{number}-{n}", "user_input": "x" * 2000} for n in range(20)]
    return client.post(f"/api/v1/tasks/{task}/records", json={"records": records})

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, hard))
kept = 0
for number in range(200):
    answer = send(number)
    if answer.status_code != 200:
        break
    kept += 20
assert answer.status_code == 503, answer.text
assert "log of the service says why" in answer.json()["detail"], answer.text
assert count_records(store, task) == kept
upload = client.post(f"/api/v1/tasks/{task}/uploads?file_name=x.csv", content=b"x" * 3_000_000)
assert upload.status_code == 503, upload.text
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert send(number).status_code == 200
assert count_records(store, task) == kept + 20
store.close()
"""


def test_a_full_disk_is_said_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "full" in done.stderr or "disk" in done.stderr  # the log says what it is


def test_a_read_only_store_is_read_and_says_that_it_takes_nothing(tmp_path: Path, caplog) -> None:
    store = Store(tmp_path / "store")
    create_project(store, "p")

    def read_only(connection: Any, _: object) -> None:
        connection.execute("PRAGMA query_only=ON")

    event.listen(store.engine, "connect", read_only)
    store.engine.dispose()
    with asking(store) as client:
        assert [one["name"] for one in client.get(f"{API}/projects").json()] == ["p"]
        found = client.post(f"{API}/projects", json={"name": "q"})
        assert found.status_code == 503 and str(tmp_path) not in found.text
        wire = client.post("/sdk/v1/project", json={"name": "q"})
        assert wire.status_code == 503 and wire.headers["retry-after"]
        lines = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
        assert len(lines) == 2 and all("status=503" in one and "error=" in one for one in lines)
        event.remove(store.engine, "connect", read_only)
        store.engine.dispose()
        assert client.post(f"{API}/projects", json={"name": "q"}).status_code == 201
    store.close()


@pytest.mark.usefixtures("forked")
def test_a_worker_says_what_it_cannot_do_and_works_on(store, tmp_path, caplog, monkeypatch) -> None:
    caplog.set_level("INFO", "ragassay.service")
    task = a_task(store, item(1))
    _, job = create_report(store, task.id, "r", 0.0, 1e9, {"metrics": ["ragreport_relevance"]})
    work = tmp_path / "work"
    work.write_text("a file stands in its place")
    worker = Worker(store, WorkerOptions(work, beat=0.1, poll=0.1))
    worker.run(until_idle=True)
    failed = get_job(store, job.id)
    assert failed.status == "error" and "cannot write to its disk" in str(failed.error)
    assert str(tmp_path) not in str(failed.error)
    work.unlink()
    begin, patch = subprocess.Popen, monkeypatch.setattr
    named = "{'error': ' and '.join(os.getcwd() + x for x in ('/data.jsonl', '/run', '/x'))}"
    for does, said in (
        ("exit('Out of memory.')", "died (memory?)"),
        (f"import json, os; print(json.dumps({named}))", "records and the report and its folder/x"),
    ):
        words = [sys.executable, "-c", f"input(); {does}"]
        patch(subprocess, "Popen", lambda _, words=words, **told: begin(words, **told))
        retry_job(store, job.id)
        worker.run(until_idle=True)
        assert said in str(get_job(store, job.id).error)
    assert "Out of memory." in caplog.text
    patch(subprocess, "Popen", begin)
    retry_job(store, job.id)
    worker.run(until_idle=True)
    assert get_job(store, job.id).status == "completed"
    jobs = [one for one in caplog.records if one.getMessage().startswith("job ")]
    ends = [("ERROR", "failed")] * 3 + [("INFO", "completed")]
    assert [(one.levelname, one.facts["outcome"]) for one in jobs] == ends


@pytest.mark.usefixtures("forked")
def test_a_database_that_restarts_loses_doubles_and_fails_nothing(postgres, tmp_path: Path) -> None:
    store = Store(postgres.new_database())
    task = a_task(store, *(item(n) for n in range(300)))
    _, job = create_report(store, task.id, "r", 0.0, 1e9, {"metrics": ["ragreport_relevance"]})
    worker = Worker(store, WorkerOptions(tmp_path / "work", beat=0.1, poll=0.1))
    working = threading.Thread(target=worker.run)
    working.start()
    ended = threading.Event()
    refused: list[str] = []

    def log(number: int) -> None:
        at = 0
        while not ended.is_set() or at < 20:
            batch = [item(100_000 * number + 10 * at + n, timestamp=2e9) for n in range(10)]
            try:
                add(store, task, batch)
                at += 1
            except StoreUnavailable as error:  # and nothing else
                refused.append(str(error))
                time.sleep(0.05)
        acknowledged[number] = 10 * at

    acknowledged: dict[int, int] = {}
    writers = [threading.Thread(target=log, args=(number,)) for number in (1, 2, 3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(3):
            count = len(refused)
            postgres.stop()
            while len(refused) == count:  # until it was noticed
                time.sleep(0.01)
            postgres.start()
    finally:
        ended.set()
        for writer in writers:
            writer.join()
    while not get_job(store, job.id).has_ended:
        time.sleep(0.05)
    worker.stop()
    working.join()
    assert get_job(store, job.id).status == "completed", get_job(store, job.id).error
    assert len(acknowledged) == 3
    assert count_records(store, task.id) == 300 + sum(acknowledged.values())
    assert all("tester" not in one or "cannot be used" in one for one in refused)
    store.close()


def test_the_ledger_of_a_project_goes_with_it(store: Store) -> None:
    task = a_task(store)
    other = create_project(store, "other")
    for project in (other.id, task.project_id):
        with Ledger(store.ledger(project)) as ledger:
            asyncio.run(ledger.reject("https://there", "m", ["seed"]))
    store.remove(schema.projects, task.project_id)
    with Ledger(store.ledger(other.id)) as kept, Ledger(store.ledger(task.project_id)) as new:
        assert list(kept.rejected("https://there", "m")) == ["seed"]
        assert not new.rejected("https://there", "m")
