"""Records: what a system was asked, retrieved and answered, by task and time. Sent again with
another content, a record becomes a new version, and the old one stays readable."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, Unpack

import orjson
from pydantic import BaseModel, Field
from sqlalchemy import Connection, and_, delete, func, insert, select, tuple_, update

from ragassay.base import json_data
from ragassay.base.errors import InputError
from ragassay.base.sample import Identity, Sample, Turn
from ragassay.client.service_shapes import Ingested
from ragassay.formats import Mapper, MapperOptions, Notes, OptionWords, from_records, to_record
from ragassay.formats.reading import map_records
from ragassay.formats.records.answers_and_turns import with_earlier_turns
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, get_task
from ragassay.service.store.schema import LONGEST_NAME, records
from ragassay.service.store.store_errors import NotThere

SEARCHED = 500
"""Characters of a query and of an answer that a search looks into."""
PAGE = 1_000
"""Records that are read or written by one statement: databases limit its parameters."""
_PLACE = tuple_(records.c.timestamp, records.c.number)
"""Where a record is in the order of time."""


class StoredRecord(BaseModel):
    """One version of a record."""

    id: str
    system: str = Field("", description="which system, or version of it, answered")
    repeat: int = Field(0, description="0, 1, 2 ... where one query was run several times")
    version: int = Field(description="1 for the first; the latest is the highest")
    is_latest: bool
    timestamp: float = Field(description="seconds since 1970")
    received: float = Field(description="seconds since 1970")
    record: dict[str, Any] = Field(description="in the native format (docs/formats.md)")


def add_records(
    store: Store, task_id: str, batch: Iterable[Sample], *, received: float | None = None
) -> Ingested:
    """Stores samples as records, all or none; without a time they get that of receipt."""
    now = time.time() if received is None else received
    n_empty = repeated = 0
    incoming: dict[Identity, dict[str, Any]] = {}
    for sample in batch:
        repeated += sample.identity in incoming
        n_empty += sum(
            passage.text is not None and not passage.text.strip()
            for passage in sample.passages or ()
        )
        incoming[sample.identity] = _row(sample, now)
    get_task(store, task_id)
    done = Counter[str](empty_chunks=n_empty, unchanged=repeated)
    with store.writing() as connection:
        if not store.is_sqlite:
            # Writers of one task come one after the other, as they do in SQLite: two of them may
            # bring the same new record.
            connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(task_id))))
        left = iter(incoming.items())
        while page := list(islice(left, PAGE)):
            done.update(_store(connection, task_id, page, now))
    return Ingested(**done)


def read_batch(
    items: Sequence[Mapping[str, Any]],
    options: TaskOptions,
    refuse_joined: bool | Literal["marks"] = True,
    notes: Notes | None = None,
) -> list[Sample]:
    """The samples of a batch of records, under any of the names that files may have for their
    parts. What the reader notices goes into ``notes``; without them it is a warning. An error has
    the number of its item as the line."""
    reading = options.reading(refuse_joined=refuse_joined, notes=notes)
    mapper = ServiceMapper(cells=True, **reading)
    for line, item in enumerate(items, start=1):
        check_values(item, line=line)
    return list(map_records(items, mapper))


def count_records(
    store: Store, task_id: str, start: float | None = None, end: float | None = None
) -> int:
    """How many records a task has from one time to another, both inclusive, seconds since 1970."""
    chosen = select(func.count()).select_from(records).where(_within(task_id, start, end))
    return int(store.rows(chosen)[0][0])


def time_span(store: Store, task_id: str) -> tuple[float, float] | None:
    """The times of the first and the last record of a task; ``None`` where it has none."""
    times = records.c.timestamp
    chosen = select(func.min(times), func.max(times)).where(_within(task_id, None, None))
    [(first, last)] = store.rows(chosen)
    return None if first is None else (float(first), float(last))


def read_samples(
    store: Store, task_id: str, start: float | None = None, end: float | None = None
) -> Iterator[Sample]:
    """The latest versions in an interval (ends included), in order of time, each record once."""
    seen: set[int] = set()  # its new version may have a later time
    chosen = select(records.c.timestamp, records.c.number, records.c.body)
    chosen = chosen.where(_within(task_id, start, end)).order_by(*_PLACE.clauses).limit(PAGE)
    page = store.rows(chosen)
    while page:  # a long read holds no transaction
        for sample in from_records(orjson.loads(row.body) for row in page):
            key = hash(sample.identity)
            if key not in seen:
                seen.add(key)
                yield sample
        page = store.rows(chosen.where(tuple_(page[-1].timestamp, page[-1].number) < _PLACE))


def read_page(
    store: Store,
    task_id: str,
    *,
    after: tuple[float, int] | None = None,
    limit: int = 50,
    start: float | None = None,
    end: float | None = None,
    text: str = "",
) -> tuple[list[StoredRecord], tuple[float, int] | None]:
    """A page of a task's records, the youngest first, and where the next page begins (``after``;
    ``None`` after the last one). Where a text is given, only records whose id, system, query or
    answer (of long ones the beginning) holds it, upper and lower case alike."""
    get_task(store, task_id)
    chosen = select(records).where(_within(task_id, start, end))
    if text:
        chosen = chosen.where(records.c.search.contains(text.lower(), autoescape=True))
    if after is not None:
        chosen = chosen.where(tuple_(*after) > _PLACE)
    order = (clause.desc() for clause in _PLACE.clauses)
    rows = store.rows(chosen.order_by(*order).limit(limit + 1))
    page = [_stored(row) for row in rows[:limit]]
    last = rows[limit - 1] if len(rows) > limit else None
    return page, None if last is None else (last.timestamp, last.number)


def read_versions(store: Store, task_id: str, key: str) -> list[StoredRecord]:
    """All versions of a record, the youngest first."""
    chosen = select(records).where(records.c.task_id == task_id, records.c.id == key)
    rows = store.rows(chosen.order_by(records.c.version.desc()))
    if not rows:
        raise NotThere("record", key)
    return [_stored(row) for row in rows]


def delete_records(store: Store, task_id: str, keys: Sequence[str]) -> int:
    """Deletes records with all their versions; how many there were."""
    return store.write(delete(records).where(records.c.task_id == task_id, records.c.id.in_(keys)))


def delete_records_before(store: Store, task_id: str, moment: float) -> None:
    """Deletes the versions of a task's records whose time is before a moment."""
    older = (
        records.c.task_id == task_id,
        records.c.is_latest.in_((True, False)),  # the index `records_in_time` begins with it
        records.c.timestamp < moment,
    )
    chosen = select(records.c.number).where(*older).limit(PAGE)
    while numbers := [row.number for row in store.rows(chosen)]:
        store.write(delete(records).where(records.c.number.in_(numbers)))


