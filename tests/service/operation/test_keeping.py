"""What is older than it is to be kept is deleted; what is younger stays."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import ANSWER, Paid
from ragassay.service.operation.keeping import DAY_S, delete_old
from ragassay.service.store.database import Store
from ragassay.service.store.records import count_records, read_versions
from ragassay.service.store.reports import create_report, list_reports
from service_process import serving, until
from stored_records import a_task, add, item

pytestmark = pytest.mark.both_stores


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
    short, long, free = (
        a_task(store, name, keep_days=days) for name, days in (("s", 10), ("l", 500), ("f", None))
    )
    for task in (short, long, free):
        add(store, task, [aged(1, 5), aged(2, 50), aged(3, 5_000)])
        for days in (5, 50, 5_000):
            an_old_report(store, task.id, days)
    for query, days in (("young", 5), ("old", 5_000)):
        a_paid_answer(store, short.project_id, query, days)

    def left() -> list[tuple[int, int]]:
        return [
            (count_records(store, task.id), len(list_reports(store, task.id)))
            for task in (short, long, free)
        ]

    delete_old(store)
    assert left() == [(1, 1), (2, 2), (3, 3)]
    # One of the project's tasks keeps its records for ever, and so are the answers paid for them.
    assert paid(store, short.project_id) == {"young", "old"}
    delete_old(store, keep_days=90)
    assert left() == [(1, 1), (2, 2), (2, 2)]
    assert paid(store, short.project_id) == {"young"}


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
    task = a_task(store)
    add(store, task, [aged(1, 5), aged(2, 100)])
    with serving(tmp_path / "data", "--no-worker", "--keep", "90d") as service:
        until(lambda: count_records(store, task.id) == 1)
        assert service.ask("GET", f"tasks/{task.id}/records/r1")
        options = {"keep_days": 3}
        assert service.ask("PUT", f"tasks/{task.id}/options", options)["options"]["keep_days"] == 3
    with serving(tmp_path / "data", "--no-worker"):
        until(lambda: count_records(store, task.id) == 0)
    store.close()
