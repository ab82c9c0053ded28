"""Routes of uploaded files: sent, looked at, imported."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from ragassay.client.shapes import FilePreview, Ingested
from ragassay.service.api.route_parts import (
    BINARY,
    WRITES,
    Allowed,
    Body,
    FileName,
    InStore,
    MadeId,
    SentFile,
    TaskToWrite,
    task_for,
)
from ragassay.service.store.imports import import_upload, preview_upload
from ragassay.service.store.uploads import (
    Upload,
    create_upload,
    delete_upload,
    fill_upload,
    get_upload,
)

router = APIRouter(tags=["uploads"])


class ReadingOptions(Body):
    """How a file is read."""

    columns: dict[str, str] = Field(
        default_factory=dict,
        description="field -> column of the file, for names that are not known",
        examples=[{"query": "Frage", "timestamp": "wann"}],
    )
    format: str | None = Field(
        None, description="of the file (docs/formats.md), where it is not to be found out"
    )
    delimiter: str | None = Field(
        None,
        pattern=r"""^[^\w"'\r\n]$""",
        description="what separates the cells of CSV, in place of the one that its header shows",
    )
    zone: str | None = Field(
        None, description="of times that name none; UTC where left out", examples=["Europe/Berlin"]
    )


class Import(ReadingOptions):
    """How a file is read and stored."""

    received_as_time: bool = Field(
        False, description="a record without a time gets that of the import"
    )


def sent_upload(upload_id: str, store: InStore, access: Allowed) -> Upload:
    """An upload that a request may use.

    Raises:
        NotThere: there is none.
        HTTPException: 403.
    """
    upload = get_upload(store, upload_id)
    task_for("write", upload.task_id, store, access)
    return upload


Sent = Annotated[Upload, Depends(sent_upload)]


@router.post("/tasks/{task_id}/uploads", status_code=201, responses=WRITES, openapi_extra=BINARY)
def post_upload(
    task: TaskToWrite, store: InStore, file_name: FileName, file: SentFile, key: MadeId
) -> Upload:
    """Takes a file for a task, in any format that `ragassay run` reads but for TREC runs,
    compressed by gzip or not. Nothing of it is stored as records before it is imported; after a day
    it is deleted."""
    return fill_upload(store, create_upload(store, task.id, file_name, key=key).id, file)


@router.post("/uploads/{upload_id}/preview", responses=WRITES)
def post_preview(
    upload: Sent,
    reading: ReadingOptions,
    store: InStore,
    limit: Annotated[int, Query(ge=1, le=100, description="records to show")] = 10,
) -> FilePreview:
    """Looks at the first records of a file: its format, its columns and what they hold, what is
    missing, and why a record cannot be read."""
    return preview_upload(store, upload.id, limit=limit, **reading.model_dump())


@router.post("/uploads/{upload_id}/import", responses=WRITES)
def post_import(upload: Sent, reading: Import, store: InStore) -> Ingested:
    """Stores the records of a file, all of them or none, and deletes the upload. A record without
    an id is known by its content."""
    return import_upload(store, upload.id, **reading.model_dump())


@router.delete("/uploads/{upload_id}", status_code=204, responses=WRITES)
def delete_one_upload(upload: Sent, store: InStore) -> None:
    """Deletes a file that is not to be imported."""
    delete_upload(store, upload.id)
