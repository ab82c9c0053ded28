"""The ledger: every answer that was paid for, kept before it is used. Reading happens at once; one
thread writes, and commits together what gathered during its last commit.

It is a file of SQLite (`LedgerFile`), with a write-ahead log and full sync: what was committed
survives a killed process and a power cut. Or it is a database of PostgreSQL (`LedgerDatabase`)."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

from ragassay.base import json_data
from ragassay.base.errors import InputError, LedgerError, RagassayError, UsageError, system_problem
from ragassay.judges.ledger.paid_answers import (
    COLUMNS,
    FACTS,
    KEEP,
    MAKE,
    REJECTED,
    SELECT,
    TABLE,
    Paid,
    damaged,
    rejection,
    unreadable,
)
from ragassay.judges.ledger.postgres_ledger import PREFIXES, LedgerDatabase

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MEMORY = ":memory:"
APPLICATION = 0x52474C31  # ``RGL1``, in the header of each ledger
VERSION = 2

_HEADER = "SELECT * FROM pragma_application_id, pragma_user_version"

BUSY_S = 60.0  # how long one process waits for another that writes to the same file

DEFAULT = Path(".ragassay") / "ledger.sqlite"
"""Where a project keeps its ledger, seen from the folder where runs are started."""

_PAGE = 500  # rows in one query

FIRST_WAIT_S, LAST_WAIT_S = 0.02, 0.5
"""Seconds between two attempts to take a lease, at first and at last."""

MakeRows = Callable[[], Iterable[Paid]]
_Waiting = tuple[MakeRows, bool, "asyncio.Future[None]"]
"""What makes rows, whether they replace any others, and who waits for them."""

_Ended = list[tuple["asyncio.Future[None]", Exception | None]]
"""Who waited, and the error where nothing was kept."""


class Ledger:
    """The answers of a project. Safe to share between threads, and the file between processes. It
    is made where it is missing, unless ``create`` is false; ``:memory:`` keeps nothing, and
    ``postgresql://...`` names a database.

    Raises:
        InputError: the file is not a ledger, of another version, or damaged.
        UsageError: it cannot be written."""

    def __init__(self, path: str | Path = DEFAULT, *, create: bool = True) -> None:
        kind = LedgerDatabase if str(path).startswith(PREFIXES) else LedgerFile
        self._place: Any = kind(str(path))  # the two are used alike
        self.path: str = self._place.path
        self.release: Callable[[str], None] = self._place.release  # gives a request's lease back
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

    def get(self, key: str) -> Paid | None:
        """The row of a key; ``None`` where there is none."""
        return next(self.find([key]), None)

    def find(self, keys: Iterable[str]) -> Iterator[Paid]:
        """Yields the rows of these keys that are there, in any order."""
        wanted = map(bytes.fromhex, keys)
        while some := list(islice(wanted, _PAGE)):
            marks = ", ".join("?" * len(some))
            yield from self._paid(f"{SELECT} WHERE key IN ({marks})", some)

    def rows(
        self, chosen: str, *values: Any, youngest: bool = False, page: int = _PAGE
    ) -> Iterator[Paid]:
        """Yields the rows that a condition in SQL chooses, with the values of its marks, the oldest
        (or the youngest) first. Reads a page at a time, so that nobody waits long."""
        sign, order = ("<", "DESC") if youngest else (">", "ASC")
        ordered = f"ORDER BY created {order}, key {order} LIMIT {page}"
        after, last = "", list[Any]()
        while some := list(
            self._paid(f"{SELECT} WHERE {chosen}{after} {ordered}", [*values, *last])
        ):
            yield from some
            after = f" AND (created, key) {sign} (?, ?)"
            last = [some[-1].created, bytes.fromhex(some[-1].key)]

    def keep(
        self, rows: MakeRows, *, stale: bool = False, gather: float = 0.0
    ) -> asyncio.Future[None]:
        """Keeps rows, in place of those with the same keys, even if nobody waits for the future: it
        is done when they are durable, or holds a `UsageError`. A failure does not replace an
        answer, unless that is ``stale``. ``rows`` makes them on the writer's thread, which waits
        ``gather`` seconds for more."""
        done = asyncio.get_running_loop().create_future()
        with self._adding:
            if self._closed:
                raise RuntimeError("the ledger is closed")
            self._waiting.append((rows, stale, done))
            if len(self._waiting) == 1:
                self._writing.submit(self._write_all, 0.0 if self.path == MEMORY else gather)
        return done

    def delete(self, chosen: str, *values: Any) -> int:
        """Deletes rows, and returns their number. Their space is given back to the disk: another
        time, where another process is writing at this moment."""
        with self._reading, self._place.explained():
            with self._reader:
                self._reader.execute(self._place.begin)
                n = self._reader.execute(f"DELETE FROM {TABLE} WHERE {chosen}", values).rowcount
            with suppress(UsageError), self._place.explained():
                if n:
                    self._place.shrink(self._reader)
        return int(n)

    def rejected(self, endpoint: str, model: str) -> KeysView[str]:
        """The parameters that an endpoint is known not to take for a model, in the order in which
        they were rejected."""
        query = f"SELECT subject FROM {TABLE} WHERE kind = ? AND source = ? AND name = ? "
        rows = self.select(f"{query} ORDER BY created, key", (REJECTED, endpoint, model))
        return dict.fromkeys(subject for (subject,) in rows).keys()

    async def reject(self, endpoint: str, model: str, parameters: Iterable[str]) -> None:
        """Remembers, for this run and later ones, that an endpoint does not take parameters."""
        now = time.time()
        rows = [rejection(endpoint, model, name, now) for name in parameters]
        await self.keep(lambda: rows)

    async def claim(self, key: str, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Waits until no other process of this ledger sends a request, and says whether its lease
        is held now: then look again for its row, and release it at the end."""
        wait = FIRST_WAIT_S
        while not self._place.take(key):
            if given_up():
                return False
            await asyncio.sleep(wait)
            wait = min(2 * wait, LAST_WAIT_S)
        return True

    def select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query in SQL; ``?`` marks a value in it."""
        with self._reading, self._place.explained():
            return self._reader.execute(query, values).fetchall()

    def _paid(self, query: str, values: Sequence[Any]) -> Iterator[Paid]:
        for row in self.select(query, values):
            try:
                yield Paid.of(row)
            except (ValueError, TypeError, AttributeError) as error:
                raise unreadable(self.path, error) from error

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

    def _write_all(self, gather: float) -> None:
        """Writes all that has gathered in one transaction; where that fails, one by one, so that
        only what is at fault is lost. Where the disk is full, what still fits is kept."""
        if gather:
            time.sleep(gather)
        with self._adding:
            waiting, self._waiting = self._waiting, []
        attempts = deque([waiting])
        ended: dict[asyncio.AbstractEventLoop, _Ended] = {}
        while attempts:
            batch, lost = attempts.popleft(), None
            try:
                if self._writer is None:
                    self._writer = self._place.connect()
                lock = self._reading if self._writer is self._reader else nullcontext()
                rows = []
                for make, stale, _ in batch:
                    for paid in make():
                        values = [getattr(paid, name) for name in COLUMNS]
                        values[0] = bytes.fromhex(paid.key)
                        values[FACTS] = json_data.dumps(paid.facts)
                        rows.append([*values, stale])
                with lock, self._place.explained(), self._writer:
                    self._writer.execute(self._place.begin)
                    self._writer.executemany(KEEP, rows)
            except Exception as error:
                if len(batch) > 1:
                    attempts.extend([pair] for pair in batch)
                    continue
                lost = error
                if isinstance(error, RagassayError):  # it would meet all others, too
                    batch = [*batch, *chain.from_iterable(attempts)]
                    attempts.clear()
            for *_, done in batch:
                ended.setdefault(done.get_loop(), []).append((done, lost))
        for loop, of_loop in ended.items():
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(_tell, of_loop)  # wakes a loop once a commit


def is_there(path: str | Path) -> bool:
    """Whether there is a ledger to be opened; a database always is."""
    return str(path).startswith(PREFIXES) or Path(path).exists()


def look_into(place: str | Path | None) -> Ledger:
    """The ledger that is at a place, for a plan; where there is none, an empty one in memory."""
    return Ledger(place if place is not None and is_there(place) else MEMORY)


def _tell(ended: _Ended) -> None:
    """Tells those who wait, on their loop, unless they were cancelled."""
    for done, error in ended:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


@dataclass(eq=False)
class LedgerFile:
    """A file of SQLite. A lease is a locked byte (by the request's key) of a file beside it; where
    the system or the disk has no such locks, there are no leases."""

    begin: ClassVar[str] = "BEGIN IMMEDIATE"
    path: str
    _leases: int | None = None

    def connect(self, *, create: bool = True) -> sqlite3.Connection:
        """A connection to the ledger, which is made where there is none."""
        if self.path != MEMORY and not Path(self.path).is_file():
            _find_place(Path(self.path), create)
        with self.explained():
            connection = sqlite3.connect(
                self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                if connection.execute(_HEADER).fetchone() != (APPLICATION, VERSION):
                    with connection:
                        connection.execute(self.begin)
                        self._make(connection)
                connection.execute("PRAGMA synchronous = FULL")
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    _write_ahead(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Makes a ledger of an empty file, unless another process has just made it."""
        application, version = connection.execute(_HEADER).fetchone()
        if (application, version) == (APPLICATION, VERSION):
            return
        if application == APPLICATION:
            raise InputError(
                f"is a ledger of version {version}, and this ragassay reads version {VERSION}",
                path=self.path,
                hint="Use the ragassay that wrote it, or name another ledger with --ledger.",
            )
        if application or connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise InputError(
                "is a database of another program",
                path=self.path,
                hint="Name another file for the ledger with --ledger.",
            )
        for statement in MAKE:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turns errors of the database into sentences that say what to do."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            problem = str(error)
            if "not a database" in problem:
                hint = "Name another file for the ledger with --ledger."
                raise InputError("is not a ledger", path=self.path, hint=hint) from error
            for words, advice in _ADVICE.items():
                if re.search(words, problem):
                    detail = advice.format(busy=BUSY_S, problem=problem)
                    raise LedgerError(f"{self.path}: {detail}") from error
            raise damaged(self.path, problem) from error
        except UnicodeDecodeError as error:  # SQLite quotes what it found
            raise damaged(self.path, "it holds something that is not text") from error

    def shrink(self, connection: sqlite3.Connection) -> None:
        """Gives the space of what was deleted back to the disk."""
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def take(self, key: str) -> bool:
        """Takes the lease of a request, unless another process has it."""
        if fcntl is None or self.path == MEMORY:
            return True
        try:
            if self._leases is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._leases = os.open(f"{self.path}-leases", flags, 0o600)
            fcntl.lockf(self._leases, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:15], 16))
        except (BlockingIOError, PermissionError):
            return self._leases is None  # a file that cannot be made takes no lease
        except OSError:
            return True
        return True

    def release(self, key: str) -> None:
        """Gives a lease back."""
        if fcntl is not None and self._leases is not None:
            with suppress(OSError):
                fcntl.lockf(self._leases, fcntl.LOCK_UN, 1, int(key[:15], 16))

    def close(self) -> None:
        """Gives all leases back."""
        if self._leases is not None:
            os.close(self._leases)
            self._leases = None


