"""Pages of projects."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Response

from ragassay.client.shapes import Report
from ragassay.service.api.route_parts import Allowed, InStore, ProjectToRead
from ragassay.service.store.projects import get_project, list_projects, list_tasks
from ragassay.service.store.records import count_records
from ragassay.service.store.reports import list_reports
from ragassay.service.web.page_parts import page, page_router

router = page_router()


@router.get("/")
def projects_page(store: InStore, access: Allowed) -> Response:
    """All projects with their tasks."""
    projects = [one for one in list_projects(store) if access.may("read", one.id)]
    tasks = {
        one.id: [
            (task, _latest_two(list_reports(store, task.id))) for task in list_tasks(store, one.id)
        ]
        for one in projects
    }
    may_write = access.may("write", None)
    return page("projects.html.j2", projects=projects, tasks=tasks, may_write=may_write)


def _latest_two(reports: Sequence[Report]) -> tuple[Report, Report, bool] | None:
    """The youngest report of a task that can be compared, the one before, and whether their
    intervals have no time in common, so that their queries differ."""
    comparable = [one for one in reports if one.compared][-2:]
    if len(comparable) < 2 or not comparable[0].compared & comparable[1].compared:
        return None
    old, new = comparable
    times = [(one.from_timestamp, one.to_timestamp) for one in (old, new)]
    (a, b), (c, d) = times
    apart = None not in (a, b, c, d) and (b < c or d < a)  # type: ignore[operator]
    return new, old, apart


@router.get("/projects/{project_id}")
def project_page(project_id: ProjectToRead, store: InStore, access: Allowed) -> Response:
    """A project with its tasks."""
    project = get_project(store, project_id)
    rows = [
        (task, count_records(store, task.id), list_reports(store, task.id))
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
