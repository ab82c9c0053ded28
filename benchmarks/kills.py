"""Kills the service again and again (``kill -9``) while it logs and computes reports.

``python -m benchmarks.kills [--quick] [--postgres]``: a server and two workers share a store
(SQLite, or a PostgreSQL server of its own) and an LLM that answers slowly; twenty times one of
them, or the database, is killed at a random moment and started again (five times when quick). At
the end each record that was acknowledged is there once, each report is the same as one that nobody
disturbed, and what was paid twice is at most what was in flight.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

N_REPORT = 60
"""Records of a report; the judge is asked once for each."""
IN_FLIGHT = 4


class Program:
    """A server or a worker that is started again after it was killed."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self.start()

    def start(self) -> None:
        """Starts it, in a group of its own."""
        # One that cannot start, as the database is away, is started again as under systemd.
        again = ["sh", "-c", 'until "$@"; do sleep 0.2; done', "sh"]
        command = [*again, sys.executable, "-m", "benchmarks.kills", *self._words]
        quiet = None if "-v" in sys.argv else subprocess.DEVNULL
        self.process = subprocess.Popen(command, start_new_session=True, stderr=quiet)

    def kill(self) -> None:
        """Kills it, as a power cut does; what it started goes with it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Database:
    """A PostgreSQL server that is killed like a program, and stays away for a while."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def kill(self) -> None:
        """Ends it at once, with all its connections."""
        self._server.stop()

    def start(self) -> None:
        """Starts it again after a second."""
        time.sleep(1)
        self._server.start()


def run_program(role: str, place: str, folder: str, port: str) -> None:
    """What a program does: serve, or work."""
    from ragassay.service.named_models import NamedModels
    from ragassay.service.store.database import Store
    from ragassay.service.worker.worker import Worker, WorkerOptions

    options = WorkerOptions(Path(folder), beat=0.2, lease=2.0, poll=0.1)
    store = Store(place, NamedModels.parse(["openai:m"]))
    if role == "work":
        Worker(store, options).run()
        return
    import uvicorn

    from ragassay.service.application import ServiceOptions, create_app

    app = create_app(store, ServiceOptions(worker=options))
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error")


class Logger:
    """Logs batches until it is stopped; a batch that is not acknowledged is sent again."""

    def __init__(self, url: str, task: str) -> None:
        self.acknowledged: list[str] = []
        self._url, self._task, self._ended = url, task, threading.Event()
        self._thread = threading.Thread(target=self._log)
        self._thread.start()

    def stop(self) -> None:
        """Ends it after the batch that it is at."""
        self._ended.set()
        self._thread.join()

    def _log(self) -> None:
        number = 0
        while not self._ended.is_set():
            ids = [f"log{number}-{at}" for at in range(20)]
            batch = [{"id": one, "timestamp": 1e9, "user_input": "?"} for one in ids]
            if asked("POST", f"{self._url}/tasks/{self._task}/records", {"records": batch}):
                self.acknowledged += ids
                number += 1


def asked(method: str, url: str, body: Any = None, patience: float = 60.0) -> Any:
    """A reply's body. While the service is away, it is asked again."""
    end = time.monotonic() + patience
    while True:
        try:
            reply = httpx2.request(method, url, json=body, timeout=30.0)
        except httpx2.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
            continue
        if reply.status_code == 503 and time.monotonic() < end:  # the database is away
            time.sleep(0.1)
            continue
        if reply.status_code >= 400:
            sys.exit(f"{url}: {reply.text}")
        return reply.json()


