"""Pages of tasks and their records."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from ragassay.engine.results import KeptVerdicts
from ragassay.formats import from_records
from ragassay.reports.html import Limits, details_of, script_json
from ragassay.service.api import Allowed, InStore, TaskToRead, TaskToWrite, decoded, encoded
from ragassay.service.store import (
    DEFAULT_SUITE,
    count_records,
    list_reports,
    read_page,
    read_versions,
    time_span,
)
from ragassay.service.views import TEXT_OF_ONE
from ragassay.service.web.page_parts import crumbs_of, page, page_router, task_page
from ragassay.suites import all_suites

router = page_router()

RECORDS_OF_A_PAGE = 50


@router.get("/tasks/{task_id}")
def reports_page(task: TaskToRead, store: InStore, access: Allowed) -> Response:
    """A task: its reports, and a form for the next one."""
    return task_page(
        "task.html.j2",
        *(store, access, task),
        n_records=count_records(store, task.id),
        span=time_span(store, task.id),
        reports=list_reports(store, task.id)[::-1],
        suites=all_suites(),
        default_suite=DEFAULT_SUITE,
        judges=store.models.judge_names,
        crumbs=crumbs_of(store, task.project_id),
    )


@router.get("/tasks/{task_id}/upload")
def upload_page(task: TaskToWrite, store: InStore) -> Response:
    """A form that uploads a file of records."""
    return page("upload.html.j2", task=task, crumbs=crumbs_of(store, task.project_id, task))


@router.get("/tasks/{task_id}/records")
def records_page(
    task: TaskToRead,
    store: InStore,
    access: Allowed,
    text: Annotated[str, Query(max_length=1_000)] = "",
    cursor: str | None = None,
) -> Response:
    """The records of a task, the youngest first."""
    records, after = read_page(
        store, task.id, after=decoded(cursor), limit=RECORDS_OF_A_PAGE, text=text
    )
    return task_page(
        "records.html.j2",
        *(store, access, task),
        records=records,
        text=text,
        is_first=cursor is None,
        next=encoded(after),
        n_records=count_records(store, task.id),
    )


@router.get("/tasks/{task_id}/records/{record_id:path}")
def record_page(
    task: TaskToRead,
    record_id: str,
    store: InStore,
    access: Allowed,
    at: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """A record, and its versions: the youngest first, those of all systems."""
    versions = read_versions(store, task.id, record_id)
    chosen = versions[min(at, len(versions) - 1)]
    (sample,) = from_records([chosen.record])
    details = details_of(sample.identity, sample, {}, KeptVerdicts(), Limits.share(TEXT_OF_ONE, 1))
    return task_page(
        "record.html.j2",
        *(store, access, task),
        record=chosen,
        versions=versions,
        details=script_json(details),
        crumbs=[*crumbs_of(store, task.project_id, task), ("Records", f"/tasks/{task.id}/records")],
    )
