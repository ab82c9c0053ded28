"""Routes of reports and their jobs."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BeforeValidator, Field

from ragassay.client.service_shapes import Name, Report, ReportPreview, Started, Status
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import (
    BINARY,
    READS,
    WRITES,
    Allowed,
    Body,
    InStore,
    MadeId,
    ReportToRead,
    ReportToWrite,
    SentFile,
    TaskToRead,
    TaskToWrite,
    report_for,
)
from ragassay.service.store import report_files
from ragassay.service.store.jobs import Job, cancel_job, get_job, list_jobs, retry_job
from ragassay.service.store.reports import create_report, list_reports, preview_report, run_archive
from ragassay.service.store.schema import reports
from ragassay.service.store.tokens import TokenScope
from ragassay.service.views.separate_process import make_file, repack_apart
from ragassay.service.views.view_folders import Views

router = APIRouter(tags=["reports"])
jobs_router = APIRouter(tags=["jobs"])
routers = (router, jobs_router)


def moment(value: Any) -> Any:
    """Seconds since 1970 of a time in ISO 8601 with its zone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        found = datetime.fromisoformat(value.strip())
    except (AttributeError, ValueError) as error:
        raise ValueError(
            "give seconds since 1970, or ISO 8601 with a zone: 2026-01-31T09:30:00Z"
        ) from error
    if found.tzinfo is None:
        raise ValueError("the time names no zone: end it with Z, or with +01:00")
    return found.timestamp()


Time = Annotated[
    float,
    BeforeValidator(moment, json_schema_input_type=float | str),
    Field(description="seconds since 1970, or ISO 8601 with a zone; inclusive"),
]


class ReportRequest(Body):
    """What a report is over, and how it is computed."""

    from_timestamp: Time
    to_timestamp: Time
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="of the run: suite, metrics, judge, budget ... (docs/configuration.md); suite "
        "ragreport where none is named",
        examples=[{"suite": ["ragreport"], "judge": ["fast"], "budget": "5.00"}],
    )


class NewReport(ReportRequest):
    """A report to be computed."""

    name: Name


@router.post("/tasks/{task_id}/reports", status_code=202, responses=WRITES)
def post_report(task: TaskToWrite, new: NewReport, store: InStore, key: MadeId) -> Started:
    """Asks for a report over the records of an interval; a worker computes it."""
    report, job = create_report(
        store, task.id, new.name, new.from_timestamp, new.to_timestamp, new.options, key
    )
    return Started(report=report, job=job)


@router.post("/tasks/{task_id}/reports/preview", responses=WRITES)
def post_preview(task: TaskToRead, asked: ReportRequest, store: InStore) -> ReportPreview:
    """What a report would hold and cost: records, metrics that apply, calls, dollars. No judge is
    called, and nothing is stored."""
    return preview_report(store, task.id, asked.from_timestamp, asked.to_timestamp, asked.options)


@router.get("/tasks/{task_id}/reports", responses=READS)
def get_reports(task: TaskToRead, store: InStore) -> list[Report]:
    """The reports of a task, oldest first."""
    return list_reports(store, task.id)


@router.get("/reports/{report_id}", responses=READS)
def get_one_report(report: ReportToRead) -> Report:
    """A report: its state, and its headline once it is there."""
    return report


@router.delete("/reports/{report_id}", status_code=204, responses=WRITES)
def delete_one_report(report: ReportToWrite, store: InStore) -> None:
    """Deletes a report with its run folder."""
    store.remove(reports, report.id)


