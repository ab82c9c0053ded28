"""Files that are uploaded for a task: announced, sent, previewed, then imported or deleted.

A file is kept in parts, in the store: any process that shares it can read the file. Its name as the
client gives it is never a path.
"""

from __future__ import annotations

import hashlib
import hmac
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pydantic import Field
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay import formats
from ragassay.base.errors import InputError
from ragassay.client import shapes
from ragassay.service.store.database import Store, new_id, remove
from ragassay.service.store.projects import get_task
from ragassay.service.store.schema import upload_parts, uploads
from ragassay.service.store.store_errors import Conflict, NotThere

KEEP_S = 86_400.0
"""Seconds after which an upload that nobody imported is deleted."""

PART = 4 << 20
"""Bytes of a part: other writers wait no longer than one takes."""


class Upload(shapes.Upload):
    """A file that was sent or is announced, and what the client says of it."""

    options: dict[str, Any] = Field(default_factory=dict, exclude=True)


def create_upload(
    store: Store,
    task_id: str,
    file_name: str,
    options: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Upload:
    """Announces a file. Old ones that nobody imported are deleted.

    Args:
        store: where.
        task_id: that it is for.
        file_name: as the client calls it.
        options: what the client says of it.
        key: its id; a new one where left out. Where it is there already, the request was sent
            again: it is the answer.

    Raises:
        NotThere: there is no such task.
    """
    get_task(store, task_id)
    made = Upload(
        id=key or new_id(), task_id=task_id, file_name=file_name[:200], size=None,
        created=time.time(), options=dict(options or {}),
    )  # fmt: skip
    values = {**made.model_dump(), "options": made.options}
    old = delete(uploads).where(uploads.c.created < made.created - KEEP_S)
    with suppress(IntegrityError):
        store.write(old, insert(uploads).values(values))
    return get_upload(store, made.id)


def fill_upload(store: Store, key: str, stream: IO[bytes], *, secret: str | None = None) -> Upload:
    """Takes the content of an announced file.

    Args:
        store: where.
        key: of the upload.
        stream: the content, read to its end.
        secret: must be the ``secret`` of its options, where one is given.

    Raises:
        NotThere: nothing of this id and secret was announced.
        InputError: the content has not the ``sha256`` of its options, where one is given. The file
            still counts as not sent.
    """
    upload = get_upload(store, key)
    expected = str(upload.options.get("secret", "")).encode()
    if secret is not None and not (expected and hmac.compare_digest(expected, secret.encode())):
        raise NotThere("upload", key)
    of_upload = update(uploads).where(uploads.c.id == key)
    older = delete(upload_parts).where(upload_parts.c.upload_id == key)
    store.write(older, of_upload.values(size=None))
    size = number = 0
    digest = hashlib.sha256()
    while content := stream.read(PART):
        store.write(insert(upload_parts).values(upload_id=key, number=number, content=content))
        size, number = size + len(content), number + 1
        digest.update(content)
    announced = upload.options.get("sha256")
    if announced and announced.casefold() != digest.hexdigest():
        raise InputError(
            "what came has another SHA-256 checksum than was announced",
            path=upload.file_name,
            hint="Send it again.",
        )
    store.write(of_upload.values(size=size))
    return get_upload(store, key)


def get_upload(store: Store, key: str) -> Upload:
    """The upload of an id.

    Raises:
        NotThere: there is none.
    """
    return Upload(**store.row(uploads, "upload", key)._mapping)


def delete_upload(store: Store, key: str) -> None:
    """Deletes an upload with its content.

    Raises:
        NotThere: there is none.
    """
    with store.writing() as connection:
        remove(connection, uploads, "upload", key)


@contextmanager
def upload_on_disk(store: Store, key: str) -> Iterator[tuple[Upload, Path]]:
    """An upload, and its content as a file that is deleted when the block ends.

    Raises:
        NotThere: there is none.
        Conflict: not all of it was sent yet.
    """
    upload = get_upload(store, key)
    if upload.size is None:
        raise Conflict(f"The file {upload.file_name!r} was announced and not sent.")
    with tempfile.TemporaryDirectory(prefix="ragassay-upload-") as folder:
        path = Path(folder) / f"data{_suffixes(upload.file_name)}"
        with path.open("wb") as out:
            for content in _parts(store, key):
                out.write(content)
        yield upload, path


def _parts(store: Store, key: str) -> Iterator[bytes]:
    for number in count():
        chosen = select(upload_parts.c.content).where(
            upload_parts.c.upload_id == key, upload_parts.c.number == number
        )
        part = store.rows(chosen)
        if not part:
            return
        yield bytes(part[0][0])


def _suffixes(file_name: str) -> str:
    """The endings of a client's name that a reader knows. Only these become part of a path."""
    readable = {
        ".gz",
        *(suffix for one in formats.all_formats().values() for suffix in one.suffixes),
    }
    endings = [one.casefold() for one in PurePosixPath(file_name).suffixes[-2:]]
    return "".join(one for one in endings if one in readable)
