"""The ledger: every answer that was paid for, kept before it is used.

One SQLite file a project, shared by any number of runs and processes. Reading happens at once on
the thread that asks. Writing happens on one thread of its own, which commits whatever has gathered
while the last commit was on its way to the disk: under load many answers share one sync.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import orjson
from pydantic import ConfigDict, Field, ValidationError, create_model

from ragassay.base.errors import RagassayError
from ragassay.base.problem_words import validation_problem
from ragassay.base.score import Reason
from ragassay.judges.ledger.ledger_database import PREFIXES, LedgerDatabase
from ragassay.judges.ledger.ledger_file import MEMORY, LedgerFile, damaged

DEFAULT = Path(".ragassay") / "ledger.sqlite"
"""Where a project keeps its ledger, seen from the folder where runs are started."""

END_OF_TIME = 1e11
"""A moment in seconds that no calendar here reaches."""


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
    created: Annotated[float, Field(ge=0, lt=END_OF_TIME)]


PROVENANCE = (
    *("prompt_hash", "reply", "input_tokens", "output_tokens", "cost", "latency"),
    *("attempts", "dropped"),
)
"""The fields that an entry shares with the provenance of its verdict."""

_NAMES = tuple(field.name for field in fields(Entry))
_TYPES: Any = {name: (one, ...) for name, one in get_type_hints(Entry, include_extras=True).items()}
_Row = create_model("_Row", __config__=ConfigDict(strict=True), **_TYPES)
"""Checks the types of the columns; SQLite itself takes any value in any of them."""

COLUMNS = ", ".join(_NAMES)
_FIND = f"SELECT {COLUMNS} FROM verdicts WHERE key = ?"
_MARKS = ", ".join(f":{name}" for name in _NAMES)
# A database must know what kind of value a missing price is.
_MARKS = _MARKS.replace(":cost", "CAST(:cost AS DOUBLE PRECISION)")
_KEEP = f"INSERT OR REPLACE INTO verdicts ({COLUMNS}) SELECT {_MARKS}"
_KEEP_FAILURE = (
    f"{_KEEP} WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE key = :key AND reason IS NULL)"
)
_REJECT = "INSERT OR IGNORE INTO rejected (endpoint, model, parameter) VALUES (?, ?, ?)"

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""

_PAGE = 500

FIRST_WAIT_S, LAST_WAIT_S = 0.02, 0.5
"""Seconds between two attempts to take a lease, at first and at last."""

_Values = Sequence[Any] | Mapping[str, Any]
_Statements = Sequence[tuple[str, _Values]]
_Waiting = tuple[_Statements, "asyncio.Future[None]"]
"""Statements with their values, and who waits for them."""

_Ended = list[tuple["asyncio.Future[None]", Exception | None]]
"""Who waited, and the error where nothing was kept."""


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
        statement = _KEEP if entry.reason is None or stale else _KEEP_FAILURE
        await self.write([(statement, _row_of(entry))])

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
        await self.claim(key)
        try:
            yield
        finally:
            self.release(key)

    async def claim(self, key: str, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Waits for the lease of a request. What is claimed is to be released.

        Args:
            key: of the request.
            given_up: whether to wait no longer.

        Returns:
            Whether it is held now.
        """
        wait = FIRST_WAIT_S
        while not self._place.take(key):
            if given_up():
                return False
            await asyncio.sleep(wait)
            wait = min(2 * wait, LAST_WAIT_S)
        return True

    def release(self, key: str) -> None:
        """Gives the lease of a request back."""
        self._place.release(key)

    def select(self, query: str, values: _Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, for administration and reports.

        Args:
            query: in SQL.
            values: of the marks or names in the query.
        """
        with self._reading, self._place.explained():
            return self._reader.execute(query, values).fetchall()

    def entries(self, where: str, values: Mapping[str, Any]) -> Iterator[Entry]:
        """Yields the entries that meet a condition, oldest first. Reads a few at a time.

        Args:
            where: a condition in SQL.
            values: of the names in the condition.
        """
        query = (
            f"SELECT rowid, {COLUMNS} FROM verdicts WHERE ({where}) AND rowid > :last "
            f"ORDER BY rowid LIMIT {_PAGE}"
        )
        last = 0
        while page := self.select(query, {**values, "last": last}):
            last = page[-1][0]
            yield from (self._entry(row[1:]) for row in page)

    def _entry(self, row: Sequence[Any]) -> Entry:
        try:
            return entry_of(row)
        except (zlib.error, ValueError, TypeError, AttributeError) as error:
            problem = str(error)
            if isinstance(error, ValidationError):
                problem = f"its {validation_problem(error)}"
            raise damaged(self.path, f"a kept answer cannot be read: {problem}") from error

    def change(self, statement: str, values: _Values = ()) -> int:
        """Executes one statement and commits it, for administration.

        Args:
            statement: in SQL.
            values: of the marks or names in the statement.

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

    def write(self, statements: _Statements, gather: float = 0.0) -> asyncio.Future[None]:
        """Executes statements on the writer's thread, also for what is stored beside the answers.

        Args:
            statements: in SQL, with their values.
            gather: seconds for which the writer waits for more to be written together; for callers
                that do not wait.

        Returns:
            A future that is done when they are durable; it holds a `UsageError` where the file
            cannot be written any more.
        """
        done = asyncio.get_running_loop().create_future()
        with self._adding:
            if self._closed:
                raise RuntimeError("the ledger is closed")
            self._waiting.append((statements, done))
            if len(self._waiting) == 1:
                self._writing.submit(self._write_all, 0.0 if self.path == MEMORY else gather)
        return done

    def _write_all(self, gather: float) -> None:
        """Writes all that has gathered in one transaction; where that fails, one by one, so that
        only what is at fault is lost. Where the disk is full, what still fits is kept.
        """
        if gather:
            time.sleep(gather)
        with self._adding:
            waiting, self._waiting = self._waiting, []
        lost = self._attempt(waiting)
        one_by_one = lost is not None and len(waiting) > 1
        ended: dict[asyncio.AbstractEventLoop, _Ended] = {}
        for at, (_, done) in enumerate(waiting):
            if one_by_one and not (at and isinstance(lost, RagassayError)):
                lost = self._attempt(waiting[at : at + 1])
            ended.setdefault(done.get_loop(), []).append((done, lost))
        for loop, of_loop in ended.items():
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(_tell, of_loop)  # wakes a loop once a commit

    def _attempt(self, waiting: Sequence[_Waiting]) -> Exception | None:
        """Executes one transaction; returns its error, if there is one."""
        try:
            if self._writer is None:
                self._writer = self._place.connect()
            lock = self._reading if self._writer is self._reader else nullcontext()
            rows = [(text, _packed(values)) for each, _ in waiting for text, values in each]
            with lock, self._place.explained(), self._place.transaction(self._writer):
                for statement, group in groupby(rows, itemgetter(0)):
                    self._writer.executemany(statement, (values for _, values in group))
        except Exception as error:
            return error
        return None


def _tell(ended: _Ended) -> None:
    """Tells those who wait, on their loop, unless they were cancelled."""
    for done, error in ended:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _packed(values: _Values) -> _Values:
    """Compression happens on the writer's thread, outside Python's lock."""
    if isinstance(values, Mapping):
        return {**values, "request": zlib.compress(values["request"], _COMPRESSION)}
    return values


def _row_of(entry: Entry) -> dict[str, Any]:
    return {
        **{name: getattr(entry, name) for name in _NAMES},
        "key": bytes.fromhex(entry.key),
        "dropped": orjson.dumps(entry.dropped).decode(),
        "answer": None if entry.answer is None else entry.answer.decode(),
        # Replies may hold halves of surrogate pairs, which have no UTF-8.
        "reply": entry.reply.encode("utf-8", "replace").decode(),
        "detail": entry.detail.encode("utf-8", "replace").decode(),
    }


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry of a row with all `COLUMNS`.

    Raises:
        ValueError, TypeError, AttributeError, zlib.error: the row is damaged.
    """
    values = dict(zip(_NAMES, row, strict=True))
    Reason(values["reason"] or Reason.REFUSED)
    answer = values["answer"]
    values |= {
        "key": values["key"].hex(),
        "request": zlib.decompress(values["request"]),
        "answer": None if answer is None else answer.encode(),
        "dropped": tuple(orjson.loads(values["dropped"])),
    }
    return Entry(**vars(_Row.model_validate(values)))
