"""The routes that ML cube's published client asks (reference: the protocol, recorded), and errors
in the form that it reads: ``{"errorCode": ..., "errorMessage": ...}``."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from ragassay.base.errors import RagassayError, UsageError, mistakes
from ragassay.client.service_shapes import Status
from ragassay.service.api.problems import DEFECT, RETRY_S, sentence_of
from ragassay.service.api.report_routes import report_file
from ragassay.service.api.route_parts import (
    BINARY,
    Allowed,
    InStore,
    ProjectToRead,
    ReportToRead,
    TaskToRead,
    TaskToWrite,
    task_for,
)
from ragassay.service.mlcube_wire.wire_data import TEMPLATE, read_table, samples_of
from ragassay.service.operation.service_log import log_problem
from ragassay.service.store import projects, uploads
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Job, add_job, list_jobs
from ragassay.service.store.projects import Task, TaskOptions
from ragassay.service.store.records import add_records
from ragassay.service.store.reports import create_report, list_reports
from ragassay.service.store.schema import uploads as uploads_table
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable

router = APIRouter(prefix="/sdk/v1", include_in_schema=False)
"""What a route returns is the reference's: its path says what it is asked for."""

EXPIRES_S = 3_600.0


# The bodies of requests; what the client sends besides is left alone.


class _Source(BaseModel):
    storing_process_id: str


class _Table(BaseModel):
    source: _Source


class _Data(BaseModel):
    task_id: str
    inputs: _Table | None = None
    metadata: _Table | None = None
    target: _Table | None = None
    predictions: list[tuple[str, _Table]] | None = None


Sent = Annotated[str, Body()]
"""A text of the body's JSON."""
Time = Annotated[float, Body()]


# --- projects and tasks -------------------------------------------------------------------------


@router.post("/project")
def _post_project(
    store: InStore, access: Allowed, name: Sent, description: Annotated[str | None, Body()] = None
) -> str:
    access.check("write", None)
    return projects.create_project(store, name, description or "").id


@router.get("/projects")
def _get_projects(store: InStore, access: Allowed) -> list[dict[str, Any]]:
    seen = (project for project in projects.list_projects(store) if access.may("read", project.id))
    return [{"project_id": project.id, "name": project.name} for project in seen]


@router.get("/project/{project_id}")
def _get_one_project(project_id: ProjectToRead, store: InStore) -> dict[str, Any]:
    return {"project_id": project_id, "name": projects.get_project(store, project_id).name}


@router.post("/task")
def _post_task(
    store: InStore,
    access: Allowed,
    project_id: Sent,
    name: Sent,
    task_type: Sent,
    rag_contexts_separator: Annotated[str | None, Body()] = None,
    llm_default_answer: Annotated[str | None, Body()] = None,
    multi_turn: Annotated[bool | None, Body()] = None,
    text_language: Annotated[str | None, Body()] = None,
) -> str:
    access.check("write", project_id)
    if task_type.casefold() != "rag":
        raise UsageError(
            f"ragassay evaluates RAG systems: a task is of type 'rag', not {task_type!r}."
        )
    facts = {"separator": rag_contexts_separator, "default_answer": llm_default_answer}
    options = TaskOptions(**facts, multi_turn=bool(multi_turn), language=text_language)
    return projects.create_task(store, project_id, name, options).id


@router.get("/tasks/{project_id}")
def _get_tasks(project_id: ProjectToRead, store: InStore) -> list[dict[str, Any]]:
    return [_shown_task(task) for task in projects.list_tasks(store, project_id)]


@router.get("/task/{task_id}")
def _get_one_task(task: TaskToRead) -> dict[str, Any]:
    return _shown_task(task)


def _shown_task(task: Task) -> dict[str, Any]:
    own = {"task_id": task.id, "name": task.name, "type": "rag"}
    return {**own, "cost_info": None, "optional_target": True, "monitoring_status": []}


# --- schemas and models -------------------------------------------------------------------------


@router.post("/data-schema")
def _post_schema(
    store: InStore, access: Allowed, task_id: Sent, data_schema: Annotated[dict[str, Any], Body()]
) -> None:
    task = task_for("write", task_id, store, access)
    columns = data_schema.get("columns")
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise UsageError("The data schema has no list of columns.")
    if not all(isinstance(column.get("name"), str) for column in columns):
        raise UsageError("A column of the data schema has no name.")
    if "id" not in [column.get("role") for column in columns]:
        raise UsageError("The data schema has no column with the role 'id'.")
    projects.change_task(store, task.id, TaskOptions(data_schema=columns))