def _find_place(path: Path, create: bool) -> None:
    if path.is_dir():
        raise InputError("is a folder, not a ledger", path=path, hint="Name the file inside it.")
    if not create and not path.exists():
        raise InputError(
            "there is no ledger here",
            path=path,
            hint="A run with an LLM judge makes a ledger in its working folder. Name another "
            "with --ledger.",
        )
    problem = "the ledger's folder cannot be made"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        problem = "the ledger cannot be written"
        if not path.exists():
            # It will hold all texts that were sent, so it is its owner's alone. The files that
            # SQLite puts beside it take their rights from it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise UsageError(
            f"{path}: {problem} ({system_problem(error)}). Choose another place with --ledger."
        ) from error


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switches the write-ahead log on. A network drive may not support it; the ledger works
    without."""
    give_up = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # This pragma alone does not wait for other connections.
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


_ADVICE = {
    "locked|busy": "another process has been writing to this ledger for more than {busy:.0f} "
    "seconds. Wait until it ends, or use another with --ledger.",
    "full": "the disk is full, so no answer can be kept. Make room and run the same command again: "
    "what was answered before is not asked again.",
    "readonly|unable to open|disk I/O": "the ledger cannot be written ({problem}). Choose another "
    "place with --ledger.",
}
"""What SQLite says where a ledger is sound and cannot be written, and what to do then."""
