"""The service under load: logging, paging, searching, reports, memory.

``python -m benchmarks.service [--quick] [--records N] [--store ADDRESS]`` starts a server of its
own over an empty store and prints

- how many records a second one client logs in batches of 500;
- the latency of the first and the thousandth page, and of a search, over all records stored;
- 50 clients that log for a minute while two reports run: errors, records that were lost or doubled,
  records a second, p50 and p95 of a batch;
- the first page, a sorted page and a search of a report's samples (p95);
- the largest memory of the server and of the processes that compute its reports.

1,000,000 records and a report over 100,000 of them; a hundredth of both when quick.
"""

from __future__ import annotations

import argparse
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

WORDS = [f"{a}{b}" for a in "bcdfglmnprstv" for b in ("ad", "elo", "ira", "on", "ulet", "ys")]
BATCH = 500
CLIENTS = 50


def record(number: int, moment: float) -> dict[str, Any]:
    """A record of about 1,000 characters."""
    draw = random.Random(number)
    chunks = [" ".join(draw.choices(WORDS, k=40)) for _ in range(3)]
    return {
        "id": f"r{number}",
        "timestamp": moment,
        "user_input": " ".join(draw.choices(WORDS, k=9)) + "?",
        "retrieved_context": chunks,
        "response": chunks[0][:120],
        "metadata": {"part": f"p{number % 5}"},
    }


@contextmanager
def served(store: list[str]) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ragassay", "serve", *store, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                if httpx2.get(f"{url}/api/v1/health").status_code == 200:
                    break
            except httpx2.HTTPError:
                time.sleep(0.1)
        yield url, server.pid
    finally:
        server.terminate()
        server.wait()


class Memory:
    """Watches the resident memory of a process and of those below it."""

    def __init__(self, process: int) -> None:
        self.server = self.below = 0.0
        self._process, self._ended = process, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def close(self) -> None:
        """Ends the watch."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self.server = max(self.server, _mib(self._process))
            listed = subprocess.run(
                ["pgrep", "-P", str(self._process)], capture_output=True, text=True, check=False
            )
            self.below = max(self.below, sum(_mib(int(one)) for one in listed.stdout.split()))


def _mib(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * 4096 / 2**20


def timed(repeats: int, act: Callable[[], Any]) -> tuple[float, float]:
    """Median and 95th percentile of the seconds that something takes."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - began)
    return float(np.quantile(seconds, 0.5)), float(np.quantile(seconds, 0.95))


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--records", type=int, help="stored; a report is over a tenth of them")
    parser.add_argument("--store", help="a PostgreSQL database; SQLite where left out")
    given = parser.parse_args()
    n = given.records or (10_000 if given.quick else 1_000_000)
    of_report, minute = n // 10, 10.0 if given.quick else 60.0
    with tempfile.TemporaryDirectory() as folder:
        place = ["--store", given.store] if given.store else [folder]
        with served(place) as (url, process):
            memory = Memory(process)
            client = httpx2.Client(base_url=f"{url}/api/v1", timeout=600.0)
            try:
                measure(client, url, n, of_report, minute)
            finally:
                memory.close()
            print(
                f"memory: server {memory.server:.0f} MiB, report processes {memory.below:.0f} MiB"
            )


