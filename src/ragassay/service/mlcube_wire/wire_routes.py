"""The routes that ML cube's published client asks (reference: the protocol, recorded)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from ragassay.base.errors import UsageError
from ragassay.client.service_shapes import Status
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
from ragassay.service.mlcube_wire.wire_errors import wire_error
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Job, add_job, list_jobs
from ragassay.service.store.projects import (
    Task,
    TaskOptions,
    change_task,
    create_model,
    create_project,
    create_task,
    get_model,
    get_project,
    list_models,
    list_projects,
    list_tasks,
)
from ragassay.service.store.records import add_records
from ragassay.service.store.reports import create_report, list_reports
from ragassay.service.store.schema import uploads
from ragassay.service.store.store_errors import NotThere
from ragassay.service.store.uploads import (
    create_upload,
    fill_upload,
    get_upload,
    upload_on_disk,
)

router = APIRouter(prefix="/sdk/v1", include_in_schema=False)
"""What a route returns is the reference's: its path says what it is asked for."""

EXPIRES_S = 3_600.0


# The bodies of requests; what the client sends besides is left alone.


class _NewProject(BaseModel):
    name: str
    description: str | None = None


class _NewTask(BaseModel):
    project_id: str
    name: str
    task_type: str
    rag_contexts_separator: str | None = None
    llm_default_answer: str | None = None
    multi_turn: bool | None = None
    text_language: str | None = None


class _Schema(BaseModel):
    task_id: str
    data_schema: dict[str, Any]


class _NewModel(BaseModel):
    task_id: str
    name: str
    version: str


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


class _Evaluation(BaseModel):
    task_id: str
    report_name: str
    from_timestamp: float
    to_timestamp: float


# --- projects and tasks -------------------------------------------------------------------------


@router.post("/project")
def _post_project(new: _NewProject, store: InStore, access: Allowed) -> str:
    access.check("write", None)
    return create_project(store, new.name, new.description or "").id


@router.get("/projects")
def _get_projects(store: InStore, access: Allowed) -> list[dict[str, Any]]:
    projects = [one for one in list_projects(store) if access.may("read", one.id)]
    return [{"project_id": one.id, "name": one.name} for one in projects]


@router.get("/project/{project_id}")
def _get_one_project(project_id: ProjectToRead, store: InStore) -> dict[str, Any]:
    return {"project_id": project_id, "name": get_project(store, project_id).name}


@router.post("/task")
def _post_task(new: _NewTask, store: InStore, access: Allowed) -> str:
    access.check("write", new.project_id)
    if new.task_type.casefold() != "rag":
        raise UsageError(
            f"ragassay evaluates RAG systems: a task is of type 'rag', not {new.task_type!r}."
        )
    options = TaskOptions(
        separator=new.rag_contexts_separator,
        default_answer=new.llm_default_answer,
        multi_turn=bool(new.multi_turn),
        language=new.text_language,
    )
    return create_task(store, new.project_id, new.name, options).id


@router.get("/tasks/{project_id}")
def _get_tasks(project_id: ProjectToRead, store: InStore) -> list[dict[str, Any]]:
    return [_shown_task(one) for one in list_tasks(store, project_id)]


@router.get("/task/{task_id}")
def _get_one_task(task: TaskToRead) -> dict[str, Any]:
    return _shown_task(task)


def _shown_task(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.id,
        "name": task.name,
        "type": "rag",
        "cost_info": None,
        "optional_target": True,
        "monitoring_status": [],
    }


# --- schemas and models -------------------------------------------------------------------------


@router.post("/data-schema")
def _post_schema(new: _Schema, store: InStore, access: Allowed) -> None:
    task = task_for("write", new.task_id, store, access)
    columns = new.data_schema.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, dict) for one in columns):
        raise UsageError("The data schema has no list of columns.")
    if not all(isinstance(one.get("name"), str) for one in columns):
        raise UsageError("A column of the data schema has no name.")
    if not any(one.get("role") == "id" for one in columns):
        raise UsageError("The data schema has no column with the role 'id'.")
    change_task(store, task.id, TaskOptions(data_schema=columns))


@router.get("/data-schema/{task_id}")
def _get_schema(task: TaskToRead) -> dict[str, Any]:
    if task.options.data_schema is None:
        raise NotThere("data schema of the task", task.id)
    return {"columns": task.options.data_schema}


@router.get("/data-schema-template/{task_id}")
def _get_template(task: TaskToRead) -> dict[str, Any]:
    return {"columns": [{"is_nullable": False, **one} for one in TEMPLATE]}


@router.post("/model")
def _post_model(new: _NewModel, store: InStore, access: Allowed) -> str:
    task_for("write", new.task_id, store, access)
    return create_model(store, new.task_id, new.name, new.version).id


@router.get("/models/{task_id}")
def _get_models(task: TaskToRead, store: InStore) -> list[dict[str, Any]]:
    return [_shown_model(one) for one in list_models(store, task.id)]


@router.get("/model/{model_id}")
def _get_one_model(model_id: str, store: InStore, access: Allowed) -> dict[str, Any]:
    model = get_model(store, model_id)
    task_for("read", model.task_id, store, access)
    return _shown_model(model)


