"""What a request's body may hold, and that nothing of it is read for one without a token; what no
table can hold is refused with its field; connections of clients that send half a request."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient
from hypothesis import given, settings, strategies as st

from ragassay.cli.serve_commands import listening
from ragassay.service.api import request_bodies
from ragassay.service.api.request_bodies import BodyWithin, Bounds, of_json
from ragassay.service.application import create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_project, create_task
from ragassay.service.store.tokens import create_token
from ragassay.service.store.uploads import create_upload
from stored_records import asking

API = "/api/v1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def n_values(value: Any) -> int:
    """Its commas and brackets, counted on the value itself."""
    if isinstance(value, dict):
        return 1 + max(len(value) - 1, 0) + sum(map(n_values, value.values()))
    if isinstance(value, list):
        return 1 + max(len(value) - 1, 0) + sum(map(n_values, value))
    return 0


async def received(pieces: list[bytes], bounds: Bounds) -> tuple[BodyWithin, int]:
    """A body that came in pieces, and how many of them were handed on."""
    left = [{"type": "http.request", "body": one, "more_body": True} for one in pieces]
    left[-1]["more_body"] = False

    async def receive() -> dict[str, Any]:
        return left.pop(0)

    body, n = BodyWithin(receive, bounds), 0
    for _ in pieces:
        n += (await body())["type"] == "http.request"
    return body, n


@settings(max_examples=40)
@given(JSON, st.booleans(), st.integers(1, 7))
def test_values_are_counted_in_whatever_pieces_they_come(value: Any, is_ascii: bool, size) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    n = n_values(value)
    body, handed_on = asyncio.run(received(pieces, Bounds(10**6, (413, "large"), n)))
    assert body.refusal is None and handed_on == len(pieces)
    if n:
        body, handed_on = asyncio.run(received(pieces, Bounds(10**6, (413, "large"), n - 1)))
        assert body.refusal is not None and handed_on < len(pieces)


def test_a_body_of_many_values_is_refused_before_it_is_read(store: Store) -> None:
    client = asking(store)
    few, many = b"[" + b"{}," * 10 + b"{}]", b"[" + b"{}," * 500_000 + b"{}]"
    assert client.post(f"{API}/projects", content=few).status_code == 422
    found = client.post(f"{API}/projects", content=many)
    assert found.status_code == 413 and "500,000 values" in found.json()["detail"]
    assert of_json(256 * 1024**2).most_bytes == 32 * 1024**2


@pytest.mark.parametrize("path", [f"{API}/projects", "/login", "/sdk/v1/project", "/nothing"])
def test_without_a_token_no_more_than_a_sign_in_is_read(store: Store, path: str) -> None:
    create_token(store, "t", "write")
    client = asking(store)
    n_read = 0

    def pieces() -> Iterator[bytes]:
        nonlocal n_read
        for _ in range(1_000):
            n_read += 1
            yield b"x" * 1_000

    assert client.post(path, content=b"x" * 5_000).status_code == 401
    assert client.post(path, content=pieces()).status_code in (401, 404)
    assert client.post(path, content=b"{}").status_code != 413


def test_a_file_is_no_json_and_its_place_is_looked_at_first(store: Store) -> None:
    task = create_task(store, create_project(store, "p").id, "t", TaskOptions())
    client = asking(store)
    lines = b"".join(b'{"id": "%d", "query": "q"}\n' % n for n in range(300_000))
    sent = client.post(f"{API}/tasks/{task.id}/uploads?file_name=a.jsonl", content=lines)
    assert sent.status_code == 201 and sent.json()["size"] == len(lines)
    _, token = create_token(store, "t", "write")
    place = create_upload(store, task.id, "a.csv", {"secret": "s"}).id
    form: dict[str, Any] = {"data": {"secret": "s"}, "files": {"file": b"a" * 10_000}}
    assert client.post(f"/sdk/v1/upload/{place}", **form).status_code == 204
    assert client.post("/sdk/v1/upload/none", **form).status_code == 404
    assert client.post(f"/sdk/v1/upload/{place}", data={"secret": "s"}).status_code == 400
    refused = client.post(f"{API}/tasks/{task.id}/uploads?file_name=a.jsonl", content=lines)
    assert refused.status_code == 401
    headers = {"authorization": f"Bearer {token}"}
    address = f"{API}/tasks/{task.id}/uploads?file_name=a.jsonl"
    assert client.post(address, content=lines, headers=headers).status_code == 201


RECORD = {"id": "a", "timestamp": 1.0, "user_input": "q", "response": "r"}


@pytest.fixture
def client(store: Store) -> TestClient:
    return asking(store)


def sent(client: TestClient, path: str, body: Any) -> Any:
    """What is answered to a body with halves of characters in it."""
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(body), headers=headers)


@pytest.fixture
def task(client: TestClient) -> str:
    """A task's id."""
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    made = client.post(f"{API}/projects/{project}/tasks", json={"name": "t"})
    return str(made.json()["id"])


