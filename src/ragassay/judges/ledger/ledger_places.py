"""Where a ledger is: a file of SQLite, or a database of PostgreSQL for several machines. Both hold
the same table and take the same SQL.

A file has a write-ahead log and full sync: what was committed survives a killed process and a power
cut. What a URL ``postgresql://...`` leaves out comes from libpq's environment, so that no
configuration needs to hold a secret; the table is in the first schema of its search path."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, LedgerError, UsageError, extra_needed, system_problem
from ragassay.judges.ledger.paid_answers import MAKE, TABLE, damaged

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MEMORY = ":memory:"
APPLICATION = 0x52474C31  # ``RGL1``, in the header of each ledger
VERSION = 2

_HEADER = "SELECT * FROM pragma_application_id, pragma_user_version"

BUSY_S = 60.0  # how long one process waits for another that writes to the same file

PREFIXES = ("postgresql://", "postgres://")
PATIENCE_S = 30.0  # how long a database that is away is waited for


@contextmanager
def transaction(connection: Any, begin: str = "BEGIN") -> Iterator[None]:
    """All of the block is written, or nothing."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


class LedgerFile:
    """A file of SQLite. A lease is a locked byte (by the request's key) of a file beside it; where
    the system or the disk has no such locks, there are no leases."""

    begin = "BEGIN IMMEDIATE"

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
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if connection.execute(_HEADER).fetchone() != (APPLICATION, VERSION):
            with transaction(connection, self.begin):
                self._make(connection)
        connection.execute("PRAGMA synchronous = FULL")
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            _write_ahead(connection)

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
            raise damaged(self.path, "it holds what is no text") from error

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


class LedgerDatabase:
    """A database of PostgreSQL, with the methods of `LedgerFile`. Leases are advisory locks, which
    end with the connection."""

    begin = "BEGIN"

    def __init__(self, address: str) -> None:
        with extra_needed("A ledger in PostgreSQL needs a package", "postgres"):
            import psycopg
        self._address, self._error = address, psycopg.Error
        self.path = re.sub(r"(?<=:)[^:/@]*(?=@)", "***", address)
        self._leases: _Connection | None = None
        self._leasing = threading.Lock()

    def connect(self, *, create: bool = True) -> _Connection:
        """A connection to the ledger, which is made where there is none."""
        with self.explained():
            connection = _Connection(self._address)
            ((path,),) = connection.execute("SHOW search_path").fetchall()
            schema = path.split(",")[0].strip().strip('"')
            with transaction(connection, self.begin):
                # Two workers that begin together make one ledger.
                connection.execute("SELECT pg_advisory_xact_lock(1380405297)")
                if schema not in ("$user", "public", ""):
                    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
                there = connection.execute(
                    "SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
                    (TABLE,),
                )
                for statement in () if there.fetchall() else MAKE:
                    connection.execute(statement)
        return connection

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turns errors of the database into sentences that say what to do."""
        try:
            yield
        except self._error as error:
            problem = " ".join(str(error).split()) or type(error).__name__
            raise LedgerError(
                f"The ledger's database cannot be used: {problem}.", passing=True
            ) from error

    def shrink(self, connection: _Connection) -> None:
        """Gives the space of what was deleted back to the disk."""
        connection.execute("VACUUM")

    def take(self, key: str) -> bool:
        """Takes the lease of a request, unless another process has it."""
        with self._leasing, self.explained():
            if self._leases is None:
                self._leases = _Connection(self._address)
            return self._lock("pg_try_advisory_lock", key)

    def release(self, key: str) -> None:
        """Gives a lease back."""
        with self._leasing, suppress(self._error):  # where the connection was lost, it is back
            self._lock("pg_advisory_unlock", key)

    def _lock(self, function: str, key: str) -> bool:
        if self._leases is None:
            return False
        half = hashlib.blake2b(key.encode(), digest_size=8).digest()
        query = f"SELECT {function}(hashtextextended(current_schema(), ?))"
        number = int.from_bytes(half, "big", signed=True)
        return bool(self._leases.execute(query, (number,)).fetchall()[0][0])

    def close(self) -> None:
        """Gives all leases back."""
        if self._leases is not None:
            self._leases.close()


class _Connection:
    """A connection that takes the statements of an SQLite ledger, and comes back where it was lost.
    A statement within a transaction that is lost raises: the caller begins again."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._within = False
        self._open()

    def _open(self) -> None:
        import psycopg

        self._connection = psycopg.connect(self._address, autocommit=True)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Executes one statement; what it gives has ``fetchall`` and ``rowcount``."""
        import psycopg

        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                if self._connection.closed:
                    self._open()
                result = self._connection.execute(_marked(statement), values)
                break
            except psycopg.OperationalError:
                if self._within or not self._connection.closed or time.monotonic() > give_up:
                    raise
                time.sleep(0.5)
        if statement in ("BEGIN", "COMMIT"):
            self._within = statement == "BEGIN"
        return result

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Executes one statement for each row of values. For within a transaction."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), rows)

    def rollback(self) -> None:
        """Undoes the transaction."""
        self._within = False
        with suppress(Exception):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _marked(statement: str) -> Any:
    """A statement with psycopg's marks of values."""
    return statement.replace("?", "%s")
