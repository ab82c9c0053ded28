"""Connections of clients that send half a request, at a real server."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from ragassay.cli.serve_commands import listening
from ragassay.service.api import request_bodies
from ragassay.service.application import create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_project, create_task
from ragassay.service.store.tokens import create_token

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


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"POST /api/v1/pro", b""),
        (HEAD, b""),
        (HEAD + b"\r\n{", b"HTTP/1.1 408"),
        (b"GET /api/v1/projects HTTP/1.1\r\nHost: localhost\r\n\r\nGET /", b"HTTP/1.1 200"),
    ],
)
def test_a_connection_that_sends_half_a_request_is_closed(
    place: tuple[str, int], sent: bytes, answer: bytes
) -> None:
    with socket.create_connection(place) as client:
        client.sendall(sent)
        client.settimeout(60)
        got = b""
        while piece := client.recv(10_000):
            got += piece
    assert got.startswith(answer) and bool(got) == bool(answer)


def test_a_request_that_comes_slowly_but_comes_is_answered(
    place: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        ("/api/v1/projects", 4_000_000_000, b"401"),
        ("/api/v1/tasks/none/uploads?file_name=a.csv", 100_000_000, b"401"),
        ("/nothing", 4_000, b"404"),
    ],
)
def test_an_answer_before_the_end_of_the_body_closes_the_connection(
    place: tuple[str, int], store: Store, path: str, length: int, status: bytes
) -> None:
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
def test_a_body_has_an_end_in_time_however_it_trickles(
    place: tuple[str, int], store: Store, monkeypatch: pytest.MonkeyPatch, with_token: bool
) -> None:
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


def test_a_file_may_take_longer_than_any_other_body(
    place: tuple[str, int], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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