@pytest.mark.both_stores
def test_a_record_is_stored_or_refused_with_its_field(client: TestClient, task: str) -> None:
    texts = ("a\0b", "\ud800", "x" * 100_000, "😀" * 300)
    numbers = (2**63, 2**64, -(2**70), 1e308, 10**400)
    cases: list[dict[str, Any]] = [
        *({field: one} for field in ("id", "system", "user_input", "response") for one in texts),
        *({"metadata": {"part": one}} for one in (*texts, *numbers)),
        *({"metadata": {one: "part"}} for one in texts),
        *({field: one} for field in ("timestamp", "query_run") for one in numbers),
    ]
    for at, more in enumerate(cases):
        record = {**RECORD, "id": f"r{at}", **more}
        found = sent(client, f"{API}/tasks/{task}/records", {"records": [record]})
        assert found.status_code in (200, 201, 422), (str(more)[:80], found.text)
        if found.status_code == 422:
            assert found.json().get("field"), found.text
    page = client.get(f"{API}/tasks/{task}/records", params={"limit": 100})
    assert page.status_code == 200 and '"r5"' in page.text
    most = {"id": "x" * 400, "system": "y" * 400, "metadata": {"n": [-(2**63), 2**63 - 1]}}
    assert sent(client, f"{API}/tasks/{task}/records", {"records": [RECORD | most]}).is_success


@pytest.mark.both_stores
@pytest.mark.parametrize(("more", "field"), [
    ({"id": "x" * 401}, "id"), ({"system": "x" * 401}, "system"), ({"system": "a\0b"}, "system"),
    ({"user_input": "a\0b"}, "user_input"), ({"response": "a\0b"}, "response"),
    ({"retrieved_contexts": ["a", "b\0"]}, "retrieved_contexts"),
    ({"metadata": {"trace": {"id": 2**63}}}, "metadata.trace.id"),
    ({"metadata": {"trace": [-(2**63) - 1]}}, "metadata.trace"),
    ({"metadata": {"a\0b": 1}}, "metadata.ab"),
])  # fmt: skip
def test_what_no_database_keeps_is_refused_with_its_field(client, task, more, field) -> None:
    path = f"{API}/tasks/{task}/records"
    found = sent(client, path, {"records": [RECORD, {**RECORD, "id": "other", **more}]})
    assert [found.status_code, *map(found.json().get, ("field", "line"))] == [422, field, 2]
    assert not client.get(path).json()["items"], "a refused batch stores nothing"


@pytest.mark.both_stores
@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_a_record_that_is_nested_deeply_is_refused(client: TestClient, task: str, depth) -> None:
    record = json.dumps({**RECORD, "metadata": {"part": 0}}).replace(
        "0}", f"{'[' * depth}{']' * depth}}}"
    )
    body, headers = f'{{"records": [{record}]}}', {"content-type": "application/json"}
    found = client.post(f"{API}/tasks/{task}/records", content=body, headers=headers)
    assert found.status_code in (400, 422), found.text


PROJECTS = "/api/v1/projects"
WAIT_S = 0.6