def main() -> int:
    """Kills, and checks; 0 where nothing was lost."""
    if len(sys.argv) == 5 and sys.argv[1] in ("serve", "work"):
        run_program(*sys.argv[1:])
        return 0
    from llm_server import LLMServer  # type: ignore[import-not-found]
    from postgres_server import PostgresServer, binaries  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-v", action="store_true", help="show what the programs say")
    parser.add_argument("--postgres", action="store_true", help="not SQLite")
    given = parser.parse_args()
    n_kills, draw = 5 if given.quick else 20, random.Random(0)
    if given.postgres and binaries() is None:
        sys.exit("PostgreSQL is not installed.")
    with (
        tempfile.TemporaryDirectory() as folder,
        LLMServer(latency=0.2) as llm,
        PostgresServer(binaries()) if given.postgres else nullcontext() as server,
    ):
        os.environ |= {"OPENAI_BASE_URL": llm.url, "OPENAI_API_KEY": "of-a-benchmark"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        place = server.new_database() if server else f"{folder}/store"
        url = f"http://127.0.0.1:{port}/api/v1"
        programs = [Program("serve", place, f"{folder}/work0", port)]
        asked("GET", f"{url}/health")
        programs += [Program("work", place, f"{folder}/work{at}", port) for at in (1, 2)]
        try:
            killable = [*programs, *([Database(server)] if server else [])]
            return killed(url, killable, llm, n_kills, draw)
        finally:
            for program in programs:
                program.kill()


def killed(url: str, programs: list[Any], llm: Any, n_kills: int, draw: random.Random) -> int:
    """Kills programs while they work, and prints what came of it."""
    project = asked("POST", f"{url}/projects", {"name": "kills"})["id"]
    tasks = [
        asked("POST", f"{url}/projects/{project}/tasks", {"name": name})["id"] for name in "ab"
    ]
    records = [
        {"id": f"r{at}", "timestamp": float(at), "user_input": f"q{at}?", "response": f"a {at}"}
        for at in range(N_REPORT * (n_kills // 2 + 1))
    ]
    asked("POST", f"{url}/tasks/{tasks[0]}/records", {"records": records})
    logger = Logger(url, tasks[1])
    jobs = []
    for number in range(n_kills // 2 + 1):
        body = {
            "name": f"report {number}",
            "from_timestamp": number * N_REPORT,
            "to_timestamp": (number + 1) * N_REPORT - 1,
            "options": {"metrics": ["idk_eval"], "judge": ["openai:m"], "concurrency": IN_FLIGHT},
        }
        jobs.append(asked("POST", f"{url}/tasks/{tasks[0]}/reports", body))
    for _ in range(n_kills):
        time.sleep(draw.uniform(0.5, 3.0))
        program = draw.choice(programs)
        program.kill()
        program.start()
    retries = 0
    for job in jobs:
        at = f"{url}/jobs/{job['job']['id']}"
        while (now := asked("GET", at))["status"] != "completed":
            if now["error"]:  # its workers were killed five times
                retries += 1
                asked("POST", f"{at}/retry")
            time.sleep(0.2)
    logger.stop()
    paid_twice = int(llm.stats()["requests"]) - len(records)
    stored: list[str] = []
    cursor = None
    while cursor is not None or not stored:
        query = "limit=500" + (f"&cursor={cursor}" if cursor else "")
        page = asked("GET", f"{url}/tasks/{tasks[1]}/records?{query}")
        stored += [one["id"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    lost = set(logger.acknowledged) - set(stored)
    doubled = len(stored) - len(set(stored))
    differ = sum(changed(url, tasks[0], job["report"]["id"], body) for body, job in enumerate(jobs))
    print(
        f"{n_kills} kills: {len(logger.acknowledged):,} records acknowledged, {len(lost)} lost, "
        f"{doubled} doubled; {len(jobs)} reports of {N_REPORT} calls, {differ} differ from an "
        f"undisturbed one, {retries} tried again by hand; {paid_twice} calls paid twice "
        f"of at most {n_kills * IN_FLIGHT} in flight"
    )
    return int(bool(lost or doubled or differ or paid_twice > n_kills * IN_FLIGHT))


def changed(url: str, task: str, report: str, number: int) -> bool:
    """Whether a report differs from one over the same records that nobody disturbs."""
    body = {
        "name": f"again {number}",
        "from_timestamp": number * N_REPORT,
        "to_timestamp": (number + 1) * N_REPORT - 1,
        "options": {"metrics": ["idk_eval"], "judge": ["openai:m"], "concurrency": IN_FLIGHT},
    }
    again = asked("POST", f"{url}/tasks/{task}/reports", body)
    while asked("GET", f"{url}/jobs/{again['job']['id']}")["status"] != "completed":
        time.sleep(0.2)
    return scores(url, report) != scores(url, again["report"]["id"])


def scores(url: str, report: str) -> bytes:
    """The scores of a report's run folder."""
    content = httpx2.get(f"{url}/reports/{report}/run", timeout=60.0).content
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return archive.read("scores.jsonl")


if __name__ == "__main__":
    sys.exit(main())