def _responses(description: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    """What the documentation says of a route that answers in one of these types."""
    content = {"description": description, "content": {kind: {} for kind in kinds}}
    return {200: content, **READS, **documented(409)}


ARCHIVE = _responses("the run folder", "application/zip")
FILES = _responses("the file", *dict.fromkeys(report_files.MEDIA_TYPES.values()))


@router.get("/reports/{report_id}/run", response_class=Response, responses=ARCHIVE)
def get_run(report: ReportToRead, store: InStore) -> Response:
    """The run folder of a report as a zip (docs/run-folder.md): unpacked, everything that the
    command line does with a run folder works on it."""
    return download(run_archive(store, report.id), report.name, ".zip")


@router.get("/reports/{report_id}/files/{form}", response_class=Response, responses=FILES)
def get_file(report: ReportToRead, form: report_files.ReportForm, request: Request) -> Response:
    """A report as a file, as `ragassay report --format` writes it. It is made once, and kept."""
    file = report_file(request, report.id, form)
    return download(file, report.name, report_files.report_suffix(form))


@router.post("/tasks/{task_id}/runs", status_code=201, responses=WRITES, openapi_extra=BINARY)
def post_run(
    task: TaskToWrite,
    name: Annotated[Name, Query(description="of the report, for people")],
    store: InStore,
    file: SentFile,
    key: MadeId,
) -> Report:
    """Makes a report of a run folder that was made elsewhere (`ragassay run -o`): a zip of it,
    without links and with paths within the folder only."""
    return report_files.keep_uploaded_run(store, task.id, name, file, key, repack_apart)


@router.get("/comparisons", response_class=Response, responses=FILES)
def get_comparison(
    store: InStore,
    access: Allowed,
    new: Annotated[str, Query(max_length=100, description="id of a report")],
    old: Annotated[str, Query(max_length=100, description="id of the baseline's report")],
    form: report_files.ComparisonForm = "json",
    force: bool = False,
    trust_offline: bool = False,
    unpaired: bool = False,
) -> Response:
    """Whether a report is better than another, query by query (`unpaired`: by the means of
    different queries, as of two intervals), as `ragassay compare` says it: by metric the
    difference, its interval, p-values and the verdict."""
    names = [report_for("read", key, store, access).name for key in (new, old)]
    options = {"force": force, "trust_offline": trust_offline, "unpaired": unpaired}
    make = report_files.write_report_comparison
    file = make_file(make, store, new, old, form=form, **options)
    return download(file, " against ".join(names), report_files.COMPARISON_SUFFIXES[form])


def report_file(request: Request, report: str, form: report_files.ReportForm) -> bytes:
    """A finished report as a file, which is kept with its view where there are pages."""
    views: Views | None = request.app.state.views
    if views is None:
        return make_file(report_files.write_report, request.app.state.store, report, form=form)
    return views.file(report, form)


def download(content: bytes, name: str, suffix: str) -> Response:
    """The answer that a browser saves as a file (RFC 6266: also under a name in ASCII)."""
    types = {**report_files.MEDIA_TYPES, ".zip": "application/zip"}
    plain, quoted = re.sub(r"[^A-Za-z0-9 ._()-]", "_", name + suffix), quote(name + suffix, safe="")
    saved = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quoted}"
    kind = types.get(suffix, "application/octet-stream")
    return Response(content, 200, {"Content-Disposition": saved}, kind)


Key = Annotated[str | None, Query(max_length=100)]


def job_for(scope: TokenScope, job_id: str, store: InStore, access: Allowed) -> Job:
    """A job that a request may read or write."""
    job = get_job(store, job_id)
    access.check(scope, job.project_id)
    return job


JobToRead = Annotated[Job, Depends(partial(job_for, "read"))]
JobToWrite = Annotated[Job, Depends(partial(job_for, "write"))]


@jobs_router.get("/jobs", responses=READS)
def get_jobs(
    store: InStore,
    access: Allowed,
    project_id: Key = None,
    task_id: Key = None,
    report_id: Key = None,
    status: Status | None = None,
) -> list[Job]:
    """The jobs that all conditions hold for and that the token may read, oldest first."""
    jobs = list_jobs(
        store, project_id=project_id, task_id=task_id, report_id=report_id, status=status
    )
    return [job for job in jobs if access.may("read", job.project_id)]


@jobs_router.get("/jobs/{job_id}", responses=READS)
def get_one_job(job: JobToRead) -> Job:
    """A job, and how far it is."""
    return job


@jobs_router.post("/jobs/{job_id}/cancel", responses=WRITES)
def post_cancel(job: JobToWrite, store: InStore) -> Job:
    """Ends a job. What judges answered until then is kept."""
    return cancel_job(store, job.id)


@jobs_router.post("/jobs/{job_id}/retry", responses=WRITES)
def post_retry(job: JobToWrite, store: InStore) -> Job:
    """Does a job that failed again. What judges answered is not asked again."""
    return retry_job(store, job.id)