@router.get("/data-schema/{task_id}")
def _get_schema(task: TaskToRead) -> dict[str, Any]:
    if task.options.data_schema is None:
        raise NotThere("data schema of the task", task.id)
    return {"columns": task.options.data_schema}


@router.get("/data-schema-template/{task_id}")
def _get_template(task: TaskToRead) -> dict[str, Any]:
    return {"columns": [{"is_nullable": False, **record} for record in TEMPLATE]}


@router.post("/model")
def _post_model(store: InStore, access: Allowed, task_id: Sent, name: Sent, version: Sent) -> str:
    task_for("write", task_id, store, access)
    return projects.create_model(store, task_id, name, version).id


@router.get("/models/{task_id}")
def _get_models(task: TaskToRead, store: InStore) -> list[dict[str, Any]]:
    return [_shown_model(model) for model in projects.list_models(store, task.id)]


@router.get("/model/{model_id}")
def _get_one_model(model_id: str, store: InStore, access: Allowed) -> dict[str, Any]:
    model = projects.get_model(store, model_id)
    task_for("read", model.task_id, store, access)
    return _shown_model(model)


def _shown_model(model: projects.Model) -> dict[str, Any]:
    same = model.model_dump(include={"task_id", "name", "version"})
    own = {"model_id": model.id, "retraining_cost": 0.0, "creation_datetime": _iso(model.created)}
    return own | same


# --- data ---------------------------------------------------------------------------------------


@router.get("/data/presigned-url")
def _get_place(
    request: Request,
    store: InStore,
    task: TaskToWrite,
    file_name: str,
    file_type: str,
    file_checksum: str = "",
) -> dict[str, Any]:
    if file_type not in ("csv", "json", "parquet"):
        raise UsageError(f"A file is csv, json or parquet, not {file_type!r}.")
    secret = secrets.token_urlsafe(24)
    options = {"file_type": file_type, "secret": secret, "sha256": file_checksum}
    key = uploads.create_upload(store, task.id, file_name, options).id
    url = str(request.base_url).rstrip("/") + f"/sdk/v1/upload/{key}"
    return {
        "storing_process_id": key,
        "presigned_url": {"url": url, "fields": {"secret": secret}},
        "expiration_time": _iso(time.time() + EXPIRES_S),
    }


@router.post("/upload/{upload_id}", status_code=204, openapi_extra=BINARY)
async def _post_file(upload_id: str, request: Request, store: InStore) -> Response:
    """Takes a file at its place, whose secret is the token, if it has the announced checksum."""
    await run_in_threadpool(uploads.get_upload, store, upload_id)  # before anything is read
    async with request.form(max_files=1, max_fields=2) as form:
        file, secret = form.get("file"), form.get("secret")
        if not isinstance(file, UploadFile) or not isinstance(secret, str):
            raise UsageError("Send a form with 'secret' and 'file'.")
        await run_in_threadpool(uploads.fill_upload, store, upload_id, file.file, secret=secret)
    return Response(status_code=204)


@router.post("/data/historical")
@router.post("/data/production")
def _post_data(new: _Data, store: InStore, access: Allowed) -> str:
    """Stores what was uploaded; the id of a job, which is done already."""
    task = task_for("write", new.task_id, store, access)
    if new.inputs is None:
        raise UsageError("There are no inputs: upload the table with ids, queries and contexts.")
    if new.target is not None:
        raise UsageError("ragassay does not store targets. Send inputs, metadata and predictions.")
    inputs, metadata = (_rows(store, task, table) for table in (new.inputs, new.metadata))
    predictions = {}
    for key, source in new.predictions or []:
        model = projects.get_model(store, key)
        if model.task_id != task.id:
            raise NotThere("model", key)
        predictions[f"{model.name}@{model.version}"] = _rows(store, task, source)
    columns = task.options.data_schema or TEMPLATE
    done = add_records(store, task.id, samples_of(task, columns, inputs, metadata, predictions))
    for part in (new.inputs, new.metadata, *(table for _, table in new.predictions or [])):
        if part is not None:
            store.remove(uploads_table, part.source.storing_process_id)
    facts = {"status": "completed", "arguments": done.model_dump()}
    with store.writing() as connection:
        return add_job(connection, "ingest", task.id, **facts)


