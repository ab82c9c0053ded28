"""The file of a ledger: how it is opened, what is in it, and the errors where it cannot be opened.

SQLite with a write-ahead log and full sync: what was committed survives a killed process and a
power cut. An application id and a version in the header tell a ledger from other files.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragassay.base.errors import InputError, LedgerError, UsageError
from ragassay.base.problem_words import system_problem
from ragassay.judges.ledger.paid_answers import damaged, make

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MEMORY = ":memory:"
APPLICATION = 0x52474C31
"""``RGL1``, in the header of each ledger."""
VERSION = 2

BUSY_S = 60.0
"""How long one process waits for another that writes to the same file."""


class LedgerFile:
    """Where a ledger is: a file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._leases: int | None = None

    def connect(self, *, create: bool = True) -> sqlite3.Connection:
        """A connection to the ledger, which is made where there is none."""
        if self.path != MEMORY:
            _find_place(Path(self.path), create)
        with self.explained():
            connection = sqlite3.connect(
                self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection, self.path)
            except BaseException:
                connection.close()
                raise
        return connection

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turns errors of SQLite into sentences that say what to do."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _explanation(self.path, error) from error
        except UnicodeDecodeError as error:  # SQLite quotes what it found
            raise damaged(self.path, "it holds what is no text") from error

    @staticmethod
    @contextmanager
    def transaction(connection: sqlite3.Connection) -> Iterator[None]:
        """All of the block is written, or nothing."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite ends it by itself when the disk is full
                connection.execute("ROLLBACK")
            raise

    def shrink(self, connection: sqlite3.Connection) -> None:
        """Gives the space of what was deleted back to the disk."""
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def take(self, key: str) -> bool:
        """Takes the lease of a request, unless another process has it.

        A lease is a locked byte of a file beside the ledger: it ends with the process that has it.
        Where the system or the disk knows no such locks, there are no leases.
        """
        if fcntl is None or self.path == MEMORY:
            return True
        try:
            if self._leases is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._leases = os.open(f"{self.path}-leases", flags, 0o600)
            fcntl.lockf(self._leases, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place_of(key))
        except (BlockingIOError, PermissionError):
            return self._leases is None  # a file that cannot be made takes no lease
        except OSError:
            return True
        return True

    def release(self, key: str) -> None:
        """Gives a lease back."""
        if fcntl is not None and self._leases is not None:
            with suppress(OSError):
                fcntl.lockf(self._leases, fcntl.LOCK_UN, 1, _place_of(key))

    def close(self) -> None:
        """Gives all leases back."""
        if self._leases is not None:
            os.close(self._leases)
            self._leases = None


def _place_of(key: str) -> int:
    """The byte that stands for a request."""
    return int(key[:15], 16)


def _find_place(path: Path, create: bool) -> None:
    if path.is_dir():
        raise InputError("is a folder, not a ledger", path=path, hint="Name the file inside it.")
    if not create and not path.exists():
        raise InputError(
            "there is no ledger here",
            path=path,
            hint="A run with an LLM as its judge makes one in the folder where it is started; "
            "name another with --ledger.",
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


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    if _header(connection) != [APPLICATION, VERSION]:
        with LedgerFile.transaction(connection):
            # Looks again: two processes that begin together make one ledger.
            if _header(connection) != [APPLICATION, VERSION]:
                _make(connection, path)
    connection.execute("PRAGMA synchronous = FULL")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _write_ahead(connection)


def _make(connection: sqlite3.Connection, path: str) -> None:
    """Makes a ledger of an empty file, or of one of an older version."""
    application, version = _header(connection)
    if application == APPLICATION and version > VERSION:
        raise InputError(
            f"is a ledger of version {version}, and this ragassay reads version {VERSION}",
            path=path,
            hint="Install the newer ragassay, or name another ledger with --ledger.",
        )
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall()}
    if application != APPLICATION and (application or tables):
        raise InputError(
            "is a database of another program",
            path=path,
            hint="Name another file for the ledger with --ledger.",
        )
    make(connection, tables, path)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _header(connection: sqlite3.Connection) -> list[int]:
    names = ("application_id", "user_version")
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switches the write-ahead log on. Where the file system does not support it (a network drive),
    the ledger works without.
    """
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


_EXPLAINED = {
    "locked|busy": "another process has been writing to this ledger for more than {busy:.0f} "
    "seconds. Wait until it ends, or use another with --ledger.",
    "full": "the disk is full, so no answer can be kept. Make room and run the same command again: "
    "what was answered before is not asked again.",
    "readonly|unable to open|disk I/O": "the ledger cannot be written ({problem}). Choose another "
    "place with --ledger.",
}
"""What SQLite says where a ledger is sound and cannot be written, and what to do then."""


def _explanation(path: str, error: sqlite3.DatabaseError) -> InputError | LedgerError:
    problem = str(error)
    if "not a database" in problem:
        hint = "Name another file for the ledger with --ledger."
        return InputError("is not a ledger", path=path, hint=hint)
    for words, told in _EXPLAINED.items():
        if re.search(words, problem):
            return LedgerError(f"{path}: {told.format(busy=BUSY_S, problem=problem)}")
    return damaged(path, problem)
