"""Routes of projects and tasks, of records, and of uploaded files: sent, looked at, imported."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from ragassay.base.errors import InputError
from ragassay.client.service_shapes import FilePreview, Ingested, Line, Name, Project
from ragassay.formats import Notes
from ragassay.service.api.route_parts import (
    BINARY,
    READS,
    WRITES,
    Allowed,
    Body,
    FileName,
    InStore,
    MadeId,
    ProjectToRead,
    ProjectToWrite,
    SentFile,
    TaskToRead,
    TaskToWrite,
    task_for,
)
from ragassay.service.store import projects, records, schema, uploads
from ragassay.service.store.projects import Task, TaskOptions
from ragassay.service.store.records import StoredRecord
from ragassay.service.store.uploads import Upload

projects_router = APIRouter(tags=["projects and tasks"])
records_router = APIRouter(tags=["records"])
uploads_router = APIRouter(tags=["uploads"])
routers = (projects_router, records_router, uploads_router)

MOST_RECORDS = 10_000

_OF_PAGE = Query(ge=1, le=500, description="items of the page")
_CURSOR = Query(max_length=500, description="`next` of the previous page; none for the first")
_TEXT = Query(
    max_length=1_000, description="only records whose id, system, query or answer holds this text"
)
_TIME = Query(ge=-1e11, le=1e11, description="seconds since 1970, inclusive")


class NewProject(Body):
    """A project to be made."""

    name: Name
    description: Line = Field("", max_length=10_000)


class NewTask(Body):
    """A task to be made."""

    name: Name
    kind: Literal["rag"] = "rag"
    options: TaskOptions = TaskOptions()


@projects_router.get("/projects", responses=READS)
def get_projects(store: InStore, access: Allowed) -> list[Project]:
    """The projects that the token may read, oldest first."""
    return [project for project in projects.list_projects(store) if access.may("read", project.id)]


@projects_router.post("/projects", status_code=201, responses=WRITES)
def post_project(new: NewProject, store: InStore, access: Allowed, key: MadeId) -> Project:
    """Makes a project."""
    access.check("write", None)
    return projects.create_project(store, new.name, new.description, key)


@projects_router.get("/projects/{project_id}", responses=READS)
def get_one_project(project_id: ProjectToRead, store: InStore) -> Project:
    """A project."""
    return projects.get_project(store, project_id)


@projects_router.delete("/projects/{project_id}", status_code=204, responses=WRITES)
def delete_one_project(project_id: ProjectToWrite, store: InStore) -> None:
    """Deletes a project with its tasks, records and reports."""
    store.remove(schema.projects, project_id)


@projects_router.get("/projects/{project_id}/tasks", responses=READS)
def get_tasks(project_id: ProjectToRead, store: InStore) -> list[Task]:
    """The tasks of a project, oldest first."""
    return projects.list_tasks(store, project_id)


@projects_router.post("/projects/{project_id}/tasks", status_code=201, responses=WRITES)
def post_task(project_id: ProjectToWrite, new: NewTask, store: InStore, key: MadeId) -> Task:
    """Makes a task in a project."""
    return projects.create_task(store, project_id, new.name, new.options, key)


@projects_router.get("/tasks/{task_id}", responses=READS)
def get_one_task(task: TaskToRead) -> Task:
    """A task."""
    return task


@projects_router.put("/tasks/{task_id}/options", responses=WRITES)
def put_task_options(task: TaskToWrite, options: TaskOptions, store: InStore) -> Task:
    """Changes options of a task: those that are not named stay as they are, and null takes one
    away. What is stored stays as it is."""
    return projects.change_task(store, task.id, options)


@projects_router.delete("/tasks/{task_id}", status_code=204, responses=WRITES)
def delete_one_task(task: TaskToWrite, store: InStore) -> None:
    """Deletes a task with its records and reports."""
    store.remove(schema.tasks, task.id)


_EXAMPLE = {
    "id": "r1", "timestamp": "2026-11-22T09:30:00Z", "user_input": "How many ECTS has it?",
    "retrieved_context": ["The programme has 180 ECTS."], "response": "180.",
}  # fmt: skip


class Batch(Body):
    """Records to be stored, all of them or none."""

    records: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MOST_RECORDS,
        description="Each with `id`, `timestamp` (seconds since 1970, or ISO 8601), `user_input`, "
        "`retrieved_context` (a list of chunks, or one string with the task's separator), "
        "`response`, and what the native format has besides (docs/formats.md).",
        examples=[[_EXAMPLE]],
    )


class Page(BaseModel):
    """A part of a list of records."""

    items: list[StoredRecord]
    next: str | None = Field(None, description="`cursor` of the next page; null after the last one")


class Deleted(BaseModel):
    """How many records were deleted, versions counted."""

    deleted: int


@records_router.post("/tasks/{task_id}/records", responses=WRITES)
def post_records(task: TaskToWrite, batch: Batch, store: InStore) -> Ingested:
    """Stores records. Sent again unchanged, a record changes nothing; changed, it becomes a new
    version. What was left out of them is said in `notes`."""
    notes = Notes()
    done = records.add_records(
        store, task.id, records.read_batch(batch.records, task.options, notes=notes)
    )
    return done.model_copy(update={"notes": list(notes)})


@records_router.get("/tasks/{task_id}/records", responses=READS)
def get_records(
    task: TaskToRead,
    store: InStore,
    cursor: Annotated[str | None, _CURSOR] = None,
    limit: Annotated[int, _OF_PAGE] = 50,
    from_timestamp: Annotated[float | None, _TIME] = None,
    to_timestamp: Annotated[float | None, _TIME] = None,
    text: Annotated[str, _TEXT] = "",
) -> Page:
    """The records of a task, the youngest first."""
    items, after = records.read_page(
        store, task.id, after=decoded(cursor), limit=limit, start=from_timestamp,
        end=to_timestamp, text=text,
    )  # fmt: skip
    return Page(items=items, next=encoded(after))


@records_router.get("/tasks/{task_id}/records/{record_id:path}", responses=READS)
def get_record(task: TaskToRead, record_id: str, store: InStore) -> list[StoredRecord]:
    """All versions of a record, the youngest first."""
    return records.read_versions(store, task.id, record_id)


@records_router.delete("/tasks/{task_id}/records/{record_id:path}", responses=WRITES)
def delete_record(task: TaskToWrite, record_id: str, store: InStore) -> Deleted:
    """Deletes a record with its versions."""
    return Deleted(deleted=records.delete_records(store, task.id, [record_id]))


class ReadingOptions(Body):
    """How a file is read."""

    columns: dict[str, str] = Field(
        default_factory=dict,
        description="field -> column of the file, for columns that are not recognised",
        examples=[{"query": "Frage", "timestamp": "wann"}],
    )
    format: str | None = Field(
        None, description="format of the file (docs/formats.md), if it cannot be recognised"
    )
    delimiter: str | None = Field(
        None,
        pattern=r"""^[^\w"'\r\n]$""",
        description="separator of the columns of a CSV, if the header misleads",
    )
    zone: str | None = Field(
        None,
        description="time zone of times without a zone; UTC by default",
        examples=["Europe/Berlin"],
    )


