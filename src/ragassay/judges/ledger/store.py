"""The ledger: every answer that was paid for, kept before it is used.

One SQLite file a project, shared by any number of runs and processes. Reading happens at once on
the thread that asks. Writing happens on one thread of its own, which commits whatever has gathered
while the last commit was on its way to the disk: under load many answers share one sync.
"""

from __future__ import annotations

import asyncio
import re
import threading
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, KeysView, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from ragassay.errors import RagassayError
from ragassay.judges.ledger.ledger_database import PREFIXES, LedgerDatabase
from ragassay.judges.ledger.ledger_file import MEMORY, LedgerFile, damaged
from ragassay.scores import Reason

DEFAULT = Path(".ragassay") / "ledger.sqlite"
"""Where a project keeps its ledger, seen from the folder where runs are started."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One answered request, or one whose failure would come out the same again.

    Attributes:
        key: hexadecimal digits: the hash of the whole request.
        kind, version: of the question.
        question: the question's own key, by which run folders and files of verdicts name it.
        repeat: which of several askings of the same question.
        endpoint: where it was sent; never holds a secret.
        model: the model that was asked for.
        answered_by: what the endpoint says answered.
        prompt_hash: of template and answer schema.
        reason: of a failure (a `Reason`'s value), or ``None``.
        detail: of a failure, one sentence.
        request: JSON of messages, parameters and schema.
        reply: the raw text that came back.
        answer: JSON of the typed answer, or ``None`` for a failure.
        input_tokens, output_tokens: as counted by the endpoint, repair turn included.
        cost: US dollars, or ``None`` where no price was known.
        latency: seconds from sending to the last byte.
        attempts: requests that it took.
        dropped: parameters that the endpoint rejected.
        created: seconds since 1970.
    """

    key: str
    kind: str
    version: int
    question: str
    repeat: int
    endpoint: str
    model: str
    answered_by: str
    prompt_hash: str
    reason: str | None
    detail: str
    request: bytes
    reply: str
    answer: bytes | None
    input_tokens: int
    output_tokens: int
    cost: float | None
    latency: float
    attempts: int
    dropped: tuple[str, ...]
    created: float


PROVENANCE = (
    *("prompt_hash", "reply", "input_tokens", "output_tokens", "cost", "latency"),
    *("attempts", "dropped"),
)
"""The fields that an entry shares with the provenance of its verdict."""

_NAMES = tuple(field.name for field in fields(Entry))
_REQUEST, _REPLY, _DETAIL = (_NAMES.index(name) for name in ("request", "reply", "detail"))
_ANSWER, _DROPPED = _NAMES.index("answer"), _NAMES.index("dropped")
_REASON = _NAMES.index("reason")
_TEXT, _NUMBER, _NONE = (str,), (int, float), (type(None),)
_STORED: tuple[tuple[type, ...], ...] = (
    *((bytes,), _TEXT, (int,), _TEXT, (int,), _TEXT, _TEXT, _TEXT, _TEXT, (*_TEXT, *_NONE)),
    *(_TEXT, (bytes,), _TEXT, (*_TEXT, *_NONE), (int,), (int,), (*_NUMBER, *_NONE), _NUMBER),
    *((int,), _TEXT, _NUMBER),
)
"""The types of the columns; SQLite itself takes any value in any of them."""

END_OF_TIME = 1e11
"""A moment in seconds that no calendar here reaches."""

_VALUES = attrgetter(*_NAMES)
COLUMNS = ", ".join(_NAMES)
_FIND = f"SELECT {COLUMNS} FROM verdicts WHERE key = ?"
_KEEP = f"INSERT OR REPLACE INTO verdicts ({COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"
_KEEP_FAILURE = (
    f"INSERT OR REPLACE INTO verdicts ({COLUMNS}) SELECT {', '.join('?' * len(_NAMES))} "
    "WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE key = ? AND reason IS NULL)"
)
_REJECT = "INSERT OR IGNORE INTO rejected (endpoint, model, parameter) VALUES (?, ?, ?)"

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""

_PAGE = 500

FIRST_WAIT_S, LAST_WAIT_S = 0.02, 0.5
"""Seconds between two attempts to take a lease, at first and at last."""

_Statements = Sequence[tuple[str, Sequence[Any]]]
_Waiting = tuple[_Statements, asyncio.AbstractEventLoop, "asyncio.Future[None]"]
"""Statements with their values, and who waits for them."""


