"""A started server with pages, and what its tests put into it."""

import socket
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from ragassay.base.sample import Sample
from ragassay.service.application import ServiceOptions, create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_project, create_task
from ragassay.service.store.records import add_records
from ragassay.service.store.reports import create_report, get_report
from ragassay.service.worker.worker import WorkerOptions


class Served:
    """A server on a port of its own, with a worker that lives with it."""

    def __init__(self, folder: Path) -> None:
        self.store, self.folder = Store(str(folder / "store")), folder
        options = WorkerOptions(folder / "work", poll=0.1)
        app = create_app(self.store, ServiceOptions(worker=options, views=folder / "views"))
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        while not self._server.started:
            time.sleep(0.02)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self.store.close()


def report_of(served: Served, samples: list[Sample], **options: Any) -> str:
    """The id of a finished report over samples, in a task of its own."""
    project = create_project(served.store, f"p{time.time_ns()}")
    task = create_task(served.store, project.id, "task", TaskOptions())
    add_records(served.store, task.id, samples, received=10.0)
    report, _ = create_report(served.store, task.id, "report", 0.0, 20.0, options)
    while not (now := get_report(served.store, report.id)).is_there:
        assert now.error is None
        time.sleep(0.05)
    return report.id