class Import(ReadingOptions):
    """How a file is read and stored."""

    received_as_time: bool = Field(
        False, description="a record without a time gets the time of the import"
    )


def sent_upload(upload_id: str, store: InStore, access: Allowed) -> Upload:
    """An upload that a request may use."""
    upload = uploads.get_upload(store, upload_id)
    task_for("write", upload.task_id, store, access)
    return upload


Sent = Annotated[Upload, Depends(sent_upload)]


@uploads_router.post(
    "/tasks/{task_id}/uploads", status_code=201, responses=WRITES, openapi_extra=BINARY
)
def post_upload(
    task: TaskToWrite, store: InStore, file_name: FileName, file: SentFile, key: MadeId
) -> Upload:
    """Takes a file for a task, in any format that `ragassay run` reads but for TREC runs,
    compressed by gzip or not. Nothing of it is stored as records before it is imported; after a day
    it is deleted."""
    return uploads.fill_upload(
        store, uploads.create_upload(store, task.id, file_name, key=key).id, file
    )


@uploads_router.post("/uploads/{upload_id}/preview", responses=WRITES)
def post_preview(
    upload: Sent,
    reading: ReadingOptions,
    store: InStore,
    limit: Annotated[int, Query(ge=1, le=100, description="records to show")] = 10,
) -> FilePreview:
    """Looks at the first records of a file: its format, its columns and what they hold, what is
    missing, and why a record cannot be read."""
    return uploads.preview_upload(store, upload.id, limit=limit, **reading.model_dump())


@uploads_router.post("/uploads/{upload_id}/import", responses=WRITES)
def post_import(upload: Sent, reading: Import, store: InStore) -> Ingested:
    """Stores the records of a file, all of them or none, and deletes the upload. A record without
    an id is known by its content."""
    return uploads.import_upload(store, upload.id, **reading.model_dump())


@uploads_router.delete("/uploads/{upload_id}", status_code=204, responses=WRITES)
def delete_one_upload(upload: Sent, store: InStore) -> None:
    """Deletes a file that is not to be imported."""
    store.remove(schema.uploads, upload.id)


def encoded(place: tuple[Any, ...] | None) -> str | None:
    """The cursor for a place in a list."""
    return None if place is None else "_".join(map(str, place))


def decoded(cursor: str | None) -> tuple[float, int] | None:
    """The place that a cursor means."""
    if cursor is None:
        return None
    try:
        moment, number = cursor.split("_")
        return float(moment), int(number[:18])  # no table counts further
    except ValueError as error:
        hint = "Take `next` of the page before."
        raise InputError("is not a cursor", field="cursor", hint=hint) from error
