"""The tests' own PostgreSQL server does not outlive them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from postgres_server import binaries

_SERVES = """
import sys, time
from postgres_server import PostgresServer, binaries
with PostgresServer(binaries()) as server:
    print(server.port, server._folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_server_ends_with_the_tests_that_started_it(number: int) -> None:
    if binaries() is None:
        pytest.skip("needs PostgreSQL")
    path = os.pathsep.join([str(Path(__file__).parents[2] / "support"), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert process.stdout is not None
    port, folder = process.stdout.readline().split()
    with socket.create_connection(("127.0.0.1", int(port))):
        pass
    process.send_signal(number)
    process.communicate()
    until = time.monotonic() + 60
    while Path(folder).exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(folder).exists()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(port)))
