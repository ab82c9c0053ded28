"""Pages of tasks and their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Response

from ragassay.base.errors import UsageError
from ragassay.client.service_shapes import Report
from ragassay.formats import from_records
from ragassay.reports.html.browse import Limits, details_of, script_json
from ragassay.service.api.record_routes import decoded, encoded
from ragassay.service.api.route_parts import Allowed, InStore, TaskToRead, TaskToWrite
from ragassay.service.store.database import Store
from ragassay.service.store.projects import Task
from ragassay.service.store.records import count_records, read_page, read_versions, time_span
from ragassay.service.store.reports import DEFAULT_SUITE, list_reports
from ragassay.service.views.report_view import TEXT_OF_ONE
from ragassay.service.web.page_parts import crumbs_of, task_page
from ragassay.suites import all_suites

router = APIRouter(include_in_schema=False)

RECORDS_OF_A_PAGE = 50


class Listed(NamedTuple):
    """A row of the list of reports: ``n`` samples, and the names of who judged them."""

    report: Report
    n: int | None
    judge: str | None


ORDERS: dict[str, Callable[[Listed], Any]] = {
    "name": lambda row: row.report.name.casefold(),
    "state": lambda row: row.report.status,
    "created": lambda row: row.report.created,
    "n": lambda row: row.n,
    "judge": lambda row: row.judge,
    "from": lambda row: row.report.from_timestamp,
    "to": lambda row: row.report.to_timestamp,
}
"""What the list of reports is sorted by."""


@router.get("/tasks/{task_id}")
def reports_page(
    task: TaskToRead,
    store: InStore,
    access: Allowed,
    sort: Annotated[str, Query(max_length=20)] = "-created",
) -> Response:
    """A task: its reports, and a form for the next one."""
    key = ORDERS.get(sort.removeprefix("-"))
    if key is None:
        raise UsageError(f"Reports are sorted by {', '.join(ORDERS)}; '-' before it turns it over.")
    rows = [_listed(report, task, store) for report in list_reports(store, task.id)]
    known = [row for row in rows if key(row) is not None]
    unknown = [row for row in rows if key(row) is None]
    rows = sorted(known, key=key, reverse=sort.startswith("-")) + unknown
    return task_page(
        "tasks/task_reports.html.j2",
        *(store, access, task),
        n_records=count_records(store, task.id),
        span=time_span(store, task.id),
        reports=rows,
        sort=sort,
        suites=all_suites(),
        default_suite=DEFAULT_SUITE,
        judges=store.models.judge_names,
        crumbs=crumbs_of(store, task.project_id),
    )


def _listed(report: Report, task: Task, store: Store) -> Listed:
    """A report as the list shows it."""
    sizes = [one["n_total"] for one in (report.headline or {}).values()]
    judges = report.options.get("judge") or task.options.judge or store.models.judge_names[:1]
    return Listed(report, max(sizes, default=None), ", ".join(judges) if report.job_id else None)


@router.get("/tasks/{task_id}/settings")
def settings_page(task: TaskToWrite, store: InStore, access: Allowed) -> Response:
    """The settings of a task, and its deletion."""
    judges = store.models.judge_names
    return task_page("tasks/settings.html.j2", *(store, access, task), judges=judges)


@router.get("/tasks/{task_id}/upload")
def upload_page(task: TaskToWrite, store: InStore, access: Allowed) -> Response:
    """A form that uploads a file of records."""
    return task_page("tasks/upload.html.j2", *(store, access, task))


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
        "tasks/records.html.j2",
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
    details = details_of(sample.identity, sample, {}, {}, Limits.share(TEXT_OF_ONE, 1))
    return task_page(
        "tasks/record.html.j2",
        *(store, access, task),
        record=chosen,
        versions=versions,
        details=script_json(details),
        crumbs=[*crumbs_of(store, task.project_id, task), ("Records", f"/tasks/{task.id}/records")],
    )
