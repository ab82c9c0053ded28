"""ML cube's wire: its published client works unchanged against us."""

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient

from ragassay.service.store.database import Store
from ragassay.service.store.records import read_page
from ragassay.service.store.reports import add_report
from ragassay.service.store.uploads import get_upload
from service_process import serving
from stored_records import asking

DRIVER = Path(__file__).resolve().parents[2] / "support" / "published_mlcube_client.py"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the published client, and nothing of ours."""
    if sys.version_info >= (3, 13):
        pytest.skip("the published client needs Python 3.11 or 3.12")
    folder = tmp_path_factory.mktemp("published")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    words = [str(python), "-m", "pip", "install", "-q", "ml3-platform-sdk==1.0.0"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("the package index cannot be reached")
    return python


@pytest.mark.heavy  # an installation; the tests below send what the client sends
def test_the_published_client_lives_its_whole_life(published: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        done = subprocess.run(
            [str(published), str(DRIVER), f"http://127.0.0.1:{service.port}", str(tmp_path)],
            capture_output=True, text=True, check=False,
            env={**os.environ, "MLCUBE_POLLING": "1", "PYTHONPATH": ""},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    names = [found[name] for name in ("projects", "tasks", "models")]
    assert names == [["support"], ["bot"], ["gpt@v1"]]
    assert found["columns"] == ["sample", "when", "question", "chunks"]
    assert found["jobs"] == ["completed", "completed"]
    assert found["reports"] == [["november", "completed"]] and found["from"] == 1000.0
    assert "a task is of type 'rag', not" in found["refused"]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(tmp_path / "out" / "report.xlsx")
    rows = list(book["Records"].iter_rows(values_only=True))
    assert [row[:2] for row in rows[1:]] == [("s0", "gpt@v1"), ("s1", "gpt@v1"), ("s2", "gpt@v1")]
    assert rows[1][3] == "[1] It has 180 ECTS.\n[2] No."


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[tuple[TestClient, Store]]:
    """A client of the wire, and the store behind it."""
    store = Store(tmp_path / "store")
    with asking(store) as client:
        client.headers["X-Api-Key"] = "any"
        yield client, store
    store.close()


def a_task(client: TestClient, **more: Any) -> str:
    project = client.post("/sdk/v1/project", json={"name": "p"}).json()
    body = {"project_id": project, "name": "t", "task_type": "rag", **more}
    return str(client.post("/sdk/v1/task", json=body).json())


def sent(client: TestClient, task: str, content: bytes, file_type: str, **more: str) -> Any:
    query = {
        "task_id": task, "data_structure": "tabular", "storing_data_type": "production",
        "file_name": "x", "file_type": file_type, "is_folder": "false",
        "file_checksum": hashlib.sha256(content).hexdigest(), **more,
    }  # fmt: skip
    place = client.get("/sdk/v1/data/presigned-url", params=query).json()
    assert place["expiration_time"] > datetime.now(UTC).isoformat()
    target = place["presigned_url"]
    answer = client.post(target["url"], data=target["fields"], files={"file": ("x", content)})
    assert answer.status_code == 204, answer.text
    return {"data_structure": "text", "source": {"storing_process_id": place["storing_process_id"]}}


def test_json_and_sessions_and_several_models_become_records(wire) -> None:
    client, store = wire
    told = {"rag_contexts_separator": "<<>>", "llm_default_answer": "None.", "text_language": "it"}
    task = a_task(client, multi_turn=True, **told)
    options = client.get(f"/api/v1/tasks/{task}").json()["options"]
    names = ("separator", "default_answer", "language", "multi_turn")
    assert [options[name] for name in names] == ["<<>>", "None.", "it", True]
    columns = [
        {"name": "k", "role": "id"}, {"name": "t", "role": "time_id"},
        {"name": "q", "role": "input", "subrole": "user_input"},
        {"name": "s", "role": "metadata", "subrole": "session_id"},
        {"name": "n", "role": "metadata", "subrole": "turn_id"},
        {"name": "country", "role": "metadata"}, {"name": "said", "role": "prediction"},
    ]  # fmt: skip
    schema = {"task_id": task, "data_schema": {"columns": columns}}
    assert client.post("/sdk/v1/data-schema", json=schema).json() is None
    assert client.get(f"/sdk/v1/data-schema/{task}").json() == {"columns": columns}
    rows = [{"k": 0, "t": 5.0, "q": "why?", "s": "a", "n": 2, "said": "so"}]
    # By column, as pandas writes it; the second row has no prediction.
    two = {name: {"0": one, "1": one} for name, one in rows[0].items() if name != "t"}
    two |= {"k": {"0": 0, "1": 1}, "t": [5.0, 4.0]}
    inputs = sent(client, task, json.dumps(two).encode(), "json")
    metadata = sent(client, task, b'[{"k": 0.0, "t": 6.0, "q": "?", "country": "IT"}]', "json")
    predictions = []
    for version in ("1", "2"):
        body = {"task_id": task, "name": "m", "version": version}
        model = client.post("/sdk/v1/model", json=body).json()
        answer = [{"k": 0, "t": 5.0, f"m@{version}": f"because {version}"}]
        pl.DataFrame(answer).write_parquet(table := io.BytesIO())
        predictions.append([model, sent(client, task, table.getvalue(), "parquet")])
    body = {"task_id": task, "inputs": inputs, "metadata": metadata, "predictions": predictions}
    job = client.post("/sdk/v1/data/production", json=body)
    project = client.get("/sdk/v1/projects").json()[0]["project_id"]
    for name, key in (("job_id", job.json()), ("task_id", task), ("project_id", project)):
        for value, n in ((key, 1), ("other", 0)):
            told = client.get("/sdk/v1/job", params={name: value}).json()
            shown = [(one["status"], one["job_group"]) for one in told]
            assert shown == [("completed", "data")] * n
    with store.writing() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM uploads").scalar_one() == 0
        add_report(connection, task, "a run folder")  # of no interval
    assert client.get(f"/sdk/v1/task/{task}/rag-evaluation").json() == []
    page, _ = read_page(store, task)
    answers = [(one.system, one.id, one.record.get("answer")) for one in page]
    both = [("m@2", "0", "because 2"), ("m@1", "0", "because 1")]
    assert answers == [*both, ("m@2", "1", None), ("m@1", "1", None)]
    assert page[0].record["metadata"] == {"session_id": "a", "turn_id": 2, "country": "IT"}
    assert (page[0].timestamp, page[0].record["query"]) == (5.0, "why?"), "the inputs count first"
    second = {"project_id": project, "name": "t2", "task_type": "rag"}
    other = client.post("/sdk/v1/task", json=second).json()
    listed = client.get(f"/sdk/v1/tasks/{project}").json()
    assert [one["name"] for one in listed] == ["t", "t2"], "oldest first"
    listed = client.get(f"/sdk/v1/models/{task}").json()
    assert [one["version"] for one in listed] == ["1", "2"]
    own, theirs = (sent(client, key, json.dumps(rows).encode(), "json") for key in (other, task))
    for what, table in (("model", own), ("upload", theirs)):
        foreign = {"task_id": other, "inputs": table, "predictions": [[predictions[0][0], own]]}
        refused = client.post("/sdk/v1/data/production", json=foreign)
        assert refused.status_code == 404 and what in refused.json()["errorMessage"]
    # What was read is not kept, and is not read twice.
    again = client.post("/sdk/v1/data/production", json=body)
    assert again.status_code == 404 and again.json()["errorCode"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "task", {"project_id": "P", "name": "x", "task_type": "regression"}, 400, "'rag'"),
        ("GET", "task/nowhere", None, 404, "There is no task"),
        ("POST", "project", {"name": "p"}, 409, "already a project"),
        ("GET", "kpi/1", None, 404, "ragassay has no /kpi/1"),
        ("POST", "rag-evaluation", {"task_id": "x"}, 422, "report_name"),
        ("POST", "data/production", {"task_id": "T"}, 400, "There are no inputs"),
        ("POST", "data/production", {"task_id": "T", "inputs": {"source": "x"}}, 422, "source"),
        ("POST", "data-schema", {"task_id": "T", "data_schema": {"columns": []}}, 400, "role 'id'"),
        (
            *("POST", "data-schema"),
            {"task_id": "T", "data_schema": {"columns": [{"role": "id"}]}}, *(400, "no name"),
        ),
    ],
)  # fmt: skip
def test_errors_have_the_form_of_the_client(wire, method, path, body, status, message: str) -> None:
    client, _ = wire
    task = a_task(client)
    project = client.get("/sdk/v1/projects").json()[0]["project_id"]
    text = json.dumps(body).replace('"P"', f'"{project}"').replace('"T"', f'"{task}"')
    more: Any = {"content": None if body is None else text}
    more["headers"] = {"Content-Type": "application/json"}
    found = client.request(method, f"/sdk/v1/{path}", **more)
    assert found.status_code == status, found.text
    assert set(found.json()) == {"errorCode", "errorMessage"}
    assert message in found.json()["errorMessage"]


INPUTS = b"id,timestamp,user_input\na,5,why?\n"


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (b"id,m@1\na,so\nb,lost\n", "field 'id': the predictions of m@1 have a row 'b'"),
        (b"id,m@1\na,so\na,lost\n", "two rows 'a'"), (b"id,m@2\na,lost\n", "no column 'm@1'"),
    ],
)  # fmt: skip
def test_predictions_that_would_be_dropped_are_refused(wire, predictions, message) -> None:
    client, store = wire
    task = a_task(client)
    body = {"task_id": task, "name": "m", "version": "1"}
    model = client.post("/sdk/v1/model", json=body).json()
    inputs = sent(client, task, INPUTS, "csv")
    answers = [[model, sent(client, task, predictions, "csv")]]
    body = {"task_id": task, "inputs": inputs, "predictions": answers}
    found = client.post("/sdk/v1/data/production", json=body)
    assert found.status_code == 400 and message in found.json()["errorMessage"]
    assert read_page(store, task)[0] == []


def test_targets_and_metadata_of_no_row_are_refused(wire: tuple[TestClient, Store]) -> None:
    client, store = wire
    task = a_task(client)
    inputs = sent(client, task, INPUTS, "csv")
    table = sent(client, task, b"id,country\nb,IT\n", "csv")
    for name in ("target", "metadata"):
        body = {"task_id": task, "inputs": inputs, name: table}
        assert client.post("/sdk/v1/data/production", json=body).status_code == 400, name
    assert read_page(store, task)[0] == []


def test_a_file_that_cannot_be_read_is_refused(wire: tuple[TestClient, Store]) -> None:
    client, _ = wire
    task = a_task(client)
    for content, kind in ((b"\x00\x01", "parquet"), (b"{", "json"), (b"a,b\n1,2\n", "csv")):
        body = {"task_id": task, "inputs": sent(client, task, content, kind)}
        found = client.post("/sdk/v1/data/production", json=body)
        assert found.status_code == 400, found.text
    query = {"task_id": task, "file_name": "x", "file_type": "exe"}
    assert client.get("/sdk/v1/data/presigned-url", params=query).status_code == 400


def test_a_file_that_came_otherwise_than_announced_is_refused(wire) -> None:
    client, store = wire
    task = a_task(client)
    checksum = hashlib.sha256(b"id,user_input\na,Why?\n").hexdigest()
    query = {"task_id": task, "file_name": "x", "file_type": "csv", "file_checksum": checksum}
    place = client.get("/sdk/v1/data/presigned-url", params=query).json()
    target, key = place["presigned_url"], place["storing_process_id"]
    wrong = client.post(target["url"], data={"secret": "guess"}, files={"file": ("x", b"id\n1\n")})
    assert wrong.status_code == 404
    cut, whole = (b"id,user_input\na,Wh", 400), (b"id,user_input\na,Why?\n", 204)
    for content, status in (cut, whole, cut):
        answer = client.post(target["url"], data=target["fields"], files={"file": ("x", content)})
        assert answer.status_code == status
        assert (get_upload(store, key).size is None) == (status == 400)
        assert status == 204 or "checksum" in answer.json()["errorMessage"]


def test_who_is_not_let_in_reads_it_in_the_same_form(wire: tuple[TestClient, Store]) -> None:
    client, _ = wire
    found = client.get("/sdk/v1/company", headers={"host": "evil.example"})
    assert found.status_code == 403 and found.json()["errorCode"] == "REFUSED"
    assert client.get("/api/v1/projects", headers={"host": "evil.example"}).json()["status"] == 403


@pytest.mark.parametrize(
    ("context", "status", "n_chunks"), [("One.\n\nStill one.", 200, 1), ("a<<sep>>b", 422, 0)]
)
def test_a_context_without_a_separator_is_one_chunk(wire, context, status, n_chunks: int) -> None:
    client, store = wire
    task = a_task(client)
    rows = [{"id": "1", "timestamp": 5.0, "user_input": "why?", "retrieved_context": context}]
    inputs = sent(client, task, json.dumps(rows).encode(), "json")
    body = {"task_id": task, "inputs": inputs, "data_batch_type": "x"}
    answer = client.post("/sdk/v1/data/historical", json=body)
    assert (answer.status_code == 200) == (status == 200), answer.text
    page, _ = read_page(store, task)
    assert len([chunk for one in page for chunk in one.record["passages"]]) == n_chunks
    if not n_chunks:
        assert "separator" in answer.text
