"""From an uploaded file to records of its task: first a look at it, then the import.

Both read it as `ragassay run` does, in every format, and cuts contexts as the task says.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from ragassay import formats
from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.client.shapes import FilePreview, Ingested
from ragassay.formats import MapperOptions, Notes, to_record
from ragassay.formats.placement import PlacingMapper
from ragassay.formats.sources import unpacking
from ragassay.service.store.database import Store
from ragassay.service.store.projects import Task, get_task
from ragassay.service.store.records import add_records
from ragassay.service.store.run_archives import MOST_READ_WHOLE
from ragassay.service.store.service_mapper import ServiceMapper
from ragassay.service.store.uploads import Upload, delete_upload, upload_on_disk

BATCH = 5_000
"""Records of one transaction."""
MOST_RECORDS = 2_000_000
"""Of one file: a small compressed file may hold any number of them."""
MOST_SHOWN = 400
"""Characters of a cell in a preview."""


def preview_upload(
    store: Store,
    key: str,
    *,
    format: str | None = None,  # noqa: A002  # the name that users know from --format
    limit: int = 10,
    **options: Unpack[MapperOptions],
) -> FilePreview:
    """Looks at the first records of a file. Nothing is stored.

    Args:
        store: where.
        key: of the upload.
        format: of the file, where it is not to be found out.
        limit: how many records to show at most.
        options: how records are read: ``columns``, ``delimiter`` (of CSV), ``zone``.

    Raises:
        NotThere: there is no such upload.
        Conflict: it was not sent yet.
        InputError: no format fits the file.
        UsageError: an unknown format or field.
    """
    with _opened(store, key, format, options) as (
        upload,
        path,
        reader,
        task,
    ):
        mapper = _PreviewMapper(path, **task.options.reading(**options))
        samples: list[Sample] = []
        problem: InputError | None = None
        try:
            samples = list(islice(reader.read(path, mapper), limit))
        except InputError as error:
            problem = error
        problem = mapper.problem or problem
        readable = [one for one in samples if one.id not in mapper.unread_ids]
        names = list(dict.fromkeys(name for row in mapper.rows for name in row))
        shown = None if problem is None else _without_path(problem, upload, path)
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
            problem=None if shown is None else str(shown),
            line=None if shown is None else shown.line,
            field=None if shown is None else shown.field,
        )


def import_upload(
    store: Store,
    key: str,
    *,
    format: str | None = None,  # noqa: A002
    received_as_time: bool = False,
    **options: Unpack[MapperOptions],
) -> Ingested:
    """Stores the records of a file, and deletes the upload. The file is read twice: one with a
    fault stores nothing. Imported again, it changes nothing.

    Args:
        store: where.
        key: of the upload.
        format: of the file, where it is not to be found out.
        received_as_time: a record without a time gets that of now.
        options: as of `preview_upload`.

    Raises:
        NotThere: there is no such upload.
        Conflict: it was not sent yet.
        InputError: a record cannot be read, with its line and field; it has no time; or several
            chunks stand in one string and the task does not say how it is read.
        UsageError: an unknown format or field.
    """
    now, notes = time.time(), Notes()
    with _opened(store, key, format, options) as (
        upload,
        path,
        reader,
        task,
    ):

        def samples() -> Iterator[Sample]:
            nonlocal notes
            options["notes"] = notes = Notes()
            mapper = ServiceMapper(path, **task.options.reading(**options))
            for number, sample in enumerate(reader.read(path, mapper), 1):
                if number > MOST_RECORDS:
                    raise InputError(
                        f"holds more than {MOST_RECORDS:,} records", path=path,
                        hint="Cut it into several files.",
                    )  # fmt: skip
                if sample.timestamp is None and not received_as_time:
                    raise InputError(
                        f"the record {sample.id!r} has no time",
                        path=path,
                        line=mapper.line,
                        field="timestamp",
                        hint="Name the column that holds it (columns), or confirm that the time of "
                        "receipt counts (received_as_time).",
                    )
                yield sample

        if not sum(1 for _ in samples()):  # reads all of it before any is stored
            raise InputError("there are no records", path=path)
        done, stream = Counter[str](), samples()
        while batch := list(islice(stream, BATCH)):
            part = add_records(store, upload.task_id, batch, received=now)
            done.update(part.model_dump(exclude={"notes"}))
        delete_upload(store, key)
        return Ingested(**done, notes=list(notes))


class _PreviewMapper(PlacingMapper, ServiceMapper):
    """Notes the first record that cannot be read, and the samples that stand for such records."""

    def __init__(self, path: Path, **options: Unpack[MapperOptions]) -> None:
        options["notes"] = self.notes = Notes()
        super().__init__(path, **options)
        self.problem: InputError | None = None
        self.unread_ids: set[str] = set()

    def unread(self, line: int, error: InputError) -> Sample:
        self.problem = self.problem or error.at(path=self.path, line=line)
        unread = super().unread(line, error)
        self.unread_ids.add(unread.id)
        return unread


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        return f"{value[:MOST_SHOWN]}…"
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return _cut(str(value))


@contextmanager
def _opened(
    store: Store, key: str, kind: str | None, options: MapperOptions
) -> Iterator[tuple[Upload, Path, formats.Format, Task]]:
    """An upload, its file, the format that reads it, and its task. Errors name the file as its
    owner does, without its path on the server."""
    within = unpacking.pieces_within(MOST_READ_WHOLE)
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
