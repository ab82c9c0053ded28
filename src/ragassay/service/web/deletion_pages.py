"""Pages that ask before something is deleted, and delete it. They need no script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fastapi import Depends, Response
from fastapi.responses import RedirectResponse

from ragassay.service.api.route_parts import InStore, ProjectToWrite, ReportToWrite, TaskToWrite
from ragassay.service.store.projects import delete_project, delete_task, get_project, get_task
from ragassay.service.store.records import delete_records
from ragassay.service.store.reports import delete_report
from ragassay.service.web.page_parts import Crumbs, crumbs_of, page, page_router

router = page_router()


@dataclass(frozen=True)
class Deletion:
    """What may be deleted.

    Attributes:
        what: it is, with its name.
        loses: what is deleted with it, in a sentence.
        crumbs: of its page; the last one is shown afterwards.
        place: address of its own page.
        act: deletes it.
    """

    what: str
    loses: str
    crumbs: Crumbs
    place: str
    act: Callable[[], object]


def _project(project_id: ProjectToWrite, store: InStore) -> Deletion:
    return Deletion(
        f"project {get_project(store, project_id).name}",
        "All its tasks, records, reports and paid answers are deleted with it.",
        [("Projects", "/")],
        f"/projects/{project_id}",
        partial(delete_project, store, project_id),
    )


def _task(task: TaskToWrite, store: InStore) -> Deletion:
    return Deletion(
        f"task {task.name}",
        "All its records and reports are deleted with it.",
        crumbs_of(store, task.project_id),
        f"/tasks/{task.id}/settings",
        partial(delete_task, store, task.id),
    )


def _record(task: TaskToWrite, record_id: str, store: InStore) -> Deletion:
    records = f"/tasks/{task.id}/records"
    return Deletion(
        f"record {record_id}",
        "All its versions are deleted. Reports that are finished keep it.",
        [*crumbs_of(store, task.project_id, task), ("Records", records)],
        records,
        partial(delete_records, store, task.id, [record_id]),
    )


def _report(report: ReportToWrite, store: InStore) -> Deletion:
    task = get_task(store, report.task_id)
    return Deletion(
        f"report {report.name}",
        "Its scores and its run folder are deleted. The records stay.",
        crumbs_of(store, task.project_id, task),
        f"/reports/{report.id}",
        partial(delete_report, store, report.id),
    )


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
