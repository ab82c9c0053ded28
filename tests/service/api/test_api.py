"""The REST interface: what it does, what it refuses, and who may ask."""

import errno
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ragassay.base.errors import InputError, UsageError
from ragassay.service.application import ServiceOptions, create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_project, create_task
from ragassay.service.store.tokens import create_token
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import asking

API = "/api/v1"


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    """A client on this machine."""
    with local(store) as made:
        yield made


def local(store: Store, **headers: str) -> TestClient:
    made = asking(store)
    made.headers.update(headers)
    return made


def made_task(client: TestClient, **options: Any) -> str:
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    found = client.post(f"{API}/projects/{project}/tasks", json={"name": "t", "options": options})
    assert found.status_code == 201, found.text
    return str(found.json()["id"])


def record(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}", "timestamp": 1000.0 + number, "response": "It has 180 ECTS.",
        "user_input": "How many ECTS has the programme?",
        "retrieved_context": ["The programme has 180 ECTS."], **more,
    }  # fmt: skip


@pytest.mark.usefixtures("forked")
def test_the_whole_life_from_a_project_to_a_reports_run_folder(client, store, tmp_path) -> None:
    task = made_task(client)
    sent = client.post(f"{API}/tasks/{task}/records", json={"records": [record(1), record(2)]})
    assert sent.json() == {"new": 2, "changed": 0, "unchanged": 0, "empty_chunks": 0, "notes": []}
    body = {
        "name": "früh/1", "from_timestamp": 1000, "to_timestamp": "1970-01-01T01:16:42+01:00",
        "options": {"suite": ["ragreport"], "metrics": ["relevance"]},
    }  # fmt: skip
    started = client.post(f"{API}/tasks/{task}/reports", json=body)
    assert started.status_code == 202, started.text
    report, job = started.json()["report"]["id"], started.json()["job"]["id"]
    assert started.json()["report"]["to_timestamp"] == 1002.0
    not_yet = client.get(f"{API}/reports/{report}/run")
    assert not_yet.status_code == 409 and "not finished" in not_yet.json()["detail"]
    Worker(store, WorkerOptions(tmp_path / "work", beat=0.2)).run(until_idle=True)
    found_job = client.get(f"{API}/jobs/{job}").json()
    assert found_job["status"] == "completed"
    found = client.get(f"{API}/reports/{report}").json()
    assert found["status"] == "completed"
    assert found["headline"]["relevance"]["n_scored"] == 2
    for form in ("pdf", "junit", "ore", "consistency"):
        wrong = client.get(f"{API}/reports/{report}/files/{form}").json()
        assert (wrong["status"], wrong["field"]) == (422, "form")
    for form in ("csv", "html"):
        file = client.get(f"{API}/reports/{report}/files/{form}")
        assert file.headers["content-type"].startswith(f"text/{form}")
    archive = client.get(f"{API}/reports/{report}/run")
    assert archive.headers["content-type"] == "application/zip"
    said = "attachment; filename=\"fr_h_1.zip\"; filename*=UTF-8''fr%C3%BCh%2F1.zip"
    assert archive.headers["content-disposition"] == said
    own = {"report_id": report, "task_id": task, "project_id": found_job["project_id"]}
    for name, key in {**own, "status": "completed"}.items():
        for value, jobs in ((key, [job]), ("error", [])):
            asked = client.get(f"{API}/jobs", params={name: value})
            assert [one["id"] for one in asked.json()] == jobs, name
    names = zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert {"run.yaml", "samples.jsonl", "scores.jsonl", "summary.json"} <= set(names)
    assert client.delete(f"{API}/reports/{report}").status_code == 204
    assert client.get(f"{API}/tasks/{task}/reports").json() == []