def _within(task_id: str, start: float | None, end: float | None) -> Any:
    """The latest versions of a task's records from one time to another, both inclusive."""
    after = [] if start is None else [records.c.timestamp >= start]
    before = [] if end is None else [records.c.timestamp <= end]
    return and_(records.c.task_id == task_id, records.c.is_latest, *after, *before)


def _store(
    connection: Connection,
    task_id: str,
    batch: Sequence[tuple[Identity, dict[str, Any]]],
    now: float,
) -> dict[str, int]:
    """Stores records of different identities; how many are new, changed, unchanged."""
    # All versions are read: with a condition on the latest, SQLite goes through all records of the
    # task by `records_in_time`.
    names = ("number", "id", "system", "repeat", "version", "hash", "is_latest")
    keys = [key for (key, *_), _ in batch]
    chosen = select(*(records.c[name] for name in names))
    found = connection.execute(chosen.where(records.c.task_id == task_id, records.c.id.in_(keys)))
    latest = {(row.id, row.system, row.repeat): row for row in found if row.is_latest}
    rows, changed = [], []
    for identity, row in batch:
        old = latest.get(identity)
        if old is not None and old.hash == row["hash"]:
            continue
        if old is not None:
            changed.append(old.number)
        version = 1 if old is None else old.version + 1
        rows.append({**row, "task_id": task_id, "version": version, "received": now})
    if changed:
        connection.execute(
            update(records).where(records.c.number.in_(changed)).values(is_latest=False)
        )
    if rows:
        connection.execute(insert(records), rows)
    n_new = len(rows) - len(changed)
    return {"new": n_new, "changed": len(changed), "unchanged": len(batch) - len(rows)}


def _row(sample: Sample, now: float) -> dict[str, Any]:
    """What the table has of a record, but its task and version."""
    body = to_record(sample)
    try:
        content = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a character
        body = orjson.loads(json_data.dumps(body))
        content = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    moment = sample.timestamp if sample.timestamp is not None else now
    digest = hashlib.blake2b(content, digest_size=16)
    body["timestamp"] = moment
    answer = "" if sample.answer is None else sample.answer.text
    parts = (sample.id, sample.system, (sample.query or "")[:SEARCHED], answer[:SEARCHED])
    return {
        "id": sample.id,
        "system": sample.system,
        "repeat": sample.repeat,
        "is_latest": True,
        "timestamp": moment,
        "hash": digest.digest(),
        "search": "\n".join(parts).lower().replace("\0", ""),
        "body": orjson.dumps(body).decode(),
    }


def _stored(row: Any) -> StoredRecord:
    return StoredRecord(**row._mapping, record=orjson.loads(row.body))


