"""The Python clients against a server that was started for them."""

import asyncio
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import ragassay
from local_server import LocalServer, Reply
from service_process import Service, records, serving

pytest.importorskip("httpx2", reason="needs the extra 'client'")
openpyxl = pytest.importorskip("openpyxl")

from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.client.clients import AsyncClient, Client
from ragassay.client.service_shapes import JobIncomplete, JobTimeout, Report, RequestRefused


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, forked_module: None) -> Iterator[Service]:
    """A service with its worker."""
    folder = tmp_path_factory.mktemp("service") / "data"
    with serving(folder, "--judge", "offline", "--judge", "gone=http://127.0.0.1:9/v1#m") as made:
        yield made


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    """A client of it."""
    with Client(f"http://127.0.0.1:{service.port}", polling=0.1) as made:
        yield made


def a_task(client: Client, name: str) -> str:
    project = client.create_project(name)
    task = client.create_task(project.id, "t", separator="<<sep>>")
    assert task.options.separator == "<<sep>>" and client.list_tasks(project.id) == [task]
    assert client.add_records(task.id, records(4)).new == 4
    return task.id


def test_the_example_of_the_page_runs_as_it_is_printed(service, here, monkeypatch) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "service.md"
    (body,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    monkeypatch.setenv("RAGASSAY_URL", f"http://127.0.0.1:{service.port}")
    exec(body, {})
    book = openpyxl.load_workbook(here / "reports" / "november.xlsx")
    assert [row[0].value for row in book["Records"].iter_rows(min_row=2)] == ["1"]
    assert ragassay.open_run(here / "runs" / "november").summary.n_samples == 1


def test_a_report_comes_back_as_a_result_that_runs_anywhere(client, here) -> None:
    task = a_task(client, "result")
    look = client.preview_report(task, 0.0, 2.0, metrics=["ragreport_relevance"])
    assert (look.n_records, list(look.metrics.values())) == (3, [3])
    started = client.create_report(
        task, "qa", 0.0, 2.0, suite=["ragreport"], metrics=["ragreport_relevance"]
    )
    assert started.report.status == "idle"
    job = client.wait_job_completion(started.job.id)
    assert (job.status, job.progress.done, job.progress.total) == ("completed", 3, 3)
    folder = client.download_run(started.report.id, here / "run")
    result = ragassay.open_run(folder)
    headline = client.get_report(started.report.id).headline or {}
    means = {name: one.mean for name, one in result.summary.metrics.items()}
    assert means == {name: one["mean"] for name, one in headline.items()}
    moved = folder.rename(here / "moved")
    assert ".." not in (moved / "run.yaml").read_text(encoding="utf-8")
    assert call(["run", str(moved / "run.yaml"), "-o", str(here / "again")]) == 0
    scores = [(one / "scores.jsonl").read_bytes() for one in (here / "again", moved)]
    assert scores[0] == scores[1]
    moved.rename(folder)
    with pytest.raises(ragassay.UsageError, match="is not empty"):
        client.download_run(started.report.id, here / "run")
    assert [one.id for one in client.list_jobs(task_id=task, status="completed")] == [job.id]


def test_what_is_refused_is_a_typed_error_with_a_sentence(client: Client, monkeypatch) -> None:
    with pytest.raises(RequestRefused, match="There is no task 'x'") as caught:
        client.add_records("x", records(1))
    assert caught.value.status == 404
    task = a_task(client, "refused")
    with pytest.raises(RequestRefused, match="no option 'sute'"):
        client.create_report(task, "r", 0, 1, sute="qa")
    report = client.create_report(task, "r", 0, 100)
    with pytest.raises(JobTimeout, match="Wait again"):
        client.wait_job_completion(report.job.id, max_wait_timeout=0)
    client.wait_job_completion(report.job.id, allow_incomplete=True)
    with pytest.raises(RequestRefused, match="has ended"):
        client.cancel_job(report.job.id)
    monkeypatch.setattr("ragassay.client.clients.PAUSES_S", (0.0,))
    refused = pytest.raises(RequestRefused, match="does not answer")
    with Client("http://127.0.0.1:9") as nobody, refused:
        nobody.list_projects()
    refused = pytest.raises(RequestRefused, match="like a ragassay service")
    with SaidAlways("<html>hello</html>") as server, Client(server.url) as other, refused:
        other.list_projects()


class SaidAlways(LocalServer):
    """Answers everything with one text, and keeps what it was asked."""

    hold: threading.Event | None = None

    def __init__(self, text: str) -> None:
        self.text, self.seen = text, list[tuple[str, Any]]()

    def reply(self, request: Any, body: bytes) -> Reply:
        self.seen.append((request.path, json.loads(body or b"null")))
        return Reply(self.text.encode(), hold=self.hold)


def awaiting(url: str, name: str, /, *words: Any, **options: Any) -> Any:
    async def life(wait: Any = ()) -> Any:
        async with AsyncClient(url, **dict(wait)) as client:
            return await getattr(client, name)(*words, **options)

    return asyncio.run(life(options.pop("wait", ())))


def blocking(url: str, name: str, /, *words: Any, wait: Any = (), **options: Any) -> Any:
    with Client(url, **dict(wait)) as client:
        return getattr(client, name)(*words, **options)


@pytest.mark.parametrize("ask", [blocking, awaiting])
def test_a_client_looks_as_often_and_waits_as_long_as_it_is_told(ask: Any) -> None:
    names = ("id", "project_id", "project_name", "task_id", "task_name", "report_id", "error")
    job = dict.fromkeys(names, "x") | {"kind": "report", "status": "running", "progress": {}}
    with SaidAlways(json.dumps(job | {"created": 0, "updated": 0, "cancelled": False})) as server:
        for polling, few, many in ((0.01, 4, 100), (9.0, 1, 2)):
            server.seen.clear()
            with pytest.raises(JobTimeout):
                ask(server.url, "wait_job_completion", "x", 0.4, wait={"polling": polling})
            assert few <= len(server.seen) <= many
        with Client(server.url, polling=9.0) as client:
            assert client._pause(client.get_job("x"), 10.0, time.monotonic() - 9.0) <= 1.0
        server.hold = threading.Event()
        with pytest.raises(RequestRefused, match="does not answer: ReadTimeout"):
            ask(server.url, "get_job", "x", wait={"timeout": 0.1})
        server.hold.set()


def test_logging_connects_as_its_client_does(monkeypatch: pytest.MonkeyPatch) -> None:
    made, connect = list[dict[str, Any]](), Client._connect
    kept = staticmethod(lambda **told: made.append(told) or connect(**told))
    monkeypatch.setattr(Client, "_connect", kept)
    with SaidAlways("{}") as server, Client(server.url, "secret", timeout=7.0) as client:
        assert client.log("t", {}) and client.flush()
    assert made[0] == made[1] and made[0]["timeout"] == 7.0 and "secret" in str(made[0]["headers"])


READING = {"columns": {"query": "Frage"}, "format": "csv", "delimiter": "^", "zone": "UTC"}
PROJECT, FILE = {"name": "n", "description": "d"}, {"form": "md", "path": os.devnull}
IMPORT = {**READING, "received_as_time": True}
TIMES = {"from_timestamp": 1, "to_timestamp": 2.5}
OVER = {**TIMES, "options": {"limit": 3}}
OF_TASK = {"task_id": "t", **TIMES, "limit": 3}
JOBS = {"project_id": "p", "task_id": "t", "report_id": "r", "status": "idle"}
LOOSELY = {"unpaired": True, "force": True, "trust_offline": True}
PAIR, TOLD = {"new_id": "n", "old_id": "o", **LOOSELY}, urlencode(LOOSELY).lower()


@pytest.mark.parametrize(("name", "told", "path", "body"), [
    ("create_project", PROJECT, "projects", PROJECT),
    ("preview_upload", {"upload_id": "u", **READING}, "uploads/u/preview", READING),
    ("import_upload", {"upload_id": "u", **IMPORT}, "uploads/u/import", IMPORT),
    ("preview_report", OF_TASK, "tasks/t/reports/preview", OVER),
    ("create_report", OF_TASK | {"name": "n"}, "tasks/t/reports", OVER | {"name": "n"}),
    ("list_jobs", JOBS | {"other": None}, f"jobs?{urlencode(JOBS)}", None),
    ("compare_reports", PAIR, f"comparisons?new=n&old=o&form=json&{TOLD}", None),
    ("download_comparison", PAIR | FILE, f"comparisons?new=n&old=o&form=md&{TOLD}", None),
])  # fmt: skip
@pytest.mark.parametrize("ask", [blocking, awaiting])
def test_a_call_sends_all_that_it_is_told(ask: Any, name: str, told: Any, path: str, body) -> None:
    with SaidAlways("null") as server, suppress(RequestRefused):
        ask(f"{server.url}/", name, **told)
    assert server.seen == [(f"/api/v1/{path}", body)]


def test_a_report_is_compared_by_what_is_scored_of_one_system_and_its_times_are_utc() -> None:
    scored = {"both": (2, 2), "none": (0, 1), "one": (2, 1)}
    headline = {name: {"n_scored": n, "n_systems": of} for name, (n, of) in scored.items()}
    headline["older"] = {"n_scored": 1}
    report = Report(
        id="r", task_id="t", name="n", status="completed", from_timestamp=3600.0, to_timestamp=None,
        options={}, created=7200.0, headline=headline,
    )  # fmt: skip
    assert report.compared == {"one", "older"} and report.to_datetime is None
    assert report.from_datetime == datetime(1970, 1, 1, 1, tzinfo=UTC)
    assert report.creation_datetime == datetime(1970, 1, 1, 2, tzinfo=UTC)


def test_what_a_newer_service_adds_is_left_out() -> None:
    options = '{"separator": "|", "later": 1}'
    task = f'{{"id": "t", "project_id": "p", "name": "n", "options": {options}, "created": 1.0, '
    with SaidAlways(f'[{task}"more": []}}]') as server, Client(server.url) as client:
        (found,) = client.list_tasks("p")
    assert (found.id, found.options.separator) == ("t", "|")
    assert not hasattr(found, "more") and not hasattr(found.options, "later")


def test_a_job_that_fails_says_why(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    task = a_task(client, "failing")
    asked = {"judge": "gone", "metrics": "umbrela", "suite": "trecrag", "timeout": 1.0}
    started = client.create_report(task, "r", 0, 100, **asked)
    with pytest.raises(JobIncomplete, match=r"gone (cannot be reached|did not answer)"):
        client.wait_job_completion(started.job.id, max_wait_timeout=120)
    job = client.wait_job_completion(started.job.id, allow_incomplete=True)
    assert job.status == "incomplete"
    headline = client.get_report(started.report.id).headline or {}
    assert headline["umbrela"]["n_scored"] == 0


def test_the_asynchronous_client_does_the_same_by_the_published_names(service, tmp_path) -> None:
    async def life() -> Path:
        async with AsyncClient(f"http://127.0.0.1:{service.port}", polling=0.1) as client:
            project = await client.create_project("asynchronous", "by hand")
            assert project.description == "by hand"
            task = await client.create_task(project.id, "t")
            assert (await client.add_records(task.id, records(2))).new == 2
            times = {"from_timestamp": 0.0, "to_timestamp": 100.0}
            asked = client.compute_rag_evaluation_report(task_id=task.id, report_name="r", **times)
            done = await client.wait_job_completion(job_id=await asked, allow_incomplete=True)
            assert done.status == "incomplete", "five of six metrics need an LLM judge"
            (report,) = await client.get_rag_evaluation_reports(task_id=task.id)
            place: dict[str, Any] = {"folder": tmp_path / "new" / "folder", "file_name": "r.xlsx"}
            return await client.export_rag_evaluation_report(report_id=report.id, **place)

    assert asyncio.run(life()).stat().st_size > 5_000


def test_both_clients_have_the_same_calls() -> None:
    calls = {name for name in vars(Client) if not name.startswith("_")}
    assert calls == {name for name in vars(AsyncClient) if not name.startswith("_")}


def test_an_id_of_dots_deletes_nothing_else(client: Client) -> None:
    task = a_task(client, "dots")
    for key in (".", "..", ""):
        with pytest.raises(UsageError, match="may not be empty"):
            client.delete_record(task, key)
    client.add_records(task, [{"id": name, "user_input": "?"} for name in ("a/../b", "b")])
    assert [client.delete_record(task, "a/../b") for _ in range(2)] == [1, 0]
    assert client.delete_record(task, "b") == 1
    with pytest.raises(RequestRefused, match=r"'\.\.' cannot be .*another page") as caught:
        client.add_records(task, [{"id": "..", "user_input": "?"}])
    assert (caught.value.status, caught.value.field, caught.value.line) == (422, "id", 1)
    assert [one.id for one in client.list_tasks(client.list_projects()[-1].id)] == [task]


def test_an_interval_may_be_given_as_times(client: Client) -> None:
    task = a_task(client, "times")
    start, end = datetime(2001, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)
    by_times = client.preview_report(task, start, end)
    assert by_times == client.preview_report(task, start.timestamp(), end.timestamp())
    with pytest.raises(UsageError, match="no time zone"):
        client.preview_report(task, start.replace(tzinfo=None), end)