@pytest.mark.usefixtures("forked")
def test_what_a_task_says_of_its_records_reaches_its_reports(client, store, tmp_path) -> None:
    task = made_task(client, multi_turn=True, default_answer="I do not know.")
    turns = [
        record(n, metadata={"session_id": "a" if n < 4 else "b"}, response=said)
        for n, said in enumerate(["1.", "2.", "i do\nnot  know!", "3.", "I do not know Ann."], 1)
    ]
    client.post(f"{API}/tasks/{task}/records", json={"records": turns})
    body = {"name": "first", "from_timestamp": 0, "to_timestamp": 5000}
    report = client.post(f"{API}/tasks/{task}/reports", json=body).json()["report"]["id"]
    Worker(store, WorkerOptions(tmp_path / "work", beat=0.2)).run(until_idle=True)
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"{API}/reports/{report}/run").content))
    lines = archive.read("samples.jsonl").splitlines()
    samples = {one["id"]: one for one in map(json.loads, lines)}
    assert [len(samples[f"r{n}"].get("history", ())) for n in range(1, 6)] == [0, 2, 4, 0, 2]
    assert [name for name in samples if not samples[name].get("answer")] == ["r3"]
    metrics = json.loads(archive.read("summary.json"))["metrics"]
    assert {one["n_clusters"] for one in metrics.values()} - {None} == {2}


def test_records_come_in_pages_and_with_their_versions(client: TestClient) -> None:
    task = made_task(client)
    client.post(f"{API}/tasks/{task}/records", json={"records": [record(n) for n in range(7)]})
    seen, cursor = [], None
    while True:
        words = {"limit": 3, **({} if cursor is None else {"cursor": cursor})}
        page = client.get(f"{API}/tasks/{task}/records", params=words).json()
        seen += [one["id"] for one in page["items"]]
        assert len(page["items"]) <= 3
        if (cursor := page["next"]) is None:
            break
    assert seen == [f"r{n}" for n in reversed(range(7))]
    for words, names in (
        ({"from_timestamp": 1002.0, "to_timestamp": 1004.0}, ["r4", "r3", "r2"]),
        ({"from_timestamp": 1005.0}, ["r6", "r5"]), ({"text": "R3"}, ["r3"]),
    ):  # fmt: skip
        page = client.get(f"{API}/tasks/{task}/records", params=words).json()
        assert [one["id"] for one in page["items"]] == names
    page = client.get(f"{API}/tasks/{task}/records", params={"cursor": f"1001.0_{'9' * 30}"})
    assert [one["id"] for one in page.json()["items"]] == ["r1", "r0"]
    refused = client.get(f"{API}/tasks/{task}/records", params={"limit": 501})
    assert (refused.status_code, refused.json()["field"]) == (422, "limit")
    client.post(f"{API}/tasks/{task}/records", json={"records": [record(1, response="x")]})
    versions = client.get(f"{API}/tasks/{task}/records/r1").json()
    assert [one["version"] for one in versions] == [2, 1]
    assert client.delete(f"{API}/tasks/{task}/records/r1").json() == {"deleted": 2}


@pytest.mark.parametrize(("body", "status", "message"), [
    ({"records": []}, 422, "records"),
    ({"records": [record(1, timestamp="noon")]}, 422, "not a time"),
    ({"records": [record(1, timestamp="2026-01-01T00:00:00")]}, 422, "names no zone"),
    ({"records": [record(1, retrieved_context="a<<sep>>b")]}, 422, "separator"),
    ({"records": [record(1), record(1)]}, 422, "already given in line 1"),
    ({"records": [record(1)], "recrds": []}, 422, "recrds"),
    ({"records": [{}] * 10_001}, 422, "10000"), ({"records": [{}] * 10_000}, 422, "line 1"),
    ({"records": [{"id": "x", "user_input": {"a": 1}}]}, 422, "text"),
])  # fmt: skip
def test_a_batch_that_cannot_be_read_is_refused_as_a_whole(client, body, status, message) -> None:
    task = made_task(client)
    found = client.post(f"{API}/tasks/{task}/records", json=body)
    assert found.status_code == status and message in found.json()["detail"]
    assert found.headers["content-type"] == "application/problem+json"
    assert client.get(f"{API}/tasks/{task}/records").json()["items"] == []


