"""Routes of jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from ragassay.service.api.access import Access
from ragassay.service.api.route_parts import READS, WRITES, Allowed, InStore
from ragassay.service.store import (
    Job,
    Status,
    Store,
    cancel_job,
    get_job,
    list_jobs,
    retry_job,
)

router = APIRouter(tags=["jobs"])

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
    return [job for job in found if access.sees(job.project_id)]


@router.get("/jobs/{job_id}", responses=READS)
def get_one_job(job_id: str, store: InStore, access: Allowed) -> Job:
    """A job, and how far it is."""
    return _job(store, access, "read", job_id)


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
