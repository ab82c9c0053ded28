"""The pages: each shows what is stored. What a page changes it asks of the REST interface, by the
scripts in ``assets/``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Body, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from ragassay import printable
from ragassay.engine.comparison import compare
from ragassay.engine.results import KeptVerdicts
from ragassay.errors import UsageError
from ragassay.formats import from_records
from ragassay.reports.html import (
    ASSETS,
    Limits,
    comparison_parts,
    details_of,
    environment,
    script_json,
)
from ragassay.service.api import (
    SESSION,
    Access,
    Allowed,
    InStore,
    ProjectToRead,
    ReportToRead,
    TaskToRead,
    TaskToWrite,
    decoded,
    encoded,
    problem_of,
    report_for,
)
from ragassay.service.store import (
    DEFAULT_SUITE,
    NotThere,
    Report,
    Store,
    Task,
    WrittenFile,
    count_records,
    find_token,
    get_job,
    get_project,
    get_report,
    get_task,
    list_projects,
    list_reports,
    list_tasks,
    opened_report,
    read_page,
    read_versions,
    shown_time,
    time_span,
)
from ragassay.service.views import TEXT_OF_ONE, RowQuery, Views, make_file
from ragassay.suites import all_suites

_HERE = FilePath(__file__).parent
_PAGES = environment(_HERE / "templates", served="/assets", crumbs=())

_PATH = re.compile(r"/(?:[\w.%:-][\w.%:/-]*)?(?:\?[\w.%:/=&+-]*)?")

RECORDS_OF_A_PAGE = 50

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose errors are pages, too; who has no valid token is asked for one."""

    def get_route_handler(self) -> Handler:
        """The handler, with errors shown."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                problem = problem_of(request, error)
            if _wants_json(request):
                return problem
            if problem.status_code == 401:
                then = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return RedirectResponse(f"/login?then={quote(then)}", 303)
            return _page(
                "error.html.j2", status=problem.status_code, problem=json.loads(bytes(problem.body))
            )

        return shown


def _wants_json(request: Request) -> bool:
    return "text/html" not in request.headers.get("accept", "")


router = APIRouter(route_class=PageRoute, include_in_schema=False)


def add_pages(app: FastAPI, folder: FilePath) -> None:
    """Adds the pages to an application.

    Args:
        app: it has its store already.
        folder: for the views of reports.
    """
    app.state.views = Views(app.state.store, folder)
    app.include_router(router)
    for name, assets in (("report", ASSETS), ("service", _HERE / "assets")):
        app.mount(f"/assets/{name}", StaticFiles(directory=assets), name=name)


def _page(template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    return HTMLResponse(_rendered(template, **context), status)


def _task_page(
    template: str, store: Store, access: Access, task: Task, **context: Any
) -> HTMLResponse:
    """A page of a task, with its crumbs, for one who may write or only read."""
    context.setdefault("crumbs", _crumbs(store, task.project_id, task))
    return _page(template, task=task, may_write=access.may("write", task.project_id), **context)


def _rendered(template: str, **context: Any) -> bytes:
    text = _PAGES.get_template(template).render(**context)
    return printable.escaped(text).encode("utf-8", "replace")


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
    return _page("projects.html.j2", projects=projects, tasks=tasks, may_write=may_write)


def _latest_two(reports: Sequence[Report]) -> tuple[Report, Report, bool] | None:
    """The youngest finished report of a task, the one before, and whether their intervals have no
    time in common, so that their queries differ."""
    finished = [one for one in reports if one.is_there][-2:]
    if len(finished) < 2:
        return None
    old, new = finished
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
    return _page(
        "project.html.j2",
        project=project,
        rows=rows,
        judges=store.models.judge_names,
        may_write=access.may("write", project_id),
        crumbs=[("Projects", "/")],
    )


@router.get("/tasks/{task_id}")
def task_page(task: TaskToRead, store: InStore, access: Allowed) -> Response:
    """A task: its reports, and a form for the next one."""
    return _task_page(
        "task.html.j2",
        *(store, access, task),
        n_records=count_records(store, task.id),
        span=time_span(store, task.id),
        reports=list_reports(store, task.id)[::-1],
        suites=all_suites(),
        default_suite=DEFAULT_SUITE,
        judges=store.models.judge_names,
        crumbs=_crumbs(store, task.project_id),
    )


@router.get("/tasks/{task_id}/upload")
def upload_page(task: TaskToWrite, store: InStore) -> Response:
    """A form that uploads a file of records."""
    return _page("upload.html.j2", task=task, crumbs=_crumbs(store, task.project_id, task))


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
    return _task_page(
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
    return _task_page(
        "record.html.j2",
        *(store, access, task),
        record=chosen,
        versions=versions,
        details=script_json(details),
        crumbs=[*_crumbs(store, task.project_id, task), ("Records", f"/tasks/{task.id}/records")],
    )


@router.get("/reports/{report_id}")
def report_page(
    report: ReportToRead, request: Request, store: InStore, access: Allowed
) -> Response:
    """A report, or how far it is."""
    parts = (store, access, get_task(store, report.task_id))
    if not report.is_there:
        job = get_job(store, str(report.job_id))
        return _task_page("running.html.j2", *parts, report=report, job=job)
    pieces = _views(request).open(report.id).pieces
    return _task_page("report.html.j2", *parts, report=report, pieces=pieces)


@router.get("/reports/{report_id}/samples")
def report_rows(
    report: ReportToRead,
    request: Request,
    text: Annotated[str, Query(max_length=1_000)] = "",
    unscored: Annotated[str, Query(max_length=10)] = "",
    sort: Annotated[str, Query(max_length=10)] = "order",
    down: bool = False,
    first: Annotated[int, Query(ge=0, le=10**9)] = 0,
    size: Annotated[int, Query(ge=1, le=250)] = 50,
    slice: Annotated[list[str] | None, Query(max_length=50)] = None,  # noqa: A002
) -> dict[str, Any]:
    """A page of a report's samples, for the script of its page."""
    wanted = RowQuery(text.split(), unscored, _slices(slice or ()), sort, down, first, size)
    return _views(request).open(report.id).find(wanted)


