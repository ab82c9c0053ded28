"""Routes of uploaded files: sent, looked at, imported."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from ragassay.service.api.access import Access
from ragassay.service.api.route_parts import (
    BINARY,
    WRITES,
    Allowed,
    Body,
    FileName,
    InStore,
    SentFile,
    task_for,
)
from ragassay.service.store import (
    FilePreview,
    Ingested,
    Store,
    Upload,
    create_upload,
    delete_upload,
    fill_upload,
    get_upload,
    import_upload,
    preview_upload,
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


class Import(ReadingOptions):
    """How a file is read and stored."""

    received_as_time: bool = Field(
        False, description="a record without a time gets that of the import"
    )


@router.post("/tasks/{task_id}/uploads", status_code=201, responses=WRITES, openapi_extra=BINARY)
def post_upload(
    task_id: str, store: InStore, access: Allowed, file_name: FileName, file: SentFile
) -> Upload:
    """Takes a file for a task, in any format that `ragassay run` reads but for TREC runs,
    compressed by gzip or not. Nothing of it is stored as records before it is imported; after a day
    it is deleted."""
    task_for(store, access, "write", task_id)
    return fill_upload(store, create_upload(store, task_id, file_name).id, file)


@router.post("/uploads/{upload_id}/preview", responses=WRITES)
def post_preview(
    upload_id: str,
    reading: ReadingOptions,
    store: InStore,
    access: Allowed,
    limit: Annotated[int, Query(ge=1, le=100, description="records to show")] = 10,
) -> FilePreview:
    """Looks at the first records of a file: its format, its columns and what they hold, what is
    missing, and why a record cannot be read."""
    _check(store, access, upload_id)
    return preview_upload(
        store, upload_id, columns=reading.columns, format=reading.format, limit=limit
    )


@router.post("/uploads/{upload_id}/import", responses=WRITES)
def post_import(upload_id: str, how: Import, store: InStore, access: Allowed) -> Ingested:
    """Stores the records of a file, all of them or none, and deletes the upload. A record without
    an id is known by its content."""
    _check(store, access, upload_id)
    return import_upload(
        store,
        upload_id,
        columns=how.columns,
        format=how.format,
        received_as_time=how.received_as_time,
    )


@router.delete("/uploads/{upload_id}", status_code=204, responses=WRITES)
def delete_one_upload(upload_id: str, store: InStore, access: Allowed) -> None:
    """Deletes a file that is not to be imported."""
    _check(store, access, upload_id)
    delete_upload(store, upload_id)


def _check(store: Store, access: Access, key: str) -> None:
    task_for(store, access, "write", get_upload(store, key).task_id)
