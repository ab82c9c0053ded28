"""The ledger: every answer that was paid for, kept before it is used. Reading happens at once; one
thread writes, and commits together what gathered during its last commit."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ragassay.base.errors import RagassayError, UsageError
from ragassay.judges.ledger.ledger_places import (
    MEMORY,
    PREFIXES,
    LedgerDatabase,
    LedgerFile,
    transaction,
)
from ragassay.judges.ledger.paid_answers import (
    KEEP,
    REJECTED,
    SELECT,
    TABLE,
    Paid,
    rejection,
    unreadable,
)

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
            with transaction(self._reader, self._place.begin):
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
        lost = self._attempt(waiting)
        one_by_one = lost is not None and len(waiting) > 1
        ended: dict[asyncio.AbstractEventLoop, _Ended] = {}
        for at, (*_, done) in enumerate(waiting):
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
            rows = [[*one.row(), stale] for make, stale, _ in waiting for one in make()]
            begin = self._place.begin
            with lock, self._place.explained(), transaction(self._writer, begin):
                self._writer.executemany(KEEP, rows)
        except Exception as error:
            return error
        return None


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
