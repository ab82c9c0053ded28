"""Routes of jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from ragassay.base.errors import RagassayError
from ragassay.client.shapes import Status
from ragassay.service.api.route_parts import READS, WRITES, Allowed, InStore
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Job, cancel_job, get_job, list_jobs, retry_job
from ragassay.service.store.store_errors import NotThere
from ragassay.service.store.tokens import TokenScope

router = APIRouter(tags=["jobs"])

LOOK_S = 0.5
"""Seconds between two looks at a job."""
SILENCE_S = 15.0
"""Seconds after which a comment says that the connection lives."""

Key = Annotated[str | None, Query(max_length=100)]


def job_for(scope: TokenScope, job_id: str, store: InStore, access: Allowed) -> Job:
    """A job that a request may read or write.

    Raises:
        NotThere: there is none.
        HTTPException: 403.
    """
    job = get_job(store, job_id)
    access.check(scope, job.project_id)
    return job


JobToRead = Annotated[Job, Depends(partial(job_for, "read"))]
JobToWrite = Annotated[Job, Depends(partial(job_for, "write"))]


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
    jobs = list_jobs(
        store, project_id=project_id, task_id=task_id, report_id=report_id, status=status
    )
    return [job for job in jobs if access.may("read", job.project_id)]


@router.get("/jobs/{job_id}", responses=READS)
def get_one_job(job: JobToRead) -> Job:
    """A job, and how far it is."""
    return job


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "events", "content": {"text/event-stream": {}}},
        **READS,
    },
)
def get_events(job: JobToRead, store: InStore) -> StreamingResponse:
    """The progress of a job as server-sent events, until it ends: first an event `progress` with
    the job as it is (what `GET /jobs/ID` answers), then one at each change; the last one is `end`,
    or `gone` where the job was deleted."""
    return StreamingResponse(job_events(store, job.id), media_type="text/event-stream")


async def job_events(store: Store, key: str) -> AsyncIterator[str]:
    """The events of a job. Nothing is kept for a client that left: its stream is closed.

    Args:
        store: where.
        key: of the job.
    """
    sent, last = "", time.monotonic()
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
        if body != sent:
            yield f"event: progress\ndata: {body}\n\n"
            sent, last = body, time.monotonic()
        elif time.monotonic() - last > SILENCE_S:
            yield ": the job goes on\n\n"
            last = time.monotonic()
        await asyncio.sleep(LOOK_S)


@router.post("/jobs/{job_id}/cancel", responses=WRITES)
def post_cancel(job: JobToWrite, store: InStore) -> Job:
    """Ends a job. What judges answered until then is kept."""
    return cancel_job(store, job.id)


@router.post("/jobs/{job_id}/retry", responses=WRITES)
def post_retry(job: JobToWrite, store: InStore) -> Job:
    """Does a job that failed again. What judges answered is not asked again."""
    return retry_job(store, job.id)
