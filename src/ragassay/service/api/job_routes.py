"""Routes of jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from ragassay.errors import RagassayError
from ragassay.service.api.access import Access
from ragassay.service.api.route_parts import READS, WRITES, Allowed, InStore
from ragassay.service.store import (
    Job,
    NotThere,
    Status,
    Store,
    cancel_job,
    get_job,
    list_jobs,
    retry_job,
)

router = APIRouter(tags=["jobs"])

LOOK_S = 0.5
"""Seconds between two looks at a job."""
SILENCE_S = 15.0
"""Seconds after which a comment says that the connection lives."""

Key = Annotated[str | None, Query(max_length=100)]


@router.get("/jobs", responses=READS)
def get_jobs(
    store: InStore,
    access: Allowed,
    project_id: Key = None,
    task_id: Key = None,
    report_id: Key = None,
    status: Status | None = None,
) -> list[Job]:
    """The jobs that all conditions hold for and that the token may read, oldest first."""
    found = list_jobs(
        store, project_id=project_id, task_id=task_id, report_id=report_id, status=status
    )
    return [job for job in found if access.may("read", job.project_id)]


@router.get("/jobs/{job_id}", responses=READS)
def get_one_job(job_id: str, store: InStore, access: Allowed) -> Job:
    """A job, and how far it is."""
    return _job(store, access, "read", job_id)


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "events", "content": {"text/event-stream": {}}},
        **READS,
    },
)
def get_events(job_id: str, store: InStore, access: Allowed) -> StreamingResponse:
    """The progress of a job as server-sent events, until it ends: first an event `progress` with
    the job as it is (what `GET /jobs/ID` answers), then one at each change; the last one is `end`,
    or `gone` where the job was deleted."""
    _job(store, access, "read", job_id)
    return StreamingResponse(job_events(store, job_id), media_type="text/event-stream")


async def job_events(store: Store, key: str) -> AsyncIterator[str]:
    """The events of a job. Nothing is kept for a client that left: its stream is closed.

    Args:
        store: where.
        key: of the job.
    """
    told, last = "", time.monotonic()
    while True:
        try:
            job = await run_in_threadpool(get_job, store, key)
        except NotThere:
            yield "event: gone\ndata: {}\n\n"
            return
        except RagassayError:  # the store is away for a moment
            await asyncio.sleep(LOOK_S)
            continue
        body = job.model_dump_json()
        if job.has_ended:
            yield f"event: end\ndata: {body}\n\n"
            return
        if body != told:
            yield f"event: progress\ndata: {body}\n\n"
            told, last = body, time.monotonic()
        elif time.monotonic() - last > SILENCE_S:
            yield ": the job goes on\n\n"
            last = time.monotonic()
        await asyncio.sleep(LOOK_S)


@router.post("/jobs/{job_id}/cancel", responses=WRITES)
def post_cancel(job_id: str, store: InStore, access: Allowed) -> Job:
    """Ends a job. What judges answered until then is kept."""
    _job(store, access, "write", job_id)
    return cancel_job(store, job_id)


@router.post("/jobs/{job_id}/retry", responses=WRITES)
def post_retry(job_id: str, store: InStore, access: Allowed) -> Job:
    """Does a job that failed again. What judges answered is not asked again."""
    _job(store, access, "write", job_id)
    return retry_job(store, job_id)


def _job(store: Store, access: Access, scope: str, key: str) -> Job:
    job = get_job(store, key)
    access.check(scope, job.project_id)
    return job
