"""What the routes share: the store, the access of a request, and names in requests."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from typing import IO, Annotated, Any

from fastapi import Depends, Header, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ragassay.client.service_shapes import Name, Report
from ragassay.service.api.access import Access, access_of
from ragassay.service.api.problems import documented
from ragassay.service.store.database import Store, keyed_id
from ragassay.service.store.projects import Task, get_task
from ragassay.service.store.reports import get_report
from ragassay.service.store.tokens import TokenScope


class Body(BaseModel):
    """The body of a request; a key that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


READS = documented(401, 403, 404, 422, 503)
"""The problems of a route that reads."""
WRITES = documented(400, 401, 403, 404, 409, 413, 422, 503)
"""The problems of a route that writes."""


def store_of(request: Request) -> Store:
    """The store of the application."""
    return request.app.state.store  # type: ignore[no-any-return]


InStore = Annotated[Store, Depends(store_of)]
Allowed = Annotated[Access, Depends(access_of)]


async def made_id(
    request: Request,
    store: InStore,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=8,
            max_length=200,
            description="a text of its own for each request, such as a UUID: where it was sent "
            "before to the same address, nothing is made again; with another body it is refused",
        ),
    ] = None,
) -> str | None:
    """The id of what a request makes: the same where the same request is sent again."""
    if idempotency_key is None:
        return None
    digest = getattr(request.state, "file_digest", None) or await request.body()
    content = request.url.query.encode() + b"\0" + digest
    return await run_in_threadpool(keyed_id, store, request.url.path, idempotency_key, content)


MadeId = Annotated[str | None, Depends(made_id)]
"""The id of what a request makes. Stands after `SentFile` in a signature."""

FileName = Annotated[Name, Query(description="as the client calls the file")]

BINARY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""What the description says of a request whose body is a file."""


async def sent_file(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body of a request as a file without a name, which ends with the request."""
    digest = hashlib.blake2b()
    with tempfile.TemporaryFile() as file:
        try:
            async for piece in request.stream():
                file.write(piece)
                digest.update(piece)
        except ClientDisconnect as error:
            raise HTTPException(400, "The file ends before its end was sent") from error
        file.seek(0)
        request.state.file_digest = digest.digest()
        yield file


SentFile = Annotated[Any, Depends(sent_file)]
"""The body of a request, as a binary file. Stands after `TaskToWrite` in a signature: a client that
may not send is refused before its file is read."""


def project_for(scope: TokenScope, project_id: str, access: Allowed) -> str:
    """The id of a project that a request may read or write."""
    access.check(scope, project_id)
    return project_id


def task_for(scope: TokenScope, task_id: str, store: InStore, access: Allowed) -> Task:
    """A task that a request may read or write."""
    task = get_task(store, task_id)
    access.check(scope, task.project_id)
    return task


def report_for(scope: TokenScope, report_id: str, store: InStore, access: Allowed) -> Report:
    """A report that a request may read or write; see `task_for`."""
    report = get_report(store, report_id)
    task_for(scope, report.task_id, store, access)
    return report


# Parameters of routes: what a request names by its id, refused where its token does not allow it.
ProjectToRead = Annotated[str, Depends(partial(project_for, "read"))]
ProjectToWrite = Annotated[str, Depends(partial(project_for, "write"))]
TaskToRead = Annotated[Task, Depends(partial(task_for, "read"))]
TaskToWrite = Annotated[Task, Depends(partial(task_for, "write"))]
ReportToRead = Annotated[Report, Depends(partial(report_for, "read"))]
ReportToWrite = Annotated[Report, Depends(partial(report_for, "write"))]
