"""What is deleted is gone, with all that hangs on it; so is what is older than its days."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service_process import Service, records, serving, until
from stored_records import CSV, a_task, add, item

pytest.importorskip("httpx2", reason="needs the extra 'client'")

import ragassay
from ragassay.client.clients import Client
from ragassay.client.service_shapes import RequestRefused
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import ANSWER, Paid
from ragassay.service.application import _every
from ragassay.service.operation.keeping import DAY_S, delete_old
from ragassay.service.store.database import Store
from ragassay.service.store.projects import create_project
from ragassay.service.store.records import count_records, read_versions
from ragassay.service.store.reports import create_report, list_reports
from ragassay.service.store.store_errors import StoreUnavailable

pytestmark = pytest.mark.both_stores

HANGING = ("records", "reports", "report_files", "jobs", "uploads", "upload_parts", "models")


def rows(folder: Path) -> dict[str, int]:
    store = Store(folder)
    with store.reading() as connection:
        found = {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in HANGING
        }
    store.close()
    return {name: count for name, count in found.items() if count}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store."""
    return tmp_path_factory.mktemp("service") / "store"


@pytest.fixture(scope="module")
def service(folder: Path, forked_module: None) -> Iterator[Service]:
    """A service without a worker."""
    with serving(folder, "--no-worker") as made:
        yield made


@pytest.mark.parametrize(
    "delete",
    [
        lambda client, project, task: client.delete_project(project),
        lambda client, project, task: client.delete_task(task),
    ],
)
def test_a_project_or_task_goes_with_all_that_it_has(tmp_path, folder, service, delete) -> None:
    run, path = tmp_path / "run", tmp_path / "data.csv"
    ragassay.evaluate([{"id": "x", "query": "?", "answer": "a"}], ["BLEU"], save=run)
    path.write_bytes(CSV)
    with Client(f"http://127.0.0.1:{service.port}") as client:
        project = client.create_project("p")
        task = client.create_task(project.id, "t")
        client.add_records(task.id, records(3))
        assert client.delete_record(task.id, "r0") == 1
        assert client.delete_record(task.id, "r0") == 0
        client.upload_file(task.id, path)
        client.delete_report(client.upload_run(task.id, "elsewhere", run).id)
        client.upload_run(task.id, "again", run)
        client.create_report(task.id, "r", 0, 100)
        two, one = dict.fromkeys(HANGING[:2], 2), dict.fromkeys(HANGING[2:6], 1)
        assert rows(folder) == two | one
        delete(client, project.id, task.id)
        assert rows(folder) == {}
        with pytest.raises(RequestRefused, match="There is no task"):
            client.add_records(task.id, records(1))


def an_old_report(store: Store, task: str, days: float) -> str:
    report, _ = create_report(store, task, f"{days} days old", 0.0, time.time())
    with store.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE reports SET created = {time.time() - days * DAY_S} WHERE id = '{report.id}'"
        )
    return report.id


def aged(number: int, days: float) -> dict[str, object]:
    return item(number, timestamp=time.time() - days * DAY_S)


def a_paid_answer(store: Store, project: str, query: str, days: float) -> None:
    created = time.time() - days * DAY_S
    made = Paid(query.encode().hex(), ANSWER, "f", "s", query, {"repeat": 0}, created=created)

    async def keep() -> None:
        with Ledger(store.ledger(project)) as ledger:
            await ledger.keep(lambda: [made])

    asyncio.run(keep())


def paid(store: Store, project: str) -> set[str]:
    with Ledger(store.ledger(project)) as ledger:
        return {one.subject for one in ledger.rows("kind = ? AND reason IS NULL", ANSWER)}


def test_a_task_keeps_its_own_days_and_the_service_at_most_its(store: Store) -> None:
    kept = {"s": 10, "l": 9_000, "f": None}
    create_project(store, "without a task")
    tasks = [a_task(store, name=name, keep_days=days) for name, days in kept.items()]
    for task in tasks:
        add(store, task, [aged(1, 5), aged(2, 50), aged(3, 5_000)])
        for days in (5, 50, 5_000):
            an_old_report(store, task.id, days)
    for query, days in (("young", 5), ("old", 5_000)):
        a_paid_answer(store, tasks[0].project_id, query, days)

    def left() -> list[tuple[int, int]]:
        return [(count_records(store, one.id), len(list_reports(store, one.id))) for one in tasks]

    delete_old(store)
    assert left() == [(1, 1), (3, 3), (3, 3)]
    # One of the project's tasks keeps its records for ever, and so are the answers paid for them.
    assert paid(store, tasks[0].project_id) == {"young", "old"}
    delete_old(store, keep_days=90)
    assert left() == [(1, 1), (2, 2), (2, 2)]
    assert paid(store, tasks[0].project_id) == {"young"}


def test_what_cannot_be_done_now_is_done_another_time() -> None:
    calls: list[int] = []

    def act() -> None:
        calls.append(1)
        raise StoreUnavailable("It restarts.")

    async def life() -> None:
        doing = asyncio.create_task(_every(0.0, act))
        while len(calls) < 3:
            assert not doing.done()
            await asyncio.sleep(0.01)
        doing.cancel()

    asyncio.run(life())


def test_old_versions_go_by_their_own_time(store: Store) -> None:
    task = a_task(store, keep_days=30)
    add(store, task, [aged(1, 100)])
    add(store, task, [{**aged(1, 1), "response": "changed"}])
    delete_old(store)
    (kept,) = read_versions(store, task.id, "r1")
    assert kept.record["answer"] == "changed" and kept.is_latest


@pytest.mark.usefixtures("forked")
def test_a_service_deletes_what_is_older_than_its_days(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    task = a_task(store, aged(1, 5), aged(2, 100))
    with serving(tmp_path / "data", "--no-worker", "--keep", "90d") as service:
        until(lambda: count_records(store, task.id) == 1)
        assert service.ask("GET", f"tasks/{task.id}/records/r1")
        options = {"keep_days": 3}
        assert service.ask("PUT", f"tasks/{task.id}/options", options)["options"]["keep_days"] == 3
    with serving(tmp_path / "data", "--no-worker"):
        until(lambda: count_records(store, task.id) == 0)
    store.close()
