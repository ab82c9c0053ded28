"""Routes of records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ragassay.client.shapes import Ingested
from ragassay.formats import Notes
from ragassay.service.api.paging import Cursor, Limit, Page, decoded, encoded
from ragassay.service.api.route_parts import READS, WRITES, Body, InStore, TaskToRead, TaskToWrite
from ragassay.service.store.records import (
    StoredRecord,
    add_records,
    delete_records,
    read_batch,
    read_page,
    read_versions,
)

router = APIRouter(tags=["records"])

MOST_RECORDS = 10_000

Text = Annotated[
    str,
    Query(
        max_length=1_000,
        description="only records whose id, system, query or answer holds this text",
    ),
]
Moment = Annotated[
    float | None, Query(ge=-1e11, le=1e11, description="seconds since 1970, inclusive")
]


class Batch(Body):
    """Records to be stored, all of them or none."""

    records: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MOST_RECORDS,
        description="Each with `id`, `timestamp` (seconds since 1970, or ISO 8601), `user_input`, "
        "`retrieved_context` (a list of chunks, or one string with the task's separator), "
        "`response`, and what the native format has besides (docs/formats.md).",
        examples=[
            [
                {
                    "id": "r1",
                    "timestamp": "2026-11-22T09:30:00Z",
                    "user_input": "How many ECTS has it?",
                    "retrieved_context": ["The programme has 180 ECTS."],
                    "response": "180.",
                }
            ]
        ],
    )


class Deleted(BaseModel):
    """How many records were deleted, versions counted."""

    deleted: int


@router.post("/tasks/{task_id}/records", responses=WRITES)
def post_records(task: TaskToWrite, batch: Batch, store: InStore) -> Ingested:
    """Stores records. Sent again unchanged, a record changes nothing; changed, it becomes a new
    version. What was left out of them is said in `notes`."""
    notes = Notes()
    done = add_records(store, task.id, read_batch(batch.records, task.options, notes=notes))
    return done.model_copy(update={"notes": list(notes)})


@router.get("/tasks/{task_id}/records", responses=READS)
def get_records(
    task: TaskToRead,
    store: InStore,
    cursor: Cursor = None,
    limit: Limit = 50,
    from_timestamp: Moment = None,
    to_timestamp: Moment = None,
    text: Text = "",
) -> Page[StoredRecord]:
    """The records of a task, the youngest first."""
    records, after = read_page(
        store, task.id, after=decoded(cursor), limit=limit, start=from_timestamp,
        end=to_timestamp, text=text,
    )  # fmt: skip
    return Page(items=records, next=encoded(after))


@router.get("/tasks/{task_id}/records/{record_id:path}", responses=READS)
def get_record(task: TaskToRead, record_id: str, store: InStore) -> list[StoredRecord]:
    """All versions of a record, the youngest first."""
    return read_versions(store, task.id, record_id)


@router.delete("/tasks/{task_id}/records/{record_id:path}", responses=WRITES)
def delete_record(task: TaskToWrite, record_id: str, store: InStore) -> Deleted:
    """Deletes a record with its versions."""
    return Deleted(deleted=delete_records(store, task.id, [record_id]))