def is_there(path: str | Path) -> bool:
    """Whether there is a ledger to be opened; a database always is."""
    return str(path).startswith(PREFIXES) or Path(path).exists()


class Ledger:
    """The answers of a project. Safe to share between threads, and the file between processes.

    Args:
        path: the SQLite file, made where it is missing (with its folder); ``:memory:`` keeps
            nothing; ``postgresql://...`` names a database (see `LedgerDatabase`).
        create: whether a missing file is made.

    Raises:
        InputError: the file is not a ledger, of a newer version, or damaged.
        UsageError: it cannot be written.
    """

    def __init__(self, path: str | Path = DEFAULT, *, create: bool = True) -> None:
        self.path = str(path)
        is_address = self.path.startswith(PREFIXES)
        # The two kinds of places are used alike.
        self._place: Any = LedgerDatabase(self.path) if is_address else LedgerFile(self.path)
        if is_address:  # messages name the path
            self.path = re.sub(r"(?<=:)[^:/@]*(?=@)", "***", self.path)
        self._reader = self._place.connect(create=create)
        self._reading = threading.Lock()
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="ragassay-ledger")
        self._writer = self._reader if self.path == MEMORY else None
        self._waiting: list[_Waiting] = []
        self._adding = threading.Lock()
        self._closed = False

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def find(self, key: str) -> Entry | None:
        """The entry of a request, or ``None`` when it was never kept."""
        rows = self.select(_FIND, (bytes.fromhex(key),))
        return self._entry(rows[0]) if rows else None

    async def commit(self, entry: Entry, *, stale: bool = False) -> None:
        """Keeps an entry, in place of an older one of the same key. It is durable when this
        returns.

        A failure never replaces an answer, which was paid for. A commit that is cancelled while it
        waits is written all the same.

        Args:
            entry: what came of a request.
            stale: an answer that is there is not valid any more: whatever comes now replaces it.

        Raises:
            UsageError: the file cannot be written any more (the disk is full, for example).
        """
        row = _row_of(entry)
        if entry.reason is None or stale:
            await self.write([(_KEEP, row)])
        else:
            await self.write([(_KEEP_FAILURE, (*row, row[0]))])

    def rejected(self, endpoint: str, model: str) -> KeysView[str]:
        """The parameters that an endpoint is known not to take for a model, in the order in which
        they were rejected.

        Args:
            endpoint: its URL.
            model: its name there.
        """
        query = "SELECT parameter FROM rejected WHERE endpoint = ? AND model = ? ORDER BY rowid"
        rows = self.select(query, (endpoint, model))
        return dict.fromkeys(str(row[0]) for row in rows).keys()

    async def reject(self, endpoint: str, model: str, parameters: Iterable[str]) -> None:
        """Remembers, for this run and later ones, that an endpoint does not take parameters for a
        model.

        Args:
            endpoint: its URL.
            model: its name there.
            parameters: their names.
        """
        await self.write([(_REJECT, (endpoint, model, name)) for name in sorted(parameters)])

    @asynccontextmanager
    async def lease(self, key: str) -> AsyncIterator[None]:
        """Holds a request while it is under way: no other process of this ledger sends it
        meanwhile. Look again for its entry inside.

        Args:
            key: of the request.
        """
        wait = FIRST_WAIT_S
        while not self._place.take(key):
            await asyncio.sleep(wait)
            wait = min(2 * wait, LAST_WAIT_S)
        try:
            yield
        finally:
            self._place.release(key)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        with self._reading, self._place.explained():
            return bool(self._place.has_table(self._reader, name))

    def select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, for administration and reports.

        Args:
            query: in SQL.
            values: for the `?` marks of the query.
        """
        with self._reading, self._place.explained():
            return self._reader.execute(query, values).fetchall()

    def entries(self, where: str = "TRUE", values: Sequence[Any] = ()) -> Iterator[Entry]:
        """Yields the entries that meet a condition, oldest first. Reads a few at a time.

        Args:
            where: a condition in SQL.
            values: for the `?` marks of the condition.
        """
        query = (
            f"SELECT rowid, {COLUMNS} FROM verdicts WHERE ({where}) AND rowid > ? "
            f"ORDER BY rowid LIMIT {_PAGE}"
        )
        last = 0
        while page := self.select(query, (*values, last)):
            last = page[-1][0]
            yield from (self._entry(row[1:]) for row in page)

    def _entry(self, row: Sequence[Any]) -> Entry:
        try:
            return entry_of(row)
        except (zlib.error, ValueError, TypeError) as error:
            raise damaged(self.path, f"a kept answer cannot be read: {error}") from error

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Executes one statement and commits it, for administration.

        Args:
            statement: in SQL.
            values: for the `?` marks of the statement.

        Returns:
            The number of rows that it changed.
        """
        with self._reading, self._place.explained(), self._place.transaction(self._reader):
            return self._reader.execute(statement, values).rowcount

    def shrink(self) -> None:
        """Gives the space of what was deleted back to the disk."""
        with self._reading, self._place.explained():
            self._place.shrink(self._reader)

    def close(self) -> None:
        """Writes what is still waiting, and closes the file."""
        with self._adding:
            closed, self._closed = self._closed, True
        if closed:
            return
        self._writing.shutdown()
        with self._reading:
            for connection in {self._reader, self._writer or self._reader}:
                connection.close()
        self._place.close()

    async def write(self, statements: _Statements) -> None:
        """Carries out statements on the writer's thread. Durable when this returns. For what is
        kept beside the answers.

        Raises:
            UsageError: the file cannot be written any more.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._adding:
            if self._closed:
                raise RuntimeError("the ledger is closed")
            self._waiting.append((statements, loop, done))
            if len(self._waiting) == 1:
                self._writing.submit(self._write_all)
        await done

    def _write_all(self) -> None:
        """Writes all that has gathered in one transaction; where that fails, one by one, so that
        only what is at fault is lost. Where the disk is full, what still fits is kept.
        """
        with self._adding:
            waiting, self._waiting = self._waiting, []
        failed = self._attempt(waiting)
        for at, one in enumerate(waiting):
            if failed is not None and len(waiting) > 1:
                lost = self._attempt([one])
                if isinstance(lost, RagassayError):
                    _tell(waiting[at:], lost)
                    return
                _tell([one], lost)
            else:
                _tell([one], failed)

    def _attempt(self, waiting: Sequence[_Waiting]) -> Exception | None:
        """Executes one transaction; returns its error, if there is one."""
        try:
            if self._writer is None:
                self._writer = self._place.connect()
            lock = self._reading if self._writer is self._reader else nullcontext()
            rows = [(each[0], _packed(*each)) for statements, *_ in waiting for each in statements]
            with lock, self._place.explained(), self._place.transaction(self._writer):
                for statement, values in rows:
                    self._writer.execute(statement, values)
        except Exception as error:
            return error
        return None


def _packed(statement: str, values: Sequence[Any]) -> Sequence[Any]:
    """Compression happens on the writer's thread, outside Python's lock."""
    if statement not in (_KEEP, _KEEP_FAILURE):
        return values
    row = list(values)
    row[_REQUEST] = zlib.compress(row[_REQUEST], _COMPRESSION)
    return row


def _tell(waiting: Sequence[_Waiting], error: Exception | None) -> None:
    for _, loop, done in waiting:
        # Where the loop is closed nobody waits: the rows are written all the same.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, done, error)


def _resolve(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def _row_of(entry: Entry) -> tuple[Any, ...]:
    row = list(_VALUES(entry))
    row[0] = bytes.fromhex(entry.key)
    row[_DROPPED] = orjson.dumps(entry.dropped).decode() if entry.dropped else "[]"
    row[_ANSWER] = None if entry.answer is None else entry.answer.decode()
    # Replies may hold halves of surrogate pairs, which have no UTF-8.
    row[_REPLY], row[_DETAIL] = _storable(entry.reply), _storable(entry.detail)
    return tuple(row)


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry of a row with all `COLUMNS`.

    Raises:
        ValueError, TypeError, zlib.error: the row is damaged.
    """
    values = list(row)
    for name, value, types in zip(_NAMES, values, _STORED, strict=True):
        if not isinstance(value, types):
            raise TypeError(f"its {name} is {value!r:.80}")
    Reason(values[_REASON] or Reason.REFUSED)
    if not 0 <= values[-1] < END_OF_TIME:
        raise ValueError(f"it is from the second {values[-1]}")
    values[0] = values[0].hex()
    values[_REQUEST] = zlib.decompress(values[_REQUEST])
    values[_ANSWER] = None if values[_ANSWER] is None else values[_ANSWER].encode()
    values[_DROPPED] = () if values[_DROPPED] == "[]" else tuple(orjson.loads(values[_DROPPED]))
    return Entry(*values)
