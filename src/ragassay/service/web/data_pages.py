"""Pages of projects, tasks, records and of their deletion; sign-in; the REST interface."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from ragassay.client.service_shapes import Report
from ragassay.formats import from_records
from ragassay.reports.charts.svg import Point, trend
from ragassay.reports.html.query_browser import details_of, script_json, share
from ragassay.service.api.access import EXPIRED, SESSION
from ragassay.service.api.record_routes import decoded, encoded
from ragassay.service.api.route_parts import (
    Allowed,
    InStore,
    ProjectToRead,
    ProjectToWrite,
    ReportToWrite,
    TaskToRead,
    TaskToWrite,
)
from ragassay.service.store import records, schema
from ragassay.service.store.database import Store
from ragassay.service.store.projects import Task, get_project, get_task, list_projects, list_tasks
from ragassay.service.store.report_files import shown_time
from ragassay.service.store.reports import DEFAULT_SUITE, list_reports
from ragassay.service.store.tokens import find_token
from ragassay.service.views.report_view import TEXT_OF_ONE
from ragassay.service.web.page_parts import Crumbs, crumbs_of, page, task_page
from ragassay.suites import all_suites

router = APIRouter(include_in_schema=False)

RECORDS_OF_A_PAGE = 50

MOST_POINTS = 50
"""Reports whose means are drawn: the last ones."""

_PATH = re.compile(r"/(?:[\w.%:-][\w.%:/-]*)?(?:\?[\w.%:/=&+-]*)?")


@router.get("/")
def projects_page(store: InStore, access: Allowed) -> Response:
    """All projects with their tasks."""
    projects = [project for project in list_projects(store) if access.may("read", project.id)]
    tasks = {project.id: list_tasks(store, project.id) for project in projects}
    may_write = access.may("write", None)
    return page("projects.html.j2", projects=projects, tasks=tasks, may_write=may_write)


@router.get("/projects/{project_id}")
def project_page(project_id: ProjectToRead, store: InStore, access: Allowed) -> Response:
    """A project with its tasks."""
    project = get_project(store, project_id)
    rows = [
        (task, records.count_records(store, task.id), list_reports(store, task.id))
        for task in list_tasks(store, project_id)
    ]
    return page(
        "project.html.j2",
        project=project,
        rows=rows,
        judges=store.models.judge_names,
        may_write=access.may("write", project_id),
        crumbs=[("Projects", "/")],
    )


@router.get("/tasks/{task_id}")
def reports_page(task: TaskToRead, store: InStore, access: Allowed) -> Response:
    """A task: its reports, the youngest first, their means, and a form for the next one."""
    reports = list_reports(store, task.id)
    return task_page(
        "tasks/task_reports.html.j2",
        *(store, access, task),
        n_records=records.count_records(store, task.id),
        span=records.time_span(store, task.id),
        reports=[_listed(report, task, store) for report in reports][::-1],
        trends=_trends(reports),
        trend=trend,
        means_of=_means,
        suites=all_suites(),
        default_suite=DEFAULT_SUITE,
        judges=store.models.judge_names,
        crumbs=crumbs_of(store, task.project_id),
    )


def _listed(report: Report, task: Task, store: Store) -> tuple[Report, int | None, str | None]:
    """A report, how many samples it has, and who judged them."""
    sizes = [value["n_total"] for value in (report.headline or {}).values()]
    judges = report.options.get("judge") or task.options.judge or store.models.judge_names[:1]
    return report, max(sizes, default=None), ", ".join(judges) if report.job_id else None


def _means(report: Report) -> dict[str, dict[str, Any]]:
    """The share of right answers of a report, where it is known, and the means of its metrics."""
    metrics: dict[str, Any] = report.headline or {}
    shares = [value["right"] for value in metrics.values() if value.get("right")]
    return {**{right["name"]: right for right in shares[:1]}, **metrics}


def _trends(reports: list[Report]) -> dict[str, list[Point]]:
    """The means of a task's last reports, in the order of their records."""
    found: dict[str, list[Point]] = {}
    for report in sorted(reports, key=lambda item: item.to_timestamp or item.created)[
        -MOST_POINTS:
    ]:
        day = shown_time(report.to_timestamp or report.created)[:10]
        for name, value in _means(report).items():
            if value["mean"] is not None:
                interval = None if value["low"] is None else (value["low"], value["high"])
                facts = (value.get("system", ""), value.get("signature", ""), day)
                address = report.name, f"/reports/{report.id}"
                found.setdefault(name, []).append(Point(*address, value["mean"], interval, *facts))
    return found


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
    listed, after = records.read_page(
        store, task.id, after=decoded(cursor), limit=RECORDS_OF_A_PAGE, text=text
    )
    return task_page(
        "tasks/records.html.j2",
        *(store, access, task),
        records=listed,
        text=text,
        is_first=cursor is None,
        next=encoded(after),
        n_records=records.count_records(store, task.id),
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
    versions = records.read_versions(store, task.id, record_id)
    chosen = versions[min(at, len(versions) - 1)]
    (sample,) = from_records([chosen.record])
    details = details_of(sample.identity, sample, {}, {}, share(TEXT_OF_ONE, 1))
    return task_page(
        "tasks/record.html.j2",
        *(store, access, task),
        record=chosen,
        versions=versions,
        details=script_json(details),
        crumbs=[*crumbs_of(store, task.project_id, task), ("Records", f"/tasks/{task.id}/records")],
    )


class Deletion(NamedTuple):
    """What may be deleted, what goes with it, its page, the pages above it, and what deletes it."""

    what: str
    loses: str
    place: str
    crumbs: Crumbs
    act: Callable[[], object]


def _project(project_id: ProjectToWrite, store: InStore) -> Deletion:
    what = f"project {get_project(store, project_id).name}"
    loses = "All its tasks, records, reports and paid answers are deleted with it."
    act = partial(store.remove, schema.projects, project_id)
    return Deletion(what, loses, f"/projects/{project_id}", [("Projects", "/")], act)


def _task(task: TaskToWrite, store: InStore) -> Deletion:
    loses = "All its records and reports are deleted with it."
    crumbs, act = crumbs_of(store, task.project_id), partial(store.remove, schema.tasks, task.id)
    return Deletion(f"task {task.name}", loses, f"/tasks/{task.id}/settings", crumbs, act)


def _record(task: TaskToWrite, record_id: str, store: InStore) -> Deletion:
    loses = "All its versions are deleted. Reports that are finished keep it."
    place, act = (
        f"/tasks/{task.id}/records",
        partial(records.delete_records, store, task.id, [record_id]),
    )
    crumbs = [*crumbs_of(store, task.project_id, task), ("Records", place)]
    return Deletion(f"record {record_id}", loses, place, crumbs, act)


def _report(report: ReportToWrite, store: InStore) -> Deletion:
    task, act = get_task(store, report.task_id), partial(store.remove, schema.reports, report.id)
    loses = "Its scores and its run folder are deleted. The records stay."
    crumbs = crumbs_of(store, task.project_id, task)
    return Deletion(f"report {report.name}", loses, f"/reports/{report.id}", crumbs, act)


def _add(address: str, find: Callable[..., Deletion]) -> None:
    """Adds the page that asks, and the route of its form."""
    found = Depends(find)

    def ask(deletion: Deletion = found) -> Response:
        return page("delete.html.j2", deletion=deletion, crumbs=deletion.crumbs)

    def delete(deletion: Deletion = found) -> Response:
        deletion.act()
        return RedirectResponse(deletion.crumbs[-1][1], 303)

    router.get(address)(ask)
    router.post(address)(delete)


_add("/projects/{project_id}/delete", _project)
_add("/tasks/{task_id}/delete", _task)
_add("/tasks/{task_id}/delete-record/{record_id:path}", _record)
_add("/reports/{report_id}/delete", _report)


@router.get("/docs")
def docs_page(request: Request) -> Response:
    """The REST interface, as its OpenAPI description has it; needs no token."""
    api = request.app.openapi()
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in api["paths"].items():
        for method, value in methods.items():
            groups.setdefault(value["tags"][0], []).append((method, path, value))
    crumbs = [("Projects", "/")]
    address = request.app.openapi_url
    return page("docs.html.j2", api=api, groups=groups, address=address, crumbs=crumbs)


@router.get("/login")
def login_page(then: str = "/") -> Response:
    """Asks for a token."""
    # Only a path of this service is gone to: browsers read some other beginnings as an address.
    return page("login.html.j2", then=then if _PATH.fullmatch(then) else "/")


@router.post("/login")
def post_login(
    request: Request, store: InStore, token: Annotated[str, Body(embed=True, max_length=200)]
) -> Response:
    """Keeps a token in the browser, where no script can read it."""
    found = find_token(store, token.strip())
    if found is None or found.is_over:
        raise HTTPException(403, EXPIRED if found else "This token is not valid.")
    response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(SESSION, token.strip(), httponly=True, samesite="strict", secure=secure)
    return response


@router.post("/logout")
def post_logout() -> Response:
    """Forgets the browser's token."""
    response = Response(status_code=204)
    response.delete_cookie(SESSION)
    return response
