"""The service as a process, and a worker beside it."""

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'service'")

from ragassay.service.store.database import Store
from ragassay.service.worker.worker import Worker, WorkerOptions


def until(condition: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    return found


class Service:
    def __init__(self, folder: Path, *words: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = ["serve", str(folder), "--port", str(self.port), *words]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ragassay", *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder.parent,
        )  # fmt: skip
        until(self.answers)

    def answers(self) -> bool:
        assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
        try:
            self.ask("GET", "projects")
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}"
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read() or b"null")


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Service]:
    service = Service(folder, *words)
    try:
        yield service
    finally:
        service.process.kill()
        service.process.communicate()


@contextmanager
def working(folder: Path, *, lease: float) -> Iterator[None]:
    """A worker of the store in a folder, which takes over what another says nothing about."""
    store = Store(folder)
    worker = Worker(store, WorkerOptions(folder / "work", beat=0.1, lease=lease, poll=0.1))
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join()
        store.close()


def records(n: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "timestamp": float(number),
            "user_input": "How many ECTS has the programme?",
            "retrieved_context": ["The programme has 180 ECTS."],
            "response": "It has 180 ECTS.",
        }
        for number in range(n)
    ]


def with_records(service: Service, n: int) -> str:
    project = service.ask("POST", "projects", {"name": "p"})["id"]
    task = service.ask("POST", f"projects/{project}/tasks", {"name": "t"})["id"]
    assert service.ask("POST", f"tasks/{task}/records", {"records": records(n)})["new"] == n
    return str(task)


def finished(service: Service, report: str) -> Any:
    def look() -> Any:
        found = service.ask("GET", f"reports/{report}")
        assert found["status"] != "error", found["error"]
        return found if found["status"] in ("completed", "incomplete") else None

    return until(look)
