"""What a client does to the memory of the service that may not use it, or that sends too much.

``python -m benchmarks.attacks [--quick]`` starts a server of its own with a token and prints, for
each attack, what was answered, the seconds and the largest memory of the server until then:

- four bodies of 250 MB at once of ``[{},{},...]`` without a token (of 25 MB when quick), announced
  with their length, and without it;
- 300 connections that send half a body, which are closed in time;
- 57 MB of the same with a token;
- bodies that are just let in, full of values.

Fails where one that is not let in takes it above `MOST_MIB`.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.service import Memory, served

MOST_MIB = 250
PATH = "/api/v1/projects"
PIECE = b"{}," * 20_000


def sent(
    url: str, size: int, headers: Mapping[str, str], *, length: bool = True, piece: bytes = PIECE
) -> int | str:
    """The status of a body of about this size, as soon as there is one.

    Args:
        url: of the server.
        size: bytes.
        headers: of the request.
        length: whether its length is announced.
        piece: of which it consists.
    """
    n = size // len(piece)
    whole = {"Content-Type": "application/json", **headers}
    if length:
        whole["Content-Length"] = str(n * len(piece) + 4)

    def body() -> Iterator[bytes]:
        yield b"["
        yield from [piece] * n
        yield b"{}]"

    connection = HTTPConnection(url.removeprefix("http://"), timeout=120)
    with closing(connection):
        with suppress(OSError):  # the server has answered and left
            connection.request("POST", PATH, body(), whole, encode_chunked=not length)
        try:
            return connection.getresponse().status
        except OSError as error:
            return type(error).__name__


def half_sent(url: str, n: int) -> str:
    """How many of so many connections with half a body the server closes within a minute."""
    host, _, port = url.removeprefix("http://").partition(":")
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n[".encode()
    opened = [socket.create_connection((host, int(port))) for _ in range(n)]
    for one in opened:
        one.sendall(head)
        one.settimeout(90)
    n_closed = 0
    for one in opened:
        try:
            while one.recv(10_000):
                pass
            n_closed += 1
        except TimeoutError:
            pass
        one.close()
    return f"{n_closed} of {n} closed"


def main() -> int:
    """Prints the attacks; 1 where the memory grew too large."""
    quick = "--quick" in sys.argv
    large = (25 if quick else 250) * 1024**2
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "store")
        command = [sys.executable, "-m", "ragassay", "token", "create", "t", "--store", place]
        made = subprocess.run(command, check=True, capture_output=True, text=True)
        known = {"Authorization": f"Bearer {made.stdout.strip()}"}
        with served([place]) as (url, process):
            memory = Memory(process)

            def four(headers: Mapping[str, str], *, length: bool) -> str:
                with ThreadPoolExecutor(4) as pool:
                    asked = [
                        pool.submit(sent, url, large, headers, length=length) for _ in range(4)
                    ]
                    return ", ".join(str(one.result()) for one in asked)

            full = b'{"name":"%s"},' % (b"x" * 130)
            attacks: dict[str, Callable[[], object]] = {
                "four large bodies, no token": lambda: four({}, length=True),
                "the same, length not said": lambda: four({}, length=False),
                "300 half-sent bodies": lambda: half_sent(url, 30 if quick else 300),
                "57 MB with a token": lambda: sent(url, 57 * 1024**2, known),
                "57 MB, length not said": lambda: sent(url, 57 * 1024**2, known, length=False),
                "0.7 MB of 470,000 values": lambda: sent(url, 700_000, known),
                "31 MB of 430,000 values": lambda: sent(url, 31 * 10**6, known, piece=full),
            }
            peaks = []
            for name, attack in attacks.items():
                began = time.perf_counter()
                answer = attack()
                seconds = time.perf_counter() - began
                peaks.append(memory.server)
                print(f"{name:<30} {answer!s:<24} {seconds:6.1f} s  {memory.server:5.0f} MiB")
            memory.close()
    # The last two are let in.
    return max(peaks[:-2]) > MOST_MIB


if __name__ == "__main__":
    sys.exit(main())