@pytest.fixture
def place(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """The address of a service that waits for nobody long."""
    monkeypatch.setattr(request_bodies, "LOOK_S", WAIT_S)
    monkeypatch.setattr(request_bodies, "WAIT_S", WAIT_S)
    opened = listening("127.0.0.1", 0)
    config = uvicorn.Config(
        create_app(store), log_level="error", http=request_bodies.TimedProtocol, lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    yield opened.getsockname()
    server.should_exit = True
    thread.join()


HEAD = b"POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n"


@pytest.mark.parametrize(("sent", "answer"), [
    (b"", b""), (b"POST /api/v1/pro", b""), (HEAD, b""), (HEAD + b"\r\n{", b"HTTP/1.1 408"),
    (b"GET /api/v1/projects HTTP/1.1\r\nHost: localhost\r\n\r\nGET /", b"HTTP/1.1 200"),
])  # fmt: skip
def test_a_connection_that_sends_half_a_request_is_closed(place, sent, answer) -> None:
    with socket.create_connection(place) as client:
        client.sendall(sent)
        client.settimeout(60)
        got = b""
        while piece := client.recv(10_000):
            got += piece
    assert got.startswith(answer) and bool(got) == bool(answer)


def test_a_request_that_comes_slowly_but_comes_is_answered(place, monkeypatch) -> None:
    monkeypatch.setattr(request_bodies, "WAIT_S", 5.0)
    body = b'{"name": "p"}'
    head = HEAD.replace(b"20", b"%d" % len(body)) + b"Content-Type: application/json\r\n\r\n"
    with socket.create_connection(place) as client:
        client.settimeout(60)
        client.sendall(head)
        for at in range(0, len(body), 5):  # longer than the limit, and no pause as long
            time.sleep(0.7)
            client.sendall(body[at : at + 5])
        assert client.recv(12) == b"HTTP/1.1 201"


@pytest.mark.parametrize(("path", "length", "status"), [
    ("/api/v1/projects", 4_000_000_000, b"401"),
    ("/api/v1/tasks/none/uploads?file_name=a.csv", 100_000_000, b"401"),
    ("/nothing", 4_000, b"404"),
])  # fmt: skip
def test_an_answer_before_the_bodys_end_closes_the_line(place, store, path, length, status) -> None:
    create_token(store, "t", "write")
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    with socket.create_connection(place) as client:
        client.settimeout(60)
        client.sendall(head.encode())
        answer = client.recv(10_000)
        n_sent = 0
        with contextlib.suppress(ConnectionError):
            while n_sent < 200_000_000:
                n_sent += client.send(b"x" * 65_536)
        assert n_sent < 20_000_000  # what sockets hold
    assert answer[9:12] == status and b"connection: close" in answer.lower()


@pytest.mark.parametrize("with_token", [False, True])
def test_a_body_ends_in_time_however_it_trickles(place, store, monkeypatch, with_token) -> None:
    monkeypatch.setattr(request_bodies, "WHOLE_S", WAIT_S)
    _, token = create_token(store, "t", "write")
    words = f"Authorization: Bearer {token}\r\n" if with_token else ""
    head = f"POST {PROJECTS} HTTP/1.1\r\nHost: localhost\r\n{words}Content-Length: 900\r\n\r\n"
    with socket.create_connection(place) as client:
        client.sendall(head.encode())
        client.settimeout(WAIT_S / 4)
        got, give_up = b"", time.monotonic() + 30
        while not got and time.monotonic() < give_up:
            client.sendall(b"{")
            with contextlib.suppress(TimeoutError):
                got = client.recv(1_000)
    assert got.startswith(b"HTTP/1.1 408")


def test_a_file_may_take_longer_than_any_other_body(place, store, monkeypatch) -> None:
    monkeypatch.setattr(request_bodies, "WHOLE_S", 0.1)
    task = create_task(store, create_project(store, "p").id, "t", TaskOptions()).id
    path = f"/api/v1/tasks/{task}/uploads?file_name=a.csv"
    with socket.create_connection(place) as client:
        client.settimeout(60)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n"
        client.sendall(head.encode())
        for _ in range(3):
            time.sleep(WAIT_S / 4)
            client.sendall(b"x")
        assert client.recv(12) == b"HTTP/1.1 201"
