"""Files that are uploaded for a task: announced, sent, looked at, then imported or deleted. A file
is kept in parts, in the store. Its name as the client gives it is never a path."""

from __future__ import annotations

import hashlib
import hmac
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, Unpack

from pydantic import Field
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay import formats
from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.client import service_shapes
from ragassay.client.service_shapes import MOST_READ_WHOLE, FilePreview, Ingested
from ragassay.formats import MapperOptions, Notes, to_record
from ragassay.formats.column_placement import PlacingMapper
from ragassay.formats.sources import opening
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.projects import Task, get_task
from ragassay.service.store.records import ServiceMapper, add_records
from ragassay.service.store.schema import upload_parts, uploads
from ragassay.service.store.store_errors import Conflict, NotThere

KEEP_S = 86_400.0
"""Seconds after which an upload that nobody imported is deleted."""
PART = 4 << 20
"""Bytes of a part: other writers wait no longer than one takes."""
BATCH = 5_000
"""Records of one transaction."""
MOST_RECORDS = 2_000_000
"""In one file: a small compressed file may hold any number of them."""
MOST_SHOWN = 400
"""Characters of a cell in a preview."""
_NO_TIME = (
    "Name the column that holds it (columns), or confirm that the time of receipt counts "
    "(received_as_time)."
)


class Upload(service_shapes.Upload):
    """A file that was sent or is announced, and what the client says of it."""

    options: dict[str, Any] = Field(default_factory=dict, exclude=True)


