"""Connections of clients that send half a request, at a real server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'service'")

import uvicorn

from ragassay.cli.serving.serve_commands import listening
from ragassay.service import create_app, http_protocol
from ragassay.service.api import request_bodies
from ragassay.service.store import Store

WAIT_S = 1.0


@pytest.fixture
def place(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """The address of a service that waits for nobody long."""
    monkeypatch.setattr(http_protocol, "LOOK_S", WAIT_S)
    monkeypatch.setattr(request_bodies, "WAIT_S", WAIT_S)
    opened = listening("127.0.0.1", 0)
    config = uvicorn.Config(
        create_app(store), log_level="error", http=http_protocol.TimedProtocol, lifespan="off"
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
    monkeypatch.setattr(request_bodies, "WAIT_S", 3.0)
    body = b'{"name": "p"}'
    head = HEAD.replace(b"20", b"%d" % len(body)) + b"Content-Type: application/json\r\n\r\n"
    with socket.create_connection(place) as client:
        client.settimeout(60)
        client.sendall(head)
        for at in range(0, len(body), 5):  # longer than the limit, and no pause as long
            time.sleep(1.1)
            client.sendall(body[at : at + 5])
        assert client.recv(12) == b"HTTP/1.1 201"