def _shown_model(model: Any) -> dict[str, Any]:
    return {
        "model_id": model.id,
        "task_id": model.task_id,
        "name": model.name,
        "version": model.version,
        "retraining_cost": 0.0,
        "creation_datetime": _iso(model.created),
    }


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
    key = create_upload(store, task.id, file_name, options).id
    url = str(request.base_url).rstrip("/") + f"/sdk/v1/upload/{key}"
    return {
        "storing_process_id": key,
        "presigned_url": {"url": url, "fields": {"secret": secret}},
        "expiration_time": _iso(time.time() + EXPIRES_S),
    }


@router.post("/upload/{upload_id}", status_code=204, openapi_extra=BINARY)
async def _post_file(upload_id: str, request: Request, store: InStore) -> Response:
    """Takes a file at its place. The secret of the place stands for a token; the content must have
    the checksum that was announced."""
    await run_in_threadpool(get_upload, store, upload_id)  # before anything is read
    async with request.form(max_files=1, max_fields=2) as form:
        file, secret = form.get("file"), form.get("secret")
        if not isinstance(file, UploadFile) or not isinstance(secret, str):
            raise UsageError("A form with 'secret' and 'file' is sent here.")
        await run_in_threadpool(fill_upload, store, upload_id, file.file, secret=secret)
    return Response(status_code=204)


@router.post("/data/historical")
@router.post("/data/production")
def _post_data(new: _Data, store: InStore, access: Allowed) -> str:
    """Stores what was uploaded; the id of a job, which is done already."""
    task = task_for("write", new.task_id, store, access)
    if new.inputs is None:
        raise UsageError("There are no inputs: upload the table with ids, queries and contexts.")
    if new.target is not None:
        raise UsageError("ragassay keeps no targets: send inputs, metadata and predictions.")
    inputs = _rows(store, task, new.inputs)
    metadata = [] if new.metadata is None else _rows(store, task, new.metadata)
    predictions = {}
    for key, source in new.predictions or []:
        model = get_model(store, key)
        if model.task_id != task.id:
            raise NotThere("model", key)
        predictions[f"{model.name}@{model.version}"] = _rows(store, task, source)
    columns = task.options.data_schema or TEMPLATE
    done = add_records(store, task.id, samples_of(task, columns, inputs, metadata, predictions))
    for part in (new.inputs, new.metadata, *(one for _, one in new.predictions or [])):
        if part is not None:
            store.remove(uploads, part.source.storing_process_id)
    facts = done.model_dump()
    with store.writing() as connection:
        return add_job(connection, "ingest", task.id, status="completed", arguments=facts)


def _rows(store: Store, task: Task, table: _Table) -> list[dict[str, Any]]:
    key = table.source.storing_process_id
    if get_upload(store, key).task_id != task.id:
        raise NotThere("upload", key)
    with upload_on_disk(store, key) as (upload, path):
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
    shown = [_shown_job(one) for one in jobs if access.may("read", one.project_id)]
    return [one for one in shown if status in (None, one["status"])]


def _state(status: Status, headline: Mapping[str, Any] | None) -> str:
    """The state of a report, or of its job, as the published client names it. It has no incomplete
    ones: one with any score is completed, and its error says what is missing."""
    if status != "incomplete":
        return status
    has_scores = any(one["n_scored"] for one in (headline or {}).values())
    return "completed" if has_scores else "error"


def _shown_job(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "job_group": "rag_evaluation" if job.kind == "report" else "data",
        "project_id": job.project_id,
        "project_name": job.project_name,
        "task_id": job.task_id,
        "task_name": job.task_name,
        "model_id": None,
        "model_name": None,
        "status": _state(job.status, job.headline),
        "error": job.error,
    }


@router.post("/rag-evaluation")
def _post_evaluation(new: _Evaluation, store: InStore, access: Allowed) -> str:
    task_for("write", new.task_id, store, access)
    _, job = create_report(
        store, new.task_id, new.report_name, new.from_timestamp, new.to_timestamp
    )
    return job.id


@router.get("/task/{task_id}/rag-evaluation")
def _get_evaluations(task: TaskToRead, store: InStore) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "creation_datetime": _iso(one.created),
            "name": one.name,
            "status": _state(one.status, one.headline),
            "from_datetime": _iso(one.from_timestamp),
            "to_datetime": _iso(one.to_timestamp),
        }
        for one in list_reports(store, task.id)
        if one.from_timestamp is not None
    ]


@router.get("/rag-evaluation/{report_id}/export")
def _get_export(report: ReportToRead, request: Request) -> Response:
    """A report as an Excel workbook, in one answer: the client asks once."""
    file = report_file(request, report.id, "xlsx", waits=True)
    return Response(file, media_type="application/octet-stream")


@router.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def _nothing(path: str) -> Response:
    """What the client can ask beyond this."""
    return wire_error(
        404,
        "NOT_SUPPORTED",
        f"ragassay has no /{path}: it evaluates RAG systems, and this belongs to other parts of ML "
        "cube's platform.",
    )


def _iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()