@pytest.mark.parametrize(("change", "message"), [
    ({"from_timestamp": "2026-01-01T00:00:00"}, "names no zone"),
    ({"from_timestamp": ""}, "ISO 8601 with a zone"),
    ({"to_timestamp": None}, "to_timestamp: give seconds since 1970, or ISO 8601 with a zone"),
    ({"to_timestamp": True}, "ISO 8601 with a zone"),
    (
        {"from_timestamp": 1004572800, "to_timestamp": 1007078400},
        "no record from 2001-11-01T00:00:00Z to 2001-11-30T00:00:00Z",
    ),
    ({"options": {"suite": ["nothing"]}}, "suite"),
])  # fmt: skip
def test_a_report_that_makes_no_sense_is_refused(client: TestClient, change, message) -> None:
    task = made_task(client)
    client.post(f"{API}/tasks/{task}/records", json={"records": [record(1)]})
    body = {"name": "x", "from_timestamp": 1000.0, "to_timestamp": 1500.0, **change}
    found = client.post(f"{API}/tasks/{task}/reports", json=body)
    assert found.status_code == 422 and message in found.json()["detail"], found.text


def test_what_is_not_there_is_said_as_a_problem(client: TestClient) -> None:
    for path in (
        "projects/x", "tasks/x", "tasks/x/records", "reports/x", "jobs/x", "reports/x/run",
    ):  # fmt: skip
        found = client.get(f"{API}/{path}")
        assert found.status_code == 404 and "There is no" in found.json()["detail"], path
        assert found.json()["title"] == "Not found"
    assert client.get("/nothing").status_code == 404
    assert client.put(f"{API}/projects").status_code == 405


@pytest.mark.parametrize(
    ("name", "problem"),
    [("  ", "empty"), ("a\nb", "one line"), ("x" * 301, "not 301"), ("\0", "one line")],
)
def test_a_name_is_one_line_and_not_empty_wherever_it_stands(client, store, name, problem) -> None:
    task = made_task(client)
    client.post(f"{API}/tasks/{task}/records", json={"records": [record(1)]})
    [project] = [one["id"] for one in client.get(f"{API}/projects").json()]
    report = {"name": name, "from_timestamp": 0, "to_timestamp": 9e3}
    models = [{"task_id": task, "name": name, "version": "1"}]
    models.append({**models[0], "name": "1", "version": name})
    for path, body in [
        ("projects", {"name": name}), (f"projects/{project}/tasks", {"name": name}),
        (f"tasks/{task}/reports", report),
    ]:  # fmt: skip
        found = client.post(f"{API}/{path}", json=body)
        assert found.status_code == 422 and problem in found.json()["detail"], path
        assert found.json()["field"] == "name"
    assert client.post("/sdk/v1/project", json={"name": name}).status_code == 400
    for model in models:
        assert client.post("/sdk/v1/model", json=model).status_code == 400
    with pytest.raises(InputError, match=problem):
        create_token(store, name, "read")
    made = client.post(f"{API}/projects", json={"name": f" {'y' * 200} ", "description": "d"})
    assert (made.json()["name"], made.json()["description"]) == ("y" * 200, "d")


