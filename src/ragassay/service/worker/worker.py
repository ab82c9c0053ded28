"""A worker: takes one job after the other, reports that it lives, and stores the results."""

from __future__ import annotations

import io
import json
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ragassay.base.errors import RagassayError, system_problem
from ragassay.base.sample import Sample
from ragassay.client.archives import pack
from ragassay.client.service_shapes import Progress
from ragassay.engine.results.folders.run_folder import SUMMARY
from ragassay.formats.native import write
from ragassay.service.operation.service_log import log_event
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import BEAT_S, CANCELLED, LEASE_S, Job, Queue
from ragassay.service.store.projects import get_task
from ragassay.service.store.records import read_samples, samples_of_task
from ragassay.service.store.reports import get_report, keep_run, run_options, samples_where
from ragassay.service.store.run_archives import detach_run
from ragassay.service.store.store_errors import StoreUnavailable
from ragassay.service.worker.report_process import DISK

POLL_S = 1.0
"""Seconds between two looks into an empty queue."""
GRACE_S = 120.0
"""Seconds that a report process has to end: answers in flight are paid, and it stores them."""
MOST_SAID = 20_000
"""Characters of what a report process wrote to its standard error that the log shows."""
FINAL_KEYS = ("headline", "lacking", "error", "unavailable")
"""The last message of a report process has one of these."""


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works, in seconds: ``beat`` between signs of life, ``lease`` without one after
    which it takes over another worker's job, ``poll`` between looks into an empty queue."""

    folder: Path
    beat: float = BEAT_S
    lease: float = LEASE_S
    poll: float = POLL_S


