"""The events of a job: what a page shows while a report is computed."""

from __future__ import annotations

import asyncio
import json
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.client.service_shapes import Progress
from ragassay.service.api.report_routes import job_events
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Queue, get_job
from service_process import serving, with_records
from stored_records import a_job


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragassay.service.api.report_routes.LOOK_S", 0.01)


def parsed(event: str) -> tuple[str, Any]:
    name, data = event.strip().splitlines()
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_each_change_of_a_job_is_an_event_and_the_end_is_the_last(store: Store) -> None:
    key = a_job(store)
    queue = Queue(store, "worker")

    async def watch() -> list[tuple[str, Any]]:
        seen = []
        steps = iter(
            [
                queue.take,
                lambda: queue.beat(key, Progress(done=1, total=2, calls=7, cost=0.5)),
                lambda: end(store, queue, key),
            ]
        )
        async for event in job_events(store, key):
            seen.append(parsed(event))
            if (step := next(steps, None)) is not None:
                step()
        return seen

    seen = asyncio.run(watch())
    assert [(name, job["status"]) for name, job in seen] == [
        ("progress", "idle"), ("progress", "starting"), ("progress", "running"),
        ("end", "completed"),
    ]  # fmt: skip
    told = {"done": 1, "total": 2, "calls": 7, "cost": 0.5, "seconds": 0.0}
    assert seen[2][1]["progress"] == told
    # One that has ended says so at once.
    assert asyncio.run(watch())[0][0] == "end"


def end(store: Store, queue: Queue, key: str) -> None:
    with store.writing() as connection:
        queue.end(connection, key)


def test_a_job_that_is_deleted_ends_its_events(store: Store) -> None:
    key = a_job(store)
    report = str(get_job(store, key).report_id)

    async def watch() -> list[str]:
        seen = []
        async for event in job_events(store, key):
            seen.append(parsed(event)[0])
            if len(seen) == 1:
                store.remove(schema.reports, report)
        return seen

    assert asyncio.run(watch()) == ["progress", "gone"]


def test_a_store_that_is_away_for_a_moment_ends_no_events(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragassay.base.errors import UsageError

    key = a_job(store)
    answers = iter([UsageError("away"), UsageError("away")])

    def look(store: Store, key: str) -> Any:
        if (error := next(answers, None)) is not None:
            raise error
        return get_job(store, key)

    monkeypatch.setattr("ragassay.service.api.report_routes.get_job", look)

    async def first() -> str:
        async for event in job_events(store, key):
            return parsed(event)[1]["status"]  # type: ignore[no-any-return]
        return ""

    assert asyncio.run(first()) == "idle"


@pytest.mark.usefixtures("forked")
def test_a_client_that_leaves_costs_nothing_and_one_that_stays_sees_the_end(
    tmp_path: Path,
) -> None:
    def events(url: str) -> Iterator[bytes]:
        with urllib.request.urlopen(url, timeout=60) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            yield from stream

    with serving(tmp_path / "data") as service:
        task = with_records(service, 20)
        options = {"metrics": ["ragreport_relevance"]}
        asked = {"name": "r", "from_timestamp": 0, "to_timestamp": 1000, "options": options}
        job = service.ask("POST", f"tasks/{task}/reports", asked)["job"]["id"]
        url = f"http://127.0.0.1:{service.port}/api/v1/jobs/{job}/events"
        for _ in range(60):  # more than there are threads
            leaving = events(url)
            assert next(leaving).startswith(b"event:")
            leaving.close()
        assert b"event: end\n" in list(events(url))
        assert service.ask("GET", f"jobs/{job}")["status"] == "completed"


@pytest.mark.usefixtures("forked")
def test_a_stream_that_is_open_does_not_keep_the_service_from_ending(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-worker") as service:
        task = with_records(service, 1)
        options = {"metrics": ["ragreport_relevance"]}
        asked = {"name": "r", "from_timestamp": 0, "to_timestamp": 1000, "options": options}
        job = service.ask("POST", f"tasks/{task}/reports", asked)["job"]["id"]
        url = f"http://127.0.0.1:{service.port}/api/v1/jobs/{job}/events"
        with urllib.request.urlopen(url, timeout=60) as stream:
            assert stream.readline().startswith(b"event: progress")
            service.process.send_signal(signal.SIGINT)
            assert service.process.wait(60) in (0, 130)
