"""``ragassay ask`` at full pace: 64 requests in flight against a server that takes 50 ms.

``python -m benchmarks.ask [--quick]``. The server runs in a process of its own and does next to
nothing for a request. The ideal is what the server's time alone allows: requests / 64 * 50 ms. Bare
aiohttp, which sends the same requests and reads the replies, is the floor of any client by it; the
two are measured in turns, so that other work on the machine hits both alike. The numbers are the
whole way of an answer: request, reply, its mapping, commit to the ledger with full sync, sample,
file. What a command takes to start (modules, certificates) is told apart: by a command
of one query.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import aiohttp

from ragassay.base.sample import Sample
from ragassay.targets.ask_run import ask

IN_FLIGHT = 64
LATENCY_S = 0.05
PAIRS = 5
MAPPING = """\
url: {url}
body: {{question: "{{{{query}}}}"}}
answer: answer
passages: passages
"""
BODY = json.dumps(
    {"answer": "It is 330 metres tall.", "passages": [{"id": "d1", "text": "word " * 60}] * 5}
).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


def main() -> None:
    """Prints ratios to the ideal and to bare aiohttp, CPU an answer, and the same command again."""
    if "--serve" in sys.argv:
        asyncio.run(serve())
        return
    n = 1024 if "--quick" in sys.argv else 6400
    command = [sys.executable, "-m", "benchmarks.ask", "--serve"]
    queries = [Sample(id=f"q{at}", query=f"How tall is number {at}?") for at in range(n)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            alone = command_of_one(url)
            pairs = [pair(queries, url) for _ in range(PAIRS)]
        finally:
            server.kill()
    ideal = n * LATENCY_S / IN_FLIGHT
    print(
        f"{n} queries, {IN_FLIGHT} in flight, {LATENCY_S * 1000:.0f} ms each: {ideal:.2f} s at "
        f"best. {PAIRS} pairs; the least of each, because other work on the machine can only add\n"
    )
    print(f"{'':<14} {'wall s':>8} {'of ideal':>9} {'answers/s':>10} {'CPU ms/answer':>14}")
    names = ("bare aiohttp", "ask", "the same again")
    for at, name in enumerate(names):
        wall, cpu = (min(one[at][part] for one in pairs) for part in (0, 1))
        of_ideal = f"{wall / ideal:.2f}x" if at < 2 else "-"
        print(f"{name:<14} {wall:>8.2f} {of_ideal:>9} {n / wall:>10.0f} {cpu / n * 1000:>14.2f}")
    walls, cpus = ([one[1][part] / one[0][part] for one in pairs] for part in (0, 1))
    print(
        f"\nask to bare aiohttp, median of the pairs: wall {median(walls):.2f}x, "
        f"CPU {median(cpus):.2f}x\n`ragassay ask` of one query, as a command: {alone[0]:.2f} s, "
        f"{alone[1]:.2f} s of CPU"
    )


Times = tuple[float, float]
"""Seconds, and seconds of CPU of this process, all its threads included."""


def pair(queries: list[Sample], url: str) -> tuple[Times, Times, Times]:
    """What bare aiohttp takes, then asking, then asking the same again."""
    with tempfile.TemporaryDirectory() as folder:
        bare = measured(lambda: asyncio.run(by_aiohttp(queries, url)))
        first = measured(lambda: asked(queries, url, Path(folder)))
        return bare, first, measured(lambda: asked(queries, url, Path(folder)))


def command_of_one(url: str) -> Times:
    """What the command takes for a single query: nearly all of it is its start."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "queries.jsonl").write_text('{"id": "q", "query": "How tall is it?"}\n')
        (Path(folder) / "system.yaml").write_text(MAPPING.format(url=url))
        words = [sys.executable, "-m", "ragassay", "ask", "queries.jsonl", "-t", "system.yaml"]
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.perf_counter() - begun, busy


def measured(work: Callable[[], None]) -> Times:
    """What it takes."""
    begun, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begun, time.process_time() - busy


def asked(queries: list[Sample], url: str, folder: Path) -> None:
    """Asks, with a ledger and a file in the folder."""
    mapping = folder / "system.yaml"
    mapping.write_text(MAPPING.format(url=url))
    answers = ask(
        queries, mapping, concurrency=IN_FLIGHT, ledger=folder / "ledger.sqlite",
        output=folder / "answers.jsonl",
    )  # fmt: skip
    assert answers.complete, answers.summaries


async def by_aiohttp(queries: list[Sample], url: str) -> None:
    """Sends the same requests, and parses the replies."""
    waiting = iter(queries)

    async def work() -> None:
        for one in waiting:
            async with session.post(url, json={"question": one.query}) as response:
                assert await response.json()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


class Answering(asyncio.Protocol):
    """A connection of the server: answers each request after the latency."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps where to write to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._came = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answers the requests that are complete."""
        self._came += data
        while True:
            head, found, rest = self._came.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r", 1)[0] or 0)
            if not found or len(rest) < length:
                return
            self._came = rest[length:]
            asyncio.get_running_loop().call_later(LATENCY_S, self._transport.write, REPLY)


async def serve() -> None:
    """Serves on a free port, and prints the address."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=256)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}/ask\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    main()
