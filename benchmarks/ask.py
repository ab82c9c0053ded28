"""``ragassay ask`` at full pace: 64 requests in flight against a server that takes 50 ms.

``python -m benchmarks.ask [--quick]``. The server runs in a process of its own. The ideal is what
the server's time alone allows: requests / 64 * 50 ms. The numbers are the whole way of an answer:
request, reply, its mapping, commit to the ledger with full sync, sample, file.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ragassay.samples import Sample
from ragassay.targets import ask

IN_FLIGHT = 64
LATENCY_S = 0.05
TRIES = 3
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
    """Prints the ratio to the ideal, and what the same command again takes."""
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
            tries = [once(queries, url) for _ in range(TRIES)]
        finally:
            server.kill()
    (seconds, again, cpu), ideal = min(tries), n * LATENCY_S / IN_FLIGHT
    print(
        f"{n} queries, {IN_FLIGHT} in flight, {LATENCY_S * 1000:.0f} ms each; the best of {TRIES}, "
        "because other work on the machine can only add\n"
    )
    print(
        f"{'ideal s':>8} {'wall s':>8} {'ratio':>7} {'answers/s':>10} {'again s':>8} {'CPU ms':>7}"
    )
    print(
        f"{ideal:>8.2f} {seconds:>8.2f} {seconds / ideal:>6.2f}x {n / seconds:>10.0f} "
        f"{again:>8.2f} {cpu / n * 1000:>7.2f}"
    )


def once(queries: list[Sample], url: str) -> tuple[float, float, float]:
    """Seconds that asking took, that the same again took from the ledger, and CPU of the first."""
    took, cpu = [], []
    with tempfile.TemporaryDirectory() as folder:
        mapping = Path(folder) / "system.yaml"
        mapping.write_text(MAPPING.format(url=url))
        for _ in range(2):
            begun, busy = time.perf_counter(), time.process_time()
            answers = ask(
                queries, mapping, concurrency=IN_FLIGHT, ledger=Path(folder) / "ledger.sqlite",
                output=Path(folder) / "answers.jsonl",
            )  # fmt: skip
            took.append(time.perf_counter() - begun)
            cpu.append(time.process_time() - busy)
            assert answers.complete, answers.summaries
    return took[0], took[1], cpu[0]


async def serve() -> None:
    """Answers each request after the latency, on any connection."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                await reader.readexactly(length)
                await asyncio.sleep(LATENCY_S)
                writer.write(REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=256)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}/ask\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    main()