def _slices(pairs: Iterable[str]) -> dict[str, str]:
    """The wanted value by slicing column, of JSON lists of both."""
    try:
        return {str(name): str(value) for name, value in map(json.loads, pairs)}
    except (TypeError, ValueError) as error:
        raise UsageError("A slice is a JSON list of its column and its value.") from error


@router.get("/reports/{report_id}/samples/{row}", response_model=None)
def report_row(
    report: ReportToRead,
    row: Annotated[int, Path(ge=0, le=10**9)],
    request: Request,
    store: InStore,
) -> Response | dict[str, Any]:
    """A sample of a report: its details for a script, or its page for a person."""
    view = _views(request).open(report.id)
    details = view.details(row)
    if details is None:
        raise NotThere("sample", str(row))
    if _wants_json(request):
        return details
    task = get_task(store, report.task_id)
    return _page(
        "sample.html.j2",
        report=report,
        row=row,
        n_rows=view.n_rows,
        sample=details["id"],
        details=script_json(details),
        crumbs=[*_crumbs(store, task.project_id, task), (report.name, f"/reports/{report.id}")],
    )


@router.get("/compare")
def compare_page(
    store: InStore,
    access: Allowed,
    a: Annotated[str, Query(max_length=100)],
    b: Annotated[str, Query(max_length=100)],
    force: bool = False,
    unpaired: bool = False,
) -> Response:
    """Whether report A is better than report B."""
    for key in (a, b):
        report_for("read", key, store, access)
    page = make_file(written_comparison_page, store, a, b, force=force, unpaired=unpaired)
    return HTMLResponse(page.content)


def written_comparison_page(
    store: Store, new: str, old: str, *, force: bool = False, unpaired: bool = False
) -> WrittenFile:
    """The page that compares two reports.

    Args:
        store: where.
        new, old: of the reports.
        force: compare although metrics or queries differ.
        unpaired: compare the means of different queries.
    """
    task = get_task(store, get_report(store, new).task_id)
    with opened_report(store, new) as a, opened_report(store, old) as b:
        parts = comparison_parts(compare(a, b, force=force, unpaired=unpaired), a, b)
        crumbs = _crumbs(store, task.project_id, task)
        chosen = {"force": force, "unpaired": unpaired}
        page = _rendered(
            "compared.html.j2", **parts, new=new, old=old, chosen=chosen, crumbs=crumbs
        )
        return WrittenFile("comparison.html", page)


@router.get("/docs")
def docs_page(request: Request) -> Response:
    """The REST interface, as its OpenAPI description has it. It shows nothing that is kept, and
    needs no token."""
    api = request.app.openapi()
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            groups.setdefault(one["tags"][0], []).append((method, path, one))
    crumbs = [("Projects", "/")]
    address = request.app.openapi_url
    return _page("docs.html.j2", api=api, groups=groups, address=address, crumbs=crumbs)


@router.get("/login")
def login_page(then: str = "/") -> Response:
    """Asks for a token."""
    # Only a path of this service is gone to: browsers read some other beginnings as an address.
    return _page("login.html.j2", then=then if _PATH.fullmatch(then) else "/")


@router.post("/login")
def post_login(
    request: Request, store: InStore, token: Annotated[str, Body(embed=True, max_length=200)]
) -> Response:
    """Keeps a token in the browser, where no script can read it."""
    if find_token(store, token.strip()) is None:
        raise HTTPException(403, "This token is not valid.")
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


def _views(request: Request) -> Views:
    views: Views = request.app.state.views
    return views


def _crumbs(store: Store, project_id: str, task: Task | None = None) -> list[tuple[str, str]]:
    crumbs = [("Projects", "/"), (get_project(store, project_id).name, f"/projects/{project_id}")]
    return crumbs if task is None else [*crumbs, (task.name, f"/tasks/{task.id}")]


_PAGES.filters["time"] = lambda seconds: "–" if seconds is None else shown_time(seconds)
_PAGES.filters["part"] = partial(quote, safe="")