def create_upload(
    store: Store,
    task_id: str,
    file_name: str,
    options: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Upload:
    """Announces a file with its options, and deletes old ones that nobody imported."""
    get_task(store, task_id)
    now = time.time()
    values = {"id": key or new_id(), "task_id": task_id, "created": now, "size": None}
    values |= {"file_name": file_name[:200], "options": dict(options or {})}
    with suppress(IntegrityError):
        old = delete(uploads).where(uploads.c.created < now - KEEP_S)
        store.write(old, insert(uploads).values(values))
    return get_upload(store, str(values["id"]))


def fill_upload(store: Store, key: str, stream: IO[bytes], *, secret: str | None = None) -> Upload:
    """Takes the content of an announced file, where the secret of its options is named, if one is.
    A content that has not the ``sha256`` of its options counts as not sent."""
    upload = get_upload(store, key)
    expected = str(upload.options.get("secret", "")).encode()
    if secret is not None and not (expected and hmac.compare_digest(expected, secret.encode())):
        raise NotThere("upload", key)
    of_upload, size, digest = update(uploads).where(uploads.c.id == key), 0, hashlib.sha256()
    older = delete(upload_parts).where(upload_parts.c.upload_id == key)
    store.write(older, of_upload.values(size=None))
    for number, content in enumerate(iter(lambda: stream.read(PART), b"")):
        store.write(insert(upload_parts).values(upload_id=key, number=number, content=content))
        size += len(content)
        digest.update(content)
    announced = upload.options.get("sha256")
    if announced and announced.casefold() != digest.hexdigest():
        problem = "its SHA-256 checksum is not the announced one"
        raise InputError(problem, path=upload.file_name, hint="Send it again.")
    store.write(of_upload.values(size=size))
    return get_upload(store, key)


def get_upload(store: Store, key: str) -> Upload:
    """The upload of an id."""
    return Upload(**store.row(uploads, key)._mapping)


@contextmanager
def upload_on_disk(store: Store, key: str) -> Iterator[tuple[Upload, Path]]:
    """An upload, and its content as a file until the block ends; `Conflict`: not all is here."""
    upload = get_upload(store, key)
    if upload.size is None:
        raise Conflict(f"The file {upload.file_name!r} was announced but not sent. Send it.")
    with tempfile.TemporaryDirectory(prefix="ragassay-upload-") as folder:
        path = Path(folder) / f"data{_suffixes(upload.file_name)}"
        parts = select(upload_parts.c.content).where(upload_parts.c.upload_id == key)
        with path.open("wb") as out:
            number = 0
            while part := store.rows(parts.where(upload_parts.c.number == number)):
                out.write(part[0].content)
                number += 1
        yield upload, path


def _suffixes(file_name: str) -> str:
    """The endings of a client's name that a reader knows. Only these become part of a path."""
    readable = {suffix for item in formats.all_formats().values() for suffix in item.suffixes}
    endings = [suffix.casefold() for suffix in PurePosixPath(file_name).suffixes[-2:]]
    return "".join(ending for ending in endings if ending in readable | {".gz"})


def preview_upload(
    store: Store,
    key: str,
    *,
    format: str | None = None,  # noqa: A002  # the name that users know from --format
    limit: int = 10,
    **options: Unpack[MapperOptions],
) -> FilePreview:
    """Looks at the first records of a file, read with options (``columns``, ``delimiter`` of CSV,
    ``zone``), in a format that is found out where it is not named. Nothing is stored."""
    with _opened(store, key, format, options) as (upload, path, reader, task):
        mapper = _PreviewMapper(path, **task.options.reading(**options))
        samples: list[Sample] = []
        try:
            samples = list(islice(reader.read(path, mapper), limit))
        except InputError as error:
            mapper.problem = mapper.problem or error
        readable = [sample for sample in samples if sample.id not in mapper.unread_ids]
        names = list(dict.fromkeys(name for row in mapper.rows for name in row))
        place: dict[str, Any] = {}
        if mapper.problem is not None:
            shown = _without_path(mapper.problem, upload, path)
            place = {"problem": str(shown), "line": shown.line, "field": shown.field}
        return FilePreview(
            format=reader.name,
            columns=names,
            placed=mapper.placed,
            unplaced=[name for name in names if name not in mapper.placed.values()],
            rows=[{name: _cut(value) for name, value in row.items()} for row in mapper.rows],
            samples=[to_record(sample) for sample in readable],
            lacks_ids=mapper.lacks_ids,
            lacks_zone=mapper.lacks_zone,
            lacks_times=any(sample.timestamp is None for sample in readable),
            notes=list(mapper.notes),
            **place,
        )


def import_upload(
    store: Store,
    key: str,
    *,
    format: str | None = None,  # noqa: A002
    received_as_time: bool = False,
    **options: Unpack[MapperOptions],
) -> Ingested:
    """Stores the records of a file, read as by `preview_upload`, and deletes the upload. The file
    is read twice: one with a fault stores nothing. A record needs a time, unless that of receipt
    counts."""
    now, notes = time.time(), Notes()
    with _opened(store, key, format, options) as (upload, path, reader, task):

        def samples() -> Iterator[Sample]:
            nonlocal notes
            options["notes"] = notes = Notes()
            mapper = ServiceMapper(path, **task.options.reading(**options))
            for number, sample in enumerate(reader.read(path, mapper), 1):
                if number > MOST_RECORDS:
                    problem = f"holds more than {MOST_RECORDS:,} records"
                    raise InputError(problem, path=path, hint="Cut it into several files.")
                if sample.timestamp is None and not received_as_time:
                    problem = f"the record {sample.id!r} has no time"
                    error = InputError(problem, path=path, line=mapper.line, field="timestamp")
                    raise error.but(hint=_NO_TIME)
                yield sample

        if not sum(1 for _ in samples()):  # reads all of it before any is stored
            raise InputError("there are no records", path=path)
        done, stream = Counter[str](), samples()
        while batch := list(islice(stream, BATCH)):
            part = add_records(store, upload.task_id, batch, received=now)
            done.update(part.model_dump(exclude={"notes"}))
        store.remove(uploads, key)
        return Ingested(**done, notes=list(notes))


class _PreviewMapper(PlacingMapper, ServiceMapper):
    """Notes the first record that cannot be read, and the samples in place of such records."""

    def __init__(self, path: Path, **options: Unpack[MapperOptions]) -> None:
        options["notes"] = self.notes = Notes()
        super().__init__(path, **options)
        self.problem: InputError | None = None
        self.unread_ids: set[str] = set()

    def unread(self, line: int, error: InputError) -> Sample:
        self.problem = self.problem or error
        unread = super().unread(line, error)
        self.unread_ids.add(unread.id)
        return unread


def _cut(value: Any) -> Any:
    """A cell as a preview shows it."""
    if isinstance(value, int | float | bool) or value is None:
        return value
    text = str(value)
    return f"{text[:MOST_SHOWN]}…" if len(text) > MOST_SHOWN else text


@contextmanager
def _opened(
    store: Store, key: str, kind: str | None, options: MapperOptions
) -> Iterator[tuple[Upload, Path, formats.Format, Task]]:
    """An upload, its file, the format that reads it, and its task. Errors name the file as its
    owner does, without its path on the server."""
    within = opening.pieces_within(MOST_READ_WHOLE)
    with upload_on_disk(store, key) as (upload, path), within:
        try:
            kind = kind or ("csv" if options.get("delimiter") else None)
            reader = formats.get(kind) if kind is not None else formats.detect(path)
            yield upload, path, reader, get_task(store, upload.task_id)
        except InputError as error:
            raise _without_path(error, upload, path) from error


def _without_path(error: InputError, upload: Upload, path: Path) -> InputError:
    problem = error.problem.replace(str(path), upload.file_name)
    return error.but(problem=problem, path=upload.file_name)