def _rows(store: Store, task: Task, table: _Table | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    key = table.source.storing_process_id
    if uploads.get_upload(store, key).task_id != task.id:
        raise NotThere("upload", key)
    with uploads.upload_on_disk(store, key) as (upload, path):
        return read_table(path, str(upload.options.get("file_type")))


# --- jobs and reports ---------------------------------------------------------------------------


@router.get("/job")
def _get_jobs(
    store: InStore,
    access: Allowed,
    job_id: str | None = None,
    task_id: str | None = None,
    project_id: str | None = None,
    status: Status | None = None,
) -> list[dict[str, Any]]:
    jobs = list_jobs(store, key=job_id, task_id=task_id, project_id=project_id)
    shown = [_shown_job(job) for job in jobs if access.may("read", job.project_id)]
    return [record for record in shown if status in (None, record["status"])]


def _state(status: Status, headline: Mapping[str, Any] | None) -> str:
    """The state of a report, or of its job, as the published client names it. It has no incomplete
    ones: one with any score is completed, and its error says what is missing."""
    if status != "incomplete":
        return status
    has_scores = any(value["n_scored"] for value in (headline or {}).values())
    return "completed" if has_scores else "error"


def _shown_job(job: Job) -> dict[str, Any]:
    same = job.model_dump(include={"project_id", "project_name", "task_id", "task_name", "error"})
    group = "rag_evaluation" if job.kind == "report" else "data"
    own = {"job_id": job.id, "job_group": group, "model_id": None, "model_name": None}
    return {**own, **same, "status": _state(job.status, job.headline)}


@router.post("/rag-evaluation")
def _post_evaluation(
    store: InStore,
    access: Allowed,
    task_id: Sent,
    report_name: Sent,
    from_timestamp: Time,
    to_timestamp: Time,
) -> str:
    task_for("write", task_id, store, access)
    return create_report(store, task_id, report_name, from_timestamp, to_timestamp)[1].id


@router.get("/task/{task_id}/rag-evaluation")
def _get_evaluations(task: TaskToRead, store: InStore) -> list[dict[str, Any]]:
    return [
        {
            "id": report.id,
            "creation_datetime": _iso(report.created),
            "name": report.name,
            "status": _state(report.status, report.headline),
            "from_datetime": _iso(report.from_timestamp),
            "to_datetime": _iso(report.to_timestamp),
        }
        for report in list_reports(store, task.id)
        if report.from_timestamp is not None
    ]


@router.get("/rag-evaluation/{report_id}/export")
def _get_export(report: ReportToRead, request: Request) -> Response:
    """A report as an Excel workbook, in one answer: the client asks once."""
    file = report_file(request, report.id, "xlsx")
    return Response(file, media_type="application/octet-stream")


@router.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def _nothing(path: str) -> Response:
    """What the client can ask beyond this."""
    why = "it evaluates RAG systems, and this belongs to other parts of ML cube's platform"
    return wire_error(404, "NOT_SUPPORTED", f"ragassay has no /{path}: {why}.")


def _iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()


# --- errors -------------------------------------------------------------------------------------

_CODES = {NotThere: (404, "NOT_FOUND"), Conflict: (409, "CONFLICT")}


def wire_problem(request: Request, error: Exception) -> JSONResponse:
    """The answer for an error of any kind."""
    if isinstance(error, HTTPException):
        return wire_error(error.status_code, "REFUSED", sentence_of(error))
    if isinstance(error, RequestValidationError):
        (_, *place), mistake = mistakes(error)[0]
        field = f"{'.'.join(place)}: " if place else ""
        return wire_error(422, "INVALID", f"{field}{mistake}")
    if isinstance(error, RagassayError) and not isinstance(error, StoreUnavailable):
        return wire_error(*_CODES.get(type(error), (400, "INVALID")), str(error))
    log_problem(request.scope, error)
    if isinstance(error, StoreUnavailable):
        return wire_error(503, "UNAVAILABLE", "The store cannot be used now. Try again.")
    return wire_error(500, "DEFECT", DEFECT)


def wire_error(status: int, code: str, message: str) -> JSONResponse:
    """The answer for an error: HTTP's status, a code for programs, a message for people."""
    headers = {"Retry-After": RETRY_S} if status == 503 else None
    return JSONResponse({"errorCode": code, "errorMessage": message}, status, headers)
