"""Pages of projects, and those that show nothing that is kept: signing in and out, the REST
interface."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Request, Response

from ragassay.client.service_shapes import Report
from ragassay.service.api.access import EXPIRED, SESSION
from ragassay.service.api.route_parts import Allowed, InStore, ProjectToRead
from ragassay.service.store.projects import get_project, list_projects, list_tasks
from ragassay.service.store.records import count_records
from ragassay.service.store.reports import list_reports
from ragassay.service.store.tokens import find_token
from ragassay.service.web.page_parts import page

router = APIRouter(include_in_schema=False)

_PATH = re.compile(r"/(?:[\w.%:-][\w.%:/-]*)?(?:\?[\w.%:/=&+-]*)?")


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
    (a, b), (c, d) = ((one.from_timestamp, one.to_timestamp) for one in (old, new))
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


@router.get("/docs")
def docs_page(request: Request) -> Response:
    """The REST interface, as its OpenAPI description has it; needs no token."""
    api = request.app.openapi()
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            groups.setdefault(one["tags"][0], []).append((method, path, one))
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
