"""Jobs: a queue with leases, on both stores. A worker that lives increments the beat of its job."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, insert, select, update

from ragassay.client import service_shapes
from ragassay.client.service_shapes import Progress
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.schema import jobs, projects, reports, tasks
from ragassay.service.store.store_errors import Conflict, NotThere

LEASE_S = 30.0
"""Seconds without a sign of life after which a job is another worker's."""
BEAT_S = 5.0
"""Seconds between two signs of life."""
MOST_ATTEMPTS = 5
"""How often a job is begun: one whose workers all died is itself the cause."""
_DEADLY = (
    f"It was started {MOST_ATTEMPTS} times, and each worker died. See the workers' logs "
    "(memory?), and then retry it."
)
CANCELLED = "It was cancelled."
_OPEN = ("idle", "starting", "running")
"""States of a job that has not ended."""


class Job(service_shapes.Job):
    """A job, as clients see it, how often it was begun, what it needs to know besides, and the
    headline of its report."""

    attempts: int = Field(0, exclude=True)
    arguments: dict[str, Any] = Field(default_factory=dict, exclude=True)
    headline: dict[str, Any] | None = Field(None, exclude=True)


def add_job(connection: Connection, kind: str, task_id: str, **values: Any) -> str:
    """Puts a job (``report`` or ``ingest``) into the queue, within a transaction, with values of
    further columns; its id. One that was done at once is ``completed``."""
    key, now, progress = new_id(), time.time(), Progress().model_dump()
    made = {"id": key, "kind": kind, "task_id": task_id, "created": now, "updated": now}
    made |= {"status": "idle", "arguments": {}, "progress": progress}
    connection.execute(insert(jobs).values({**made, **values}))
    return key


_CONDITIONS = {
    "key": jobs.c.id, "project_id": tasks.c.project_id, "task_id": jobs.c.task_id,
    "report_id": jobs.c.report_id, "status": jobs.c.status,
}  # fmt: skip


def list_jobs(store: Store, **wanted: str | None) -> list[Job]:
    """The jobs that all conditions hold for (key, project_id, task_id, report_id, status), oldest
    first; one that is ``None`` is none."""
    names = (tasks.c.name.label("task_name"), projects.c.name.label("project_name"))
    chosen = (
        select(jobs, *names, tasks.c.project_id, reports.c.headline)
        .join(tasks, tasks.c.id == jobs.c.task_id)
        .join(projects, projects.c.id == tasks.c.project_id)
        .outerjoin(reports, reports.c.id == jobs.c.report_id)
        .order_by(jobs.c.created, jobs.c.id)
    )
    given = [_CONDITIONS[name] == text for name, text in wanted.items() if text is not None]
    return [Job(**row._mapping) for row in store.rows(chosen.where(*given))]


def get_job(store: Store, key: str) -> Job:
    """The job of an id."""
    matches = list_jobs(store, key=key)
    if not matches:
        raise NotThere("job", key)
    return matches[0]


def cancel_job(store: Store, key: str) -> Job:
    """Asks for a job to be ended; one that nobody has begun ends at once."""
    job = get_job(store, key)
    if job.has_ended:
        raise Conflict(f"The job has ended ({job.status}).")
    of_job = update(jobs).where(jobs.c.id == key)
    store.write(
        of_job.values(cancelled=True, updated=time.time()),
        of_job.where(jobs.c.status == "idle").values(status="error", error=CANCELLED),
    )
    return get_job(store, key)


def retry_job(store: Store, key: str) -> Job:
    """Puts a job that failed, or whose result lacks something, into the queue again. What was
    answered is not paid again; what a judge refused or answered unusably is asked again."""
    fresh: dict[str, Any] = {"status": "idle", "error": None, "cancelled": False, "attempts": 0}
    fresh |= {"worker": None, "arguments": {"retry_failed": True}}
    failed = update(jobs).where(jobs.c.id == key, jobs.c.status.in_(("error", "incomplete")))
    n_changed = store.write(failed.values(**fresh, updated=time.time()))
    job = get_job(store, key)
    if not n_changed:
        raise Conflict(
            f"Only a job that failed or is incomplete can be tried again; this one is {job.status}."
        )
    return job


