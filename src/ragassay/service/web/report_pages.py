"""Pages of reports, their samples and their comparison."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from ragassay.base.errors import RagassayError, UsageError
from ragassay.client.service_shapes import Report
from ragassay.engine.comparison.compare_runs import FORCE, UNPAIRED, compare
from ragassay.reports.html.pages import comparison_parts
from ragassay.reports.html.query_browser import script_json
from ragassay.service.api.report_routes import download, report_file
from ragassay.service.api.route_parts import (
    Allowed,
    InStore,
    ReportToRead,
    ReportToWrite,
    report_for,
)
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import cancel_job, get_job, retry_job
from ragassay.service.store.projects import get_task
from ragassay.service.store.report_files import ReportForm, opened_report, report_suffix
from ragassay.service.store.reports import get_report
from ragassay.service.store.store_errors import NotThere
from ragassay.service.views.report_view import ReportView, RowQuery
from ragassay.service.views.separate_process import make_file
from ragassay.service.web.page_parts import crumbs_of, page, rendered, task_page, wants_json

router = APIRouter(include_in_schema=False)


def row_query(
    text: Annotated[str, Query(max_length=1_000)] = "",
    filter: Annotated[str, Query(max_length=50)] = "",  # noqa: A002
    sort: Annotated[str, Query(max_length=10)] = "order",
    down: bool = False,
    first: Annotated[int, Query(ge=0, le=10**9)] = 0,
    size: Annotated[int, Query(ge=1, le=250)] = 50,
    slice: Annotated[list[str] | None, Query(max_length=50)] = None,  # noqa: A002
) -> RowQuery:
    """Which samples of a report an address asks for."""
    return RowQuery(text.split(), filter, _slices(slice or ()), sort, down, first, size)


def _slices(pairs: Iterable[str]) -> dict[str, str]:
    """The wanted value by slicing column, of JSON lists of both."""
    try:
        return {str(name): str(value) for name, value in map(json.loads, pairs)}
    except (TypeError, ValueError) as error:
        raise UsageError("A slice is a JSON list of its column and its value.") from error


Wanted = Annotated[RowQuery, Depends(row_query)]


@router.get("/reports/{report_id}")
def report_page(
    report: ReportToRead, request: Request, store: InStore, access: Allowed, wanted: Wanted
) -> Response:
    """A report, or how far it is. Its script asks for the samples that the address names."""
    parts = (store, access, get_task(store, report.task_id))
    job = get_job(store, report.job_id) if report.job_id else None
    if not report.is_there:
        return task_page("reports/running.html.j2", *parts, report=report, job=job)
    pieces = _view(request, report).pieces
    return task_page("reports/report.html.j2", *parts, report=report, job=job, pieces=pieces)


@router.post("/reports/{report_id}/cancel")
@router.post("/reports/{report_id}/retry")
def post_act(report: ReportToWrite, request: Request, store: InStore) -> Response:
    """Ends the job of a report, or does it again."""
    act = cancel_job if request.url.path.endswith("/cancel") else retry_job
    act(store, str(report.job_id))
    return RedirectResponse(f"/reports/{report.id}", 303)


@router.get("/reports/{report_id}/samples")
def report_rows(report: ReportToRead, request: Request, wanted: Wanted) -> dict[str, Any]:
    """A page of a report's samples, for the script of its page."""
    return _view(request, report).find(wanted)


@router.get("/reports/{report_id}/samples/{row}", response_model=None)
def report_row(
    report: ReportToRead,
    row: Annotated[int, Path(ge=0, le=10**9)],
    request: Request,
    store: InStore,
    wanted: Wanted,
) -> Response | dict[str, Any]:
    """A sample of a report: its details for a script, or its page with its neighbours."""
    view = _view(request, report)
    details = view.details(row)
    if details is None:
        raise NotThere("sample", str(row))
    if wants_json(request):
        return details
    task, beside = get_task(store, report.task_id), view.beside(row, wanted)
    query = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != "first"])
    first = 0 if beside is None else beside.at // wanted.size * wanted.size
    back = f"/reports/{report.id}?{query}&first={first}#browse"
    return page(
        "reports/sample.html.j2",
        report=report,
        beside=beside,
        query=query,
        sample=details["id"],
        details=script_json(details),
        crumbs=[*crumbs_of(store, task.project_id, task), (report.name, back)],
    )


@router.get("/reports/{report_id}/files/{form}")
def file_page(report: ReportToRead, form: ReportForm, request: Request) -> Response:
    """A report as a file."""
    return download(report_file(request, report.id, form), report.name, report_suffix(form))


@router.get("/compare")
def compare_page(
    request: Request,
    store: InStore,
    access: Allowed,
    a: Annotated[str, Query(max_length=100)],
    b: Annotated[str, Query(max_length=100)],
    force: bool = False,
    unpaired: bool = False,
) -> Response:
    """Whether report A is better than report B; a refusal links to what can be compared."""
    for key in (a, b):
        report_for("read", key, store, access)
    chosen = {"force": force, "unpaired": unpaired}
    try:
        made = make_file(written_comparison_page, store, a, b, **chosen)
    except RagassayError as error:
        why, option = str(error), None
        for ending, name in ((UNPAIRED, "unpaired"), (FORCE, "force")):
            if why.endswith(ending):
                why, option = why.removesuffix(ending), name
        if option is None or wants_json(request):
            raise
        query = urlencode({"a": a, "b": b} | {text: "true" for text in chosen if chosen[text]})
        other = f"/compare?{query}&{option}=true"
        return page("reports/refused.html.j2", status=422, why=why, option=option, other=other)
    return HTMLResponse(made)


def written_comparison_page(store: Store, new: str, old: str, **chosen: Any) -> bytes:
    """The page that compares two reports; options as of `write_report_comparison`."""
    task = get_task(store, get_report(store, new).task_id)
    with opened_report(store, new) as a, opened_report(store, old) as b:
        parts = comparison_parts(compare(a, b, **chosen))
        parts |= {"crumbs": crumbs_of(store, task.project_id, task)}
        return rendered("reports/compared.html.j2", **parts, new=new, old=old, chosen=chosen)


def _view(request: Request, report: Report) -> ReportView:
    """What the pages of a finished report read."""
    return request.app.state.views.open(report.id)  # type: ignore[no-any-return]
