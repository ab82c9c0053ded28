"""A report in which less than asked could be scored is incomplete; a later try may mend it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from llm_server import LLMServer
from ragassay.service import NamedModels, ServiceOptions, create_app
from ragassay.service.store import (
    Queue,
    Store,
    cancel_job,
    create_report,
    get_report,
    list_reports,
    retry_job,
)
from ragassay.service.worker import Worker, WorkerOptions
from stored_records import a_task, add, item

API = "/api/v1"
ASKED = {"suite": ["trecrag"], "metrics": ["umbrela"]}


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_report_that_lacks_scores_is_incomplete_until_a_later_try_brings_them(
    store: Store, tmp_path: Path, share: float
) -> None:
    views = tmp_path / "views"
    client = TestClient(
        create_app(store, ServiceOptions(views=views)), "http://localhost", client=("127.0.0.1", 5)
    )
    worker = Worker(store, WorkerOptions(tmp_path / "work", views, poll=0.1))
    with LLMServer() as server:
        server.settings.faults = lambda request: "auth" if request.index >= 2 - 2 * share else None
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store)
        add(store, task, [item(n) for n in range(3)])
        report, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED)
        worker.run(until_idle=True)
        found = client.get(f"{API}/reports/{report.id}").json()
        assert found["status"] == "incomplete" and "missing" in found["error"]
        assert client.get(f"{API}/jobs?status=incomplete").json()[0]["id"] == job.id
        (one,) = client.get(f"/sdk/v1/task/{task.id}/rag-evaluation").json()
        (told,) = client.get("/sdk/v1/job").json()
        assert one["status"] == told["status"] == "error" and told["error"] == found["error"]
        page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
        assert "Incomplete." in page and f"/reports/{report.id}/retry" in page
        assert client.get(f"{API}/reports/{report.id}/files/csv").status_code == 200
        server.settings.faults = {}
        assert client.post(f"{API}/jobs/{job.id}/retry").status_code == 200
        worker.run(until_idle=True)
    done = get_report(store, report.id)
    assert (done.status, done.error) == ("completed", None)
    assert done.headline and done.headline["umbrela"]["n_scored"] == 3
    page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
    assert "Incomplete." not in page
    assert client.post(f"{API}/jobs/{job.id}/retry").status_code == 409
    assert [one.status for one in list_reports(store, task.id)] == ["completed"]


@pytest.mark.usefixtures("forked")
def test_a_later_try_that_brings_nothing_leaves_the_earlier_report_readable(
    store: Store, tmp_path: Path
) -> None:
    views = tmp_path / "views"
    client = TestClient(
        create_app(store, ServiceOptions(views=views)), "http://localhost", client=("127.0.0.1", 5)
    )
    with LLMServer() as server:
        server.settings.faults = lambda request: "auth" if request.index >= 1 else None
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store)
        add(store, task, [item(n) for n in range(3)])
        report, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED)
        Worker(store, WorkerOptions(tmp_path / "work", views, poll=0.1)).run(until_idle=True)

    def shown() -> str:
        found = get_report(store, report.id)
        assert found.is_there and found.headline
        assert client.get(f"{API}/reports/{report.id}/files/csv").status_code == 200
        page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
        assert "umbrela" in page and 'id="browse"' in page
        assert [one.name.partition("@")[0] for one in views.iterdir()] == [report.id]
        return page

    assert "Incomplete." in shown()
    answer = client.post(f"/reports/{report.id}/retry", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/reports/{report.id}")
    page = shown()
    assert "It is tried again." in page and f"/reports/{report.id}/cancel" in page
    cancel_job(store, job.id)
    assert get_report(store, report.id).status == "error"
    assert "The last try brought none." in (page := shown()) and "It was cancelled." in page
    retry_job(store, job.id)
    queue = Queue(store, "w")
    assert queue.take()
    with store.writing() as connection:
        queue.end(connection, job.id, "It broke down.")
    assert "It broke down." in shown()
    listed = client.get(f"/tasks/{task.id}", headers={"Accept": "text/html"}).text
    assert "It broke down." in listed