def test_options_that_are_not_named_stay_as_they_are(client: TestClient) -> None:
    task = made_task(client, keep_days=30, separator="||")
    address = f"{API}/tasks/{task}/options"
    changed = client.put(address, json={"default_answer": "n/a"}).json()["options"]
    assert (changed["keep_days"], changed["separator"]) == (30, "||")
    assert changed["default_answer"] == "n/a"
    refused = client.put(address, json={"single_chunk": True})
    assert refused.status_code == 422 and "separator" in refused.json()["detail"]
    changed = client.put(address, json={"single_chunk": True, "separator": None}).json()["options"]
    assert (changed["keep_days"], changed["separator"], changed["single_chunk"]) == (30, None, True)
    assert client.put(address, json={"keep_days": None}).json()["options"]["keep_days"] is None
    for wrong in ({"judge": ["nobody"]}, {"keep_days": 0}, {"keepdays": 3}):
        assert client.put(address, json=wrong).status_code == 422, wrong
    [project] = [one["id"] for one in client.get(f"{API}/projects").json()]
    body = {"name": "u", "options": {"judge": ["nobody"]}}
    assert client.post(f"{API}/projects/{project}/tasks", json=body).status_code == 422


@pytest.mark.parametrize(("content", "kind", "status", "said"), [
    (b"[" * 100_000 + b"]" * 100_000, "application/json", 400, "nested too deeply"),
    (b"\xff{", "application/json", 400, "UTF-8"),
    (b"{bad", "application/json", 422, "at character 2."),
    (b"{}", "text/plain", 422, "Content-Type: application/json"),
    (b"", "application/json", 422, "The body is missing"),
    (b'{"name": "p", "description": "a\\u0000b"}', "application/json", 422, "NUL"),
    (b'{"name": "p", "description": "%s"}' % (b"x" * 10_001), "application/json", 422, "10000"),
])  # fmt: skip
def test_a_body_that_cannot_be_read_is_said_in_words(client, content, kind, status, said) -> None:
    headers = {"Content-Type": kind}
    found = client.post(f"{API}/projects", content=content, headers=headers)
    assert found.status_code == status and said in found.json()["detail"]
    assert "items" not in found.json()["detail"] and "b'" not in found.json()["detail"]
    if status == 400:
        wire = client.post("/sdk/v1/project", content=content, headers=headers)
        assert wire.status_code == 400 and said in wire.json()["errorMessage"]


def test_without_tokens_only_this_machine_is_served(store: Store) -> None:
    for place, status in (("10.0.0.9", 401), ("127.0.0.9", 200)):
        assert asking(store, place).get(f"{API}/projects").status_code == status
    everything = {"name": None, "scope": "write", "project_id": None, "expires": None}
    assert asking(store).get(f"{API}/whoami").json() == everything
    with pytest.raises(UsageError, match="Make a token first"):
        create_app(store, ServiceOptions(address="0.0.0.0"))
    with pytest.raises(UsageError, match="Make a token first"):
        create_app(store, ServiceOptions(hosts=("rag.example.org",)))


def test_a_token_is_asked_for_and_comes_as_bearer_or_key(store: Store) -> None:
    _, writer = create_token(store, "w", "write")
    _, over = create_token(store, "r", "write", expires=1.0)
    asked = local(store).get(f"{API}/projects")
    assert asked.status_code == 401 and "Bearer" in asked.headers["www-authenticate"]
    bearers = [{"authorization": f"{kind} {writer}"} for kind in ("Bearer", "bearer")]
    for headers in (*bearers, {"x-api-key": writer}):
        assert local(store, **headers).get(f"{API}/projects").status_code == 200
    project = create_project(store, "p").id
    _, reader = create_token(store, "r", "read", project, expires=9e9)
    asked = local(store, authorization=f"Bearer {reader}").get(f"{API}/whoami")
    assert asked.json() == {"name": "r", "scope": "read", "project_id": project, "expires": 9e9}
    named = asking(store, hosts=("Rag.example.org",))
    assert named.get("/health", headers={"host": "rag.example.org"}).status_code == 200
    late = local(store, authorization=f"Bearer {over}").get(f"{API}/projects")
    assert late.status_code == 401 and "has expired" in late.json()["detail"]


