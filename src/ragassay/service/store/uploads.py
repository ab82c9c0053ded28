"""Files on their way into a task: announced, then sent, then read once."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update

from ragassay.service.store.database import Store, new_id
from ragassay.service.store.projects import get_task
from ragassay.service.store.schema import uploads
from ragassay.service.store.store_errors import Conflict, NotThere

KEEP_S = 86_400.0
"""Seconds after which an upload that nobody read is deleted."""


@dataclass(frozen=True)
class Upload:
    """A file that was sent.

    Attributes:
        id: of the upload.
        task_id: that it belongs to.
        file_name: as the client calls it; it never becomes a path.
        options: what the client said of it.
        content: of the file.
    """

    id: str
    task_id: str
    file_name: str
    options: Mapping[str, Any]
    content: bytes


def create_upload(store: Store, task_id: str, file_name: str, options: Mapping[str, Any]) -> str:
    """Announces a file; the id to send it to. Old ones that nobody read are deleted.

    Args:
        store: where.
        task_id: that it is for.
        file_name: as the client calls it.
        options: what the client says of it; ``secret`` allows to send it.

    Raises:
        NotThere: there is no such task.
    """
    get_task(store, task_id)
    key, now = new_id(), time.time()
    with store.writing() as connection:
        connection.execute(delete(uploads).where(uploads.c.created < now - KEEP_S))
        connection.execute(
            insert(uploads).values(
                id=key, task_id=task_id, file_name=file_name[:200], options=dict(options),
                created=now,
            )
        )  # fmt: skip
    return key


def fill_upload(store: Store, key: str, secret: str, content: bytes) -> None:
    """Takes the content of an announced file.

    Args:
        store: where.
        key: of the upload.
        secret: that it was announced with.
        content: of the file.

    Raises:
        NotThere: nothing of this id and secret was announced.
    """
    with store.writing() as connection:
        options = connection.execute(
            select(uploads.c.options).where(uploads.c.id == key)
        ).scalar_one_or_none()
        if options is None or not hmac.compare_digest(str(options.get("secret", "")), secret):
            raise NotThere("upload", key)
        connection.execute(update(uploads).where(uploads.c.id == key).values(content=content))


def take_upload(store: Store, key: str, task_id: str) -> Upload:
    """A file that was sent, which is not kept any longer.

    Args:
        store: where.
        key: of the upload.
        task_id: that it must belong to.

    Raises:
        NotThere: there is none of this id for this task.
        Conflict: nothing was sent yet.
    """
    chosen = select(uploads).where(uploads.c.id == key, uploads.c.task_id == task_id)
    with store.writing() as connection:
        row = connection.execute(chosen).one_or_none()
        if row is None:
            raise NotThere("upload", key)
        if row.content is None:
            raise Conflict(f"The file {row.file_name!r} was announced and not sent.")
        connection.execute(delete(uploads).where(uploads.c.id == key))
    return Upload(row.id, row.task_id, row.file_name, row.options, bytes(row.content))
