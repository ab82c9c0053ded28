"""What the routes share: the store, the access of a request, and names in requests."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from pydantic import StringConstraints

from ragassay.service.api.access import Access, access_of
from ragassay.service.api.problems import documented
from ragassay.service.store import Store, Task, get_report, get_task

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

READS = documented(401, 403, 404, 422, 503)
"""The problems of a route that reads."""
WRITES = documented(400, 401, 403, 404, 409, 413, 422, 503)
"""The problems of a route that writes."""


def store_of(request: Request) -> Store:
    """The store of the application."""
    found: Store = request.app.state.store
    return found


InStore = Annotated[Store, Depends(store_of)]
Allowed = Annotated[Access, Depends(access_of)]


def task_for(store: Store, access: Access, scope: str, key: str) -> Task:
    """A task that a request may read or write.

    Raises:
        NotThere: there is none.
        HTTPException: 403.
    """
    task = get_task(store, key)
    access.check(scope, task.project_id)
    return task


def task_of_report(store: Store, access: Access, scope: str, key: str) -> Task:
    """The task of a report that a request may read or write; see `task_for`."""
    return task_for(store, access, scope, get_report(store, key).task_id)