@pytest.mark.parametrize(("headers", "status"), [
    ({"host": "evil.example"}, 403), ({"host": "localhost.evil.example"}, 403),
    ({"host": "localhost:9999"}, 201), ({"host": "[::1]:8000"}, 201),
    ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403),
    ({"origin": "http://localhost"}, 201), ({"origin": "http://localhost:8000"}, 403),
    ({"origin": "http://localhost:8000", "host": "localhost:8000"}, 201),
    ({"origin": "https://localhost", "host": "localhost:443"}, 201),
])  # fmt: skip
def test_a_page_of_another_site_does_not_reach_a_local_server(store, headers, status) -> None:
    found = local(store).post(f"{API}/projects", json={"name": "p"}, headers=headers)
    assert found.status_code == status, found.text
    gone = local(store).delete(f"{API}/projects/none", headers=headers)
    assert gone.status_code == (404 if status == 201 else 403)
    if "evil" in headers.get("host", ""):
        assert "'ragassay serve --name NAME'" in found.json()["detail"]


def test_a_request_that_is_too_large_is_refused_also_where_it_does_not_say_so(store: Store) -> None:
    client = asking(store, most_bytes=10_000)
    assert client.post(f"{API}/projects", content=b"x" * 20_000).status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 1_000

    assert client.post(f"{API}/projects", content=pieces()).status_code == 413
    task = create_task(store, create_project(store, "p").id, "t", TaskOptions())
    address = f"{API}/tasks/{task.id}/uploads?file_name=a.csv"
    assert client.post(address, content=pieces()).status_code == 413
    with store.reading() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM uploads").scalar_one()
    assert kept == 0  # not the part that was let in


def test_every_answer_has_the_headers_that_browsers_obey(client: TestClient) -> None:
    for path in ("/nothing", f"{API}/projects"):
        headers = client.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin" and headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


DISK = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES]


@pytest.mark.parametrize(("cause", "status"), [
    (ZeroDivisionError("secret"), 500), (OSError(errno.EIO, "", "secret"), 500),
    *((OSError(code, "full", "secret"), 503) for code in DISK),
])  # fmt: skip
@pytest.mark.parametrize("told", [False, True])
def test_a_defect_is_a_problem_that_tells_nothing(store, monkeypatch, cause, status, told) -> None:
    def broken(store: Store) -> None:
        error = UsageError("secret")
        error.__cause__ = cause
        raise error if told else cause

    monkeypatch.setattr("ragassay.service.store.projects.list_projects", broken)
    found = local(store).get(f"{API}/projects")
    assert found.status_code == (422 if told and status == 500 else status)
    assert ("secret" in found.text) == (found.status_code == 422)


@pytest.mark.parametrize("place", ["jobs?project_id=a%00b", "tasks/a%00b", "reports/%00"])
def test_an_address_with_a_character_that_no_text_has_is_refused(client: TestClient, place) -> None:
    found = client.get(f"{API}/{place}")
    assert found.status_code == 422 and "%00" in found.json()["detail"]


@pytest.mark.parametrize(
    ("address", "examples"),
    [("sqlite", 3), pytest.param("postgresql", 20, marks=pytest.mark.heavy)], indirect=["address"],
)  # fmt: skip
def test_no_request_of_a_fuzzer_is_answered_with_500_or_undocumented(address, examples) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    store = Store(address)
    made_task(local(store))
    _, token = create_token(store, "fuzzer", "write")
    headers = {"Host": "localhost", "Authorization": f"Bearer {token}"}
    app = create_app(store)
    schema = schemathesis.openapi.from_asgi(f"{API}/openapi.json", app, headers=headers)
    n = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        n += 1

        @settings(
            max_examples=examples, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def probe(case: Any) -> None:
            answer = case.call(headers=headers)
            # A schema cannot say all that makes sense: two times in order, suites that there are.
            case.validate_response(answer, excluded_checks=[positive_data_acceptance])
            assert answer.status_code < 500

        probe()
    assert n > 20
