"""A call whose answer is lost is sent again, and what it makes is made once."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import ragassay
from lossy_proxy import LossyProxy
from service_process import Service, records, serving
from stored_records import CSV, asking

httpx2 = pytest.importorskip("httpx2", reason="needs the extra 'client'")

from ragassay.client.calls import Call
from ragassay.client.clients import PAUSES_S, AsyncClient, Client, _attempts
from ragassay.client.service_shapes import JobFailed, NotFound, Unauthorised, Unreachable
from ragassay.service.store.database import Store
from ragassay.service.store.projects import create_project
from ragassay.service.store.tokens import create_token
from stored_records import a_task, item


@pytest.fixture(scope="module")
def service(tmp_path_factory, forked_module: None) -> Iterator[tuple[Service, str]]:
    """A service without a worker, and a token."""
    folder = tmp_path_factory.mktemp("service") / "data"
    store = Store(folder)
    _, token = create_token(store, "me", "write")
    store.close()
    with serving(folder, "--no-worker") as made:
        yield made, token


@pytest.fixture
def proxy(service: tuple[Service, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[LossyProxy]:
    """Stands before the service; clients wait for nothing."""
    monkeypatch.setattr("ragassay.client.clients.PAUSES_S", (0.0,) * 5)
    with LossyProxy(service[0].port) as made:
        yield made


@pytest.fixture
def client(service: tuple[Service, str], proxy: LossyProxy) -> Iterator[Client]:
    """A client of the service behind the proxy."""
    with Client(proxy.url, service[1]) as made:
        yield made


def test_what_a_call_made_whose_answer_was_lost_is_there_once(client, proxy, tmp_path) -> None:
    def lost(call: Any, *arguments: Any) -> Any:
        proxy.lost, before = 2, len(proxy.seen)
        made = call(*arguments)
        assert len(set(proxy.seen[before:])) == 1 and len(proxy.seen) == before + 3
        return made

    project = lost(client.create_project, "lost")
    assert [one.id for one in client.list_projects() if one.name == "lost"] == [project.id]
    task = lost(client.create_task, project.id, "t")
    assert client.list_tasks(project.id) == [task]
    assert lost(client.add_records, task.id, records(3)).unchanged == 3
    *_, logged = records(4)
    assert client.log(task.id, logged) and client.flush(60)
    assert client.add_records(task.id, [logged]).unchanged == 1
    report = lost(client.create_report, task.id, "r", 0, 10).report
    run, file = tmp_path / "run", tmp_path / "data.csv"
    ragassay.evaluate([{"id": "x", "query": "?", "answer": "a"}], ["BLEU"], save=run)
    uploaded = lost(client.upload_run, task.id, "run", run)
    assert {one.id for one in client.list_reports(task.id)} == {report.id, uploaded.id}
    assert len(client.list_jobs(task_id=task.id)) == 1
    file.write_bytes(CSV)
    upload = lost(client.upload_file, task.id, file)
    assert client.preview_upload(upload.id).problem is None
    proxy.lost = 1
    with pytest.raises(Unreachable):  # made once: the file is gone with it
        client.import_upload(upload.id)
    lost(client.delete_task, task.id)
    assert client.list_tasks(project.id) == []


def test_what_may_be_done_once_only_is_not_sent_again(client: Client, proxy: LossyProxy) -> None:
    task = client.create_task(client.create_project("once").id, "t")
    client.add_records(task.id, records(1))
    job = client.create_report(task.id, "r", 0, 10).job
    for call, is_cancelled in ((client.cancel_job, True), (client.retry_job, False)):
        proxy.lost, before = 1, len(proxy.seen)
        with pytest.raises(Unreachable):
            call(job.id)
        assert len(proxy.seen) == before + 1
        assert client.get_job(job.id).cancelled is is_cancelled
    client.cancel_job(job.id)
    with pytest.raises(JobFailed, match="was cancelled"):
        client.wait_job_completion(job.id, allow_incomplete=True)
    proxy.busy = 2  # a service that is busy has done nothing
    assert client.retry_job(job.id).status == "idle"


def test_what_reached_nobody_is_sent_again_and_what_a_slow_service_may_do_is_not() -> None:
    gone, slow = httpx2.ReadError("lost"), httpx2.ReadTimeout("lost")
    refused = {status: httpx2.Response(status) for status in (502, 503, 504)}
    for answer, once, is_again in (
        (httpx2.ConnectTimeout("lost"), True, True), (httpx2.ConnectError("lost"), True, True),
        (gone, False, True), (gone, True, False), (slow, False, False),
        (httpx2.RemoteProtocolError("lost"), False, True), (refused[503], True, True),
        (refused[502], True, False), (refused[504], True, False), (refused[502], False, True),
    ):  # fmt: skip
        attempts = _attempts(Call("POST", "/x", lambda body: body, once=once), "/x")
        assert next(attempts) == 0.0
        if is_again:
            assert attempts.send(answer) == PAUSES_S[0]
        else:
            with pytest.raises(Unreachable):
                attempts.send(answer)
    for status, kind in ((401, Unauthorised), (403, Unauthorised), (404, NotFound)):
        for lost in (0, 1):  # what an earlier attempt has deleted was there
            attempts = _attempts(Call("POST", "/x", lambda body: body), "/x")
            assert [next(attempts), *(attempts.send(gone) for _ in range(lost))]
            with pytest.raises(kind):
                attempts.send(httpx2.Response(status))


def test_a_service_that_stays_away_is_unreachable(client: Client, proxy: LossyProxy) -> None:
    proxy.away = True
    with pytest.raises(Unreachable, match="does not answer"):
        client.list_projects()
    assert len(proxy.seen) == 6
    proxy.away, proxy.busy = False, 100
    with pytest.raises(Unreachable, match="busy") as caught:
        client.list_projects()
    assert caught.value.status == 503 and len(proxy.seen) == 12


def test_errors_have_types_and_tokens_may_be_variables(client, service, proxy, monkeypatch) -> None:
    monkeypatch.setenv("RAGASSAY_TOKEN", service[1])
    with Client(proxy.url) as other:
        assert other.list_projects() == client.list_projects()
    with Client(proxy.url, "no token") as other, pytest.raises(Unauthorised):
        other.list_projects()
    with pytest.raises(NotFound):
        client.delete_task("nowhere")


def test_the_asynchronous_client_does_so_too(proxy: LossyProxy, service: tuple[Any, str]) -> None:
    async def life() -> None:
        async with AsyncClient(proxy.url, service[1]) as client:
            proxy.lost, proxy.busy = 1, 1
            made = await client.create_project("async")
            named = [one.id for one in await client.list_projects() if one.name == "async"]
            assert named == [made.id]
            proxy.away = True
            with pytest.raises(Unreachable):
                await client.list_projects()

    asyncio.run(life())


@pytest.mark.both_stores
def test_a_key_makes_one_thing_below_one_address_and_takes_no_other_body(store: Store) -> None:
    asks = asking(store)
    task = a_task(store, item(1))
    asked = {"name": "r", "from_timestamp": 0, "to_timestamp": 1e6}
    bodies: dict[str, list[dict[str, Any]]] = {
        "projects": [{"json": {"name": "a"}}, {"json": {"name": "b"}}],
        **{
            f"projects/{key}/tasks": [{"json": {"name": "a"}}, {"json": {"name": "b"}}]
            for key in (task.project_id, create_project(store, "q").id)
        },
        f"tasks/{task.id}/reports": [{"json": asked}, {"json": {**asked, "to_timestamp": 9e5}}],
        f"tasks/{task.id}/uploads?file_name=a.csv": [{"content": b"id"}, {"content": b"id\n1"}],
    }
    seen = set()
    for path, (first, other) in bodies.items():
        headers = {"Idempotency-Key": "the same key"}
        made = asks.post(f"/api/v1/{path}", headers=headers, **first)
        assert made.is_success and made.text not in seen, made.text
        seen.add(made.text)
        refused = asks.post(f"/api/v1/{path}", headers=headers, **other)
        assert refused.status_code == 409 and "'the same key'" in refused.json()["detail"]
        assert asks.post(f"/api/v1/{path}", headers=headers, **first).json() == made.json()
    other = f"/api/v1/tasks/{task.id}/uploads?file_name=b.csv"
    assert asks.post(other, headers=headers, content=b"id").status_code == 409