class Queue:
    """The queue as one worker sees it, whose name is unlike that of every other one. After
    ``lease`` seconds without a sign of life it takes a job over."""

    def __init__(self, store: Store, worker: str, *, lease: float = LEASE_S) -> None:
        self._store, self._worker, self._lease = store, worker, lease
        # For each job that somebody has: the beat, and when this worker first saw it.
        self._seen: dict[str, tuple[int, float]] = {}

    def take(self) -> Job | None:
        """The next job, which is this worker's now; ``None`` where there is nothing to do. One that
        is noted as its own is begun again: the store went away while it was being taken, say."""
        for key, beat in self._candidates():
            if self._claim(key, beat):
                self._seen.pop(key, None)
                return get_job(self._store, key)
        return None

    def beat(self, key: str, progress: Progress | None = None) -> bool:
        """Renews the lease of a job and stores its progress; whether to go on: not where the job
        was cancelled, taken over, or deleted."""
        values: dict[str, Any] = {"beat": jobs.c.beat + 1, "updated": time.time()}
        if progress is not None:
            values |= {"progress": progress.model_dump(), "status": "running"}
        renewed = self._mine(key).values(**values).returning(jobs.c.cancelled)
        with self._store.writing() as connection:
            return connection.execute(renewed).scalar_one_or_none() is False

    def end(
        self, connection: Connection, key: str, why: str | None = None, *, has_result: bool = False
    ) -> bool:
        """Ends a job within a transaction, with the sentence that says why it failed, or what its
        result lacks; whether it still was this worker's."""
        status = "completed" if why is None else "incomplete" if has_result else "error"
        values = {"status": status, "error": why, "worker": None, "updated": time.time()}
        return bool(connection.execute(self._mine(key).values(**values)).rowcount)

    def give_back(self, key: str) -> None:
        """Leaves a job to the next worker: this one stops."""
        left = {"status": "idle", "worker": None, "attempts": jobs.c.attempts - 1}
        self._store.write(self._mine(key).values(**left))

    def _mine(self, key: str) -> Any:
        return update(jobs).where(
            jobs.c.id == key, jobs.c.worker == self._worker, jobs.c.status.in_(_OPEN[1:])
        )

    def _candidates(self) -> list[tuple[str, int]]:
        """Jobs that wait, and those whose worker seems dead, oldest first."""
        chosen = (
            select(jobs.c.id, jobs.c.status, jobs.c.beat, jobs.c.worker)
            .where(jobs.c.status.in_(_OPEN))
            .order_by(jobs.c.created, jobs.c.id)
        )
        now, candidates, alive = time.monotonic(), [], {}
        for row in self._store.rows(chosen):
            if row.status == "idle" or row.worker == self._worker:
                candidates.append((row.id, row.beat))
                continue
            beat, since = self._seen.get(row.id, (row.beat, now))
            if beat != row.beat:
                since = now
            alive[row.id] = row.beat, since
            if now - since >= self._lease:
                candidates.append((row.id, row.beat))
        self._seen = alive
        return candidates

    def _claim(self, key: str, beat: int) -> bool:
        seen = update(jobs).where(jobs.c.id == key, jobs.c.beat == beat, jobs.c.status.in_(_OPEN))
        values = {"status": "starting", "worker": self._worker, "beat": beat + 1}
        values |= {"updated": time.time(), "attempts": jobs.c.attempts + 1}
        with self._store.writing() as connection:
            if not connection.execute(seen.values(**values)).rowcount:
                return False
            attempts = select(jobs.c.attempts).where(jobs.c.id == key)
            if connection.execute(attempts).scalar_one() <= MOST_ATTEMPTS:
                return True
            self.end(connection, key, _DEADLY)
            return False
