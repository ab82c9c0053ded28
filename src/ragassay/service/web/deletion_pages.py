"""Pages that ask before something is deleted, and delete it. They need no script."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse

from ragassay.service.api.route_parts import InStore, ProjectToWrite, ReportToWrite, TaskToWrite
from ragassay.service.store.projects import get_project, get_task
from ragassay.service.store.records import delete_records
from ragassay.service.store.schema import projects, reports, tasks
from ragassay.service.web.page_parts import Crumbs, crumbs_of, page

router = APIRouter(include_in_schema=False)


class Deletion(NamedTuple):
    """What may be deleted: its name, what is deleted with it, its own page, the pages above it (the
    last one is shown afterwards), and what deletes it."""

    what: str
    loses: str
    place: str
    crumbs: Crumbs
    act: Callable[[], object]


def _project(project_id: ProjectToWrite, store: InStore) -> Deletion:
    what = f"project {get_project(store, project_id).name}"
    loses = "All its tasks, records, reports and paid answers are deleted with it."
    act = partial(store.remove, projects, project_id)
    return Deletion(what, loses, f"/projects/{project_id}", [("Projects", "/")], act)


def _task(task: TaskToWrite, store: InStore) -> Deletion:
    loses = "All its records and reports are deleted with it."
    crumbs, act = crumbs_of(store, task.project_id), partial(store.remove, tasks, task.id)
    return Deletion(f"task {task.name}", loses, f"/tasks/{task.id}/settings", crumbs, act)


def _record(task: TaskToWrite, record_id: str, store: InStore) -> Deletion:
    loses = "All its versions are deleted. Reports that are finished keep it."
    place, act = f"/tasks/{task.id}/records", partial(delete_records, store, task.id, [record_id])
    crumbs = [*crumbs_of(store, task.project_id, task), ("Records", place)]
    return Deletion(f"record {record_id}", loses, place, crumbs, act)


def _report(report: ReportToWrite, store: InStore) -> Deletion:
    task, act = get_task(store, report.task_id), partial(store.remove, reports, report.id)
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