class Worker:
    """Does jobs until it is stopped. `run` may run in a thread."""

    def __init__(self, store: Store, options: WorkerOptions) -> None:
        self._store, self._options = store, options
        self.name = f"{socket.gethostname()[:30]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._queue = Queue(store, self.name, lease=options.lease)
        self._stopped = threading.Event()

    def run(self, *, until_idle: bool = False) -> None:
        """Does jobs; returns where there is nothing to do, or waits for more."""
        while not self._stopped.is_set():
            job = None
            try:
                job = self._queue.take()
            except RagassayError as error:
                _log(f"The queue cannot be read: {error}")
            if job is not None:
                self.do(job)
            elif until_idle:
                return
            else:
                self._stopped.wait(self._options.poll)

    def stop(self) -> None:
        """Ends `run`: a job that is being done goes back into the queue."""
        self._stopped.set()

    def do(self, job: Job) -> None:
        """Does a job to its end, and says how it ended."""
        begun, outcome, work = time.monotonic(), "failed", None
        try:
            self._options.folder.mkdir(parents=True, exist_ok=True)
            self._clear(job)  # a worker that died may have left something
            made = tempfile.mkdtemp(prefix=f"job-{job.id}-", dir=self._options.folder)
            folder = Path(made).absolute()  # its process works there
            work = _ReportJob(self._store, self._queue, job, folder, self._options)
            done = work.run(self._stopped)
            if done is not None:
                self._persist(lambda: self._keep(job, *done))
                outcome = "completed" if done[2] is None else "incomplete"
            elif self._stopped.is_set():
                outcome = "given back"
                self._persist(lambda: self._queue.give_back(job.id))
            else:
                outcome = "cancelled"
                self._fail(job, CANCELLED)
        except StoreUnavailable as problem:
            # It is no fault of the job's: it begins again when the store is back.
            outcome = "given back"
            _log(f"job {job.id}: {problem}")
            self._stopped.wait(self._options.poll)
            self._persist(lambda: self._queue.give_back(job.id))
        except RagassayError as problem:
            self._fail(job, str(problem))
        except Exception as problem:
            _log(f"job {job.id}: {problem!r}")
            why = f"Internal error: {type(problem).__name__}: {problem}."
            if isinstance(problem, OSError):
                why = DISK.format(system_problem(problem))
            self._fail(job, why)
        finally:
            self._clear(job)
            progress = job.progress if work is None else work.progress
            log_event(
                "job",
                level=logging.ERROR if outcome == "failed" else logging.INFO,
                job=job.id, kind=job.kind, task=job.task_id, report=job.report_id, outcome=outcome,
                seconds=round(time.monotonic() - begun, 3), records=progress.total,
                calls=progress.calls, dollars=progress.cost,
            )  # fmt: skip

    def _clear(self, job: Job) -> None:
        """Deletes what a job needed while it ran."""
        for left in self._options.folder.glob(f"job-{job.id}-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _keep(self, job: Job, archive: bytes, headline: dict[str, Any], lacks: str | None) -> None:
        with self._store.writing() as connection:
            if self._queue.end(connection, job.id, lacks, has_result=True):
                keep_run(connection, str(job.report_id), archive, headline)

    def _fail(self, job: Job, why: str) -> None:
        """Ends a job without a result."""

        def end() -> None:
            with self._store.writing() as connection:
                self._queue.end(connection, job.id, why)

        self._persist(end)

    def _persist(self, act: Callable[[], object]) -> None:
        """Does what must reach the store, again until it succeeds; a stopped worker tries once."""
        while True:
            try:
                act()
                return
            except StoreUnavailable as error:
                _log(str(error))
                if self._stopped.wait(self._options.poll):
                    return


class _ReportJob:
    """One report, computed by a process of its own."""

    def __init__(
        self, store: Store, queue: Queue, job: Job, folder: Path, options: WorkerOptions
    ) -> None:
        self._store, self._queue, self._job = store, queue, job
        self._folder, self._options = folder, options
        self.progress, self._begun = job.progress, time.monotonic()

    def run(self, stopped: threading.Event) -> tuple[bytes, dict[str, Any], str | None] | None:
        """The archive of the run folder, the headline, and what it lacks; ``None``: stop."""
        report = get_report(self._store, str(self._job.report_id))
        task = get_task(self._store, self._job.task_id)
        data, output = self._folder / "data.jsonl", self._folder / "run"
        stored = read_samples(self._store, task.id, report.from_timestamp, report.to_timestamp)
        samples = samples_of_task(stored, task.options)
        chosen = samples_where(samples, report.options)
        n_written, limit = write(self._with_beats(chosen), data), report.options.get("limit")
        self.progress = Progress(total=n_written if limit is None else min(n_written, limit))
        if not self._beat():
            return None
        options = run_options(self._store, task, report.options)
        options |= {"data": str(data), "output": str(output), **self._job.arguments}
        options["ledger"] = self._store.ledger(task.project_id)
        options["named"] = self._store.models.words
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            final = self._supervise(options, stopped, said)
            said.seek(0)
            if text := said.read(MOST_SAID).strip():
                _log(f"job {self._job.id}: {text}")
        if final is None:
            return None
        if "unavailable" in final:
            raise StoreUnavailable(final["unavailable"])
        if "error" in final or not (output / SUMMARY).is_file():
            problem = str(final.get("error") or "The process that computed it died (memory?).")
            # The paths are the server's, and say nothing to a client.
            hidden = {data: "the records", output: "the report", self._folder: "its folder"}
            for path, name in hidden.items():
                problem = problem.replace(str(path), name)
            raise RagassayError(problem)
        data.unlink()
        detach_run(output)
        packed = io.BytesIO()
        pack(output, packed)
        return packed.getvalue(), final["headline"], final["lacking"]

    def _with_beats(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """The samples; between them the worker reports now and then that it lives."""
        last = time.monotonic()
        for sample in samples:
            if time.monotonic() - last > self._options.beat:
                self._queue.beat(self._job.id)
                last = time.monotonic()
            yield sample

    def _supervise(
        self, options: dict[str, Any], stopped: threading.Event, said: IO[str]
    ) -> dict[str, Any] | None:
        """Runs the process; its last message, or ``None`` where it was interrupted."""
        process = subprocess.Popen(
            [sys.executable, "-m", "ragassay.service.worker.report_process"], cwd=self._folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, bufsize=1,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):  # a process that has died by now is found dead below
            process.stdin.write(json.dumps(options) + "\n")
        final: dict[str, Any] = {}
        self._begun = time.monotonic()
        reader = threading.Thread(target=self._listen, args=(process.stdout, final), daemon=True)
        reader.start()
        goes_on = True
        try:
            while goes_on and process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.1 if stopped.is_set() else self._options.beat)
                goes_on = not stopped.is_set() and self._beat()
            if not goes_on:
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE_S)
        finally:
            process.kill()
            process.wait()
        reader.join(10.0)
        if not goes_on:
            return None
        self._beat()
        return final

    def _beat(self) -> bool:
        """Says how far it is, and whether to go on. While the store is away, it goes on: if another
        worker has taken the job over, that shows when the store is back."""
        try:
            return self._queue.beat(self._job.id, self.progress)
        except StoreUnavailable as error:
            _log(f"job {self._job.id} goes on: {error}")
            return True

    def _listen(self, lines: Any, final: dict[str, Any]) -> None:
        """Takes what the process says: how far it is, and its last message."""
        for line in lines:
            with suppress(json.JSONDecodeError):
                message = json.loads(line)
                final |= {name: message[name] for name in FINAL_KEYS if name in message}
                if "log" in message:
                    _log(f"job {self._job.id}: {message['log']}")
                if "done" in message:
                    facts = {
                        "total": self.progress.total,
                        "seconds": time.monotonic() - self._begun,
                    }
                    self.progress = Progress(**message, **facts)
                if "headline" in message:
                    self.progress.done = self.progress.total


def _log(sentence: str) -> None:
    log_event("worker", level=logging.WARNING, problem=sentence)