def samples_of_task(samples: Iterable[Sample], options: TaskOptions) -> Iterator[Sample]:
    """Samples in order of time, without an answer where it is the task's default answer, and with
    the turns before them in their session where the task's records are turns."""
    default = _plain(options.default_answer or "")
    for sample in with_earlier_turns(samples) if options.multi_turn else samples:
        if default and sample.answer is not None and _plain(sample.answer.text) == default:
            sample = replace(sample, answer=None)
        yield sample


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")


class _Words(OptionWords):
    """Words for who sends records, or uploads a file, whose columns can be chosen."""

    def __init__(self, *, is_file: bool) -> None:
        self._is_file = is_file

    def columns(self, field: str, column: str) -> str:
        """How a value comes under the name of its field."""
        if self._is_file:
            return f"the field {field!r} for the column {column!r} (columns)"
        return f"send {column!r} as {field!r}"

    def separator(self, mark: str) -> str:
        """What names the text between the chunks."""
        return f"Name what separates the chunks as the separator of the task, {mark!r}"

    def single_chunk(self) -> str:
        """What says that a context is one chunk."""
        return "give each as a list of chunks, or say that each is one (single_chunk of the task)"


class ServiceMapper(Mapper):
    """Makes samples of the records of a file or batch. The content of a record without an id is its
    id. Contexts of several chunks are refused without a separator or ``single_chunk``."""

    def __init__(
        self, path: Any = None, *, cells: bool = False, **options: Unpack[MapperOptions]
    ) -> None:
        options["words"] = _Words(is_file=path is not None)
        refuses = options.get("refuse_joined", True)
        options["refuse_joined"] = not options.get("separator") and refuses
        super().__init__(path, cells=cells, **options)
        self.line: int | None = None
        self.lacks_ids = self.lacks_zone = False
        self._record: Mapping[str, Any] | None = None
        self._is_made = False

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample that a record holds."""
        self.line, self._record, self._is_made = line, record, False
        return super().sample(record, line, beside)

    def made_id(self, query: str | None, history: tuple[Turn, ...], line: int) -> str:
        """The id of a record that has none: a hash of its content."""
        self.lacks_ids = True
        if self._record is None:  # the format makes the sample itself
            return super().made_id(query, history, line)
        self._is_made = True
        content = orjson.dumps(self._record, option=orjson.OPT_SORT_KEYS, default=str)
        return hashlib.blake2b(content, digest_size=12).hexdigest()

    def tell(self, kind: str, line: int | None = None, /, *, count: int = 1, **facts: Any) -> None:
        """Refuses a time without a zone in a batch: nobody would read a note on it."""
        self.lacks_zone |= kind == "no_zone"
        if kind == "no_zone" and self.path is None:
            how = "End it with Z, or with +01:00."
            raise InputError("the time names no zone", field=facts["key"], hint=how)
        super().tell(kind, line, count=count, **facts)

    def claim(self, sample: Sample, line: int) -> None:
        """Refuses an identity that an earlier record has, or that no address or column can hold."""
        try:
            _check_identity(sample)
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        if not self._is_made:
            super().claim(sample, line)


def _check_identity(sample: Sample) -> None:
    """Refuses an id or system that no address or column can hold."""
    if sample.id.strip() in ("", ".", ".."):
        hint = "Give each record an id, or none at all; '.' and '..' mean another page."
        raise InputError(f"{sample.id!r} cannot be the id of a record", field="id", hint=hint)
    for field, value in (("id", sample.id), ("system", sample.system or "")):
        if len(value) > LONGEST_NAME:
            problem = f"{len(value):,} characters are too many; it has at most {LONGEST_NAME}"
            raise InputError(problem, field=field)
        check_values(value, field)


def check_values(value: Any, field: str = "", line: int | None = None) -> None:
    """Refuses NUL, and integers beyond 64 bits, which not every database keeps, in a record or a
    part of one, with its path within the record as the field."""
    for path, item in _leaves(field, value):
        path = path.replace("\0", "")
        if isinstance(item, str) and "\0" in item:
            problem = "holds the character NUL, which a database cannot keep"
            raise InputError(problem, field=path, line=line)
        if isinstance(item, int) and not -(2**63) <= item < 2**63:
            problem, hint = "is an integer beyond 64 bits", "Send it as text."
            raise InputError(problem, field=path, line=line, hint=hint)


def _leaves(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value in a value, with its path; without recursion, as bodies nest deeply."""
    left = [(field, value)]
    while left:
        path, found = left.pop()
        if isinstance(found, Mapping):
            for name, item in found.items():
                inner = f"{path}.{name}" if path else str(name)
                left += [(inner, item), (inner, name)]
        elif isinstance(found, list | tuple):
            left += [(path, element) for element in found]
        else:
            yield path, found