def measure(client: httpx2.Client, url: str, n: int, of_report: int, minute: float) -> None:
    """Logs, reads, reports."""
    project = ok(client.post("/projects", json={"name": f"load {time.time():.0f}"}))["id"]
    task = ok(client.post(f"/projects/{project}/tasks", json={"name": "a"}))["id"]
    batches = [
        [record(at, float(at)) for at in range(k, k + BATCH)] for k in range(0, 10_000, BATCH)
    ]
    began = time.perf_counter()
    for first in range(0, n, BATCH):
        batch = [
            {**one, "id": f"r{first + at}", "timestamp": float(first + at)}
            for at, one in enumerate(batches[first // BATCH % len(batches)])
        ]
        ok(client.post(f"/tasks/{task}/records", json={"records": batch}))
    seconds = time.perf_counter() - began
    print(f"logging: {n:,} records in batches of {BATCH}: {n / seconds:,.0f} records/s")

    pages = f"/tasks/{task}/records"
    first_page = timed(20, lambda: ok(client.get(pages)))
    cursor = None
    for _ in range(min(999, n // 50 - 1)):
        cursor = ok(client.get(pages, params={"cursor": cursor} if cursor else {}))["next"]
    late = timed(20, lambda: ok(client.get(pages, params={"cursor": cursor})))
    told("page 1", first_page)
    told(f"page {min(1000, n // 50):,}", late)
    told("search for a word", timed(10, lambda: ok(client.get(pages, params={"text": "belo"}))))
    rare = f"r{n // 3}"
    told("search for one record", timed(5, lambda: ok(client.get(pages, params={"text": rare}))))

    job = report(client, task, "large", of_report)
    wait(client, job["job"]["id"])
    key = job["report"]["id"]
    rows = f"{url}/reports/{key}/samples"
    page = httpx2.Client(timeout=600.0, headers={"accept": "application/json"})
    began = time.perf_counter()
    ok(page.get(rows))
    print(f"a report over {of_report:,} records, opened: {time.perf_counter() - began:.1f} s")
    told("its page", timed(20, lambda: page.get(f"{url}/reports/{key}")))
    told("its first rows", timed(30, lambda: ok(page.get(rows))))
    told("sorted", timed(30, lambda: ok(page.get(rows, params={"sort": "m0", "down": "true"}))))
    told("searched", timed(30, lambda: ok(page.get(rows, params={"text": "belo ys"}))))

    second = ok(client.post(f"/projects/{project}/tasks", json={"name": "b"}))["id"]
    jobs = [report(client, task, name, of_report)["job"]["id"] for name in ("c", "d")]
    lots: list[float] = []
    sent: list[str] = []
    errors: list[str] = []

    def log(number: int) -> None:
        mine = httpx2.Client(base_url=f"{url}/api/v1", timeout=60.0)
        end, at = time.perf_counter() + minute, 0
        while time.perf_counter() < end:
            batch = [
                {**one, "id": f"{number}-{at + k}"}
                for k, one in enumerate(batches[at // BATCH % 20])
            ]
            began = time.perf_counter()
            reply = mine.post(f"/tasks/{second}/records", json={"records": batch})
            lots.append(time.perf_counter() - began)
            if reply.status_code == 200:
                sent.extend(one["id"] for one in batch)
            else:
                errors.append(reply.text[:200])
            at += BATCH

    threads = [threading.Thread(target=log, args=(number,)) for number in range(CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    stored, cursor = set[str](), None
    while True:
        body = ok(
            client.get(
                f"/tasks/{second}/records",
                params={"limit": 500} | ({"cursor": cursor} if cursor else {}),
            )
        )
        stored.update(one["id"] for one in body["items"])
        cursor = body["next"]
        if cursor is None:
            break
    p50, p95 = np.quantile(lots, [0.5, 0.95])
    print(
        f"{CLIENTS} clients for {minute:.0f} s beside two reports: "
        f"{len(sent) / seconds:,.0f} records/s, batch p50 {p50:.2f} s, p95 {p95:.2f} s, "
        f"{len(errors)} errors, {len(set(sent) - stored)} lost, "
        f"{len(stored) - len(set(sent))} too many"
    )
    for one in errors[:3]:
        print(f"  {one}")
    for job_id in jobs:
        wait(client, job_id)


def report(client: httpx2.Client, task: str, name: str, n: int) -> Any:
    """Asks for a report over the first records."""
    body = {
        "name": name,
        "from_timestamp": 0,
        "to_timestamp": n - 1,
        "options": {"suite": ["ragreport"]},
    }
    return ok(client.post(f"/tasks/{task}/reports", json=body))


def wait(client: httpx2.Client, job: str) -> None:
    """Waits for the end of a job."""
    ended = ("completed", "incomplete", "error")
    while (found := ok(client.get(f"/jobs/{job}")))["status"] not in ended:
        time.sleep(0.5)
    if found["status"] == "error":
        sys.exit(found["error"])


def told(what: str, seconds: tuple[float, float]) -> None:
    """Prints a latency."""
    print(f"{what}: p50 {1000 * seconds[0]:.0f} ms, p95 {1000 * seconds[1]:.0f} ms", flush=True)


def ok(reply: httpx2.Response) -> Any:
    """The body of a reply that is no error."""
    if reply.status_code >= 400:
        sys.exit(f"{reply.request.url}: {reply.text[:300]}")
    return reply.json()


if __name__ == "__main__":
    main()
