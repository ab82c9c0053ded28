"""A ledger in a database of PostgreSQL, for several machines: the same table as in a file, and the
same SQL. What its URL leaves out comes from libpq's environment, so that no configuration needs to
hold a secret; the table is in the first schema of its search path."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ragassay.base.errors import LedgerError, extra_needed
from ragassay.judges.ledger.paid_answers import MAKE, TABLE

PREFIXES = ("postgresql://", "postgres://")
PATIENCE_S = 30.0  # how long a database that is away is waited for


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
            with connection:
                connection.execute(self.begin)
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
    As a context manager it ends a transaction. A statement within one that is lost raises: the
    caller begins again."""

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

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Writes all of the transaction, or undoes it."""
        if kind is None:
            try:
                self.execute("COMMIT")
                return
            except BaseException:
                self._undo()
                raise
        self._undo()

    def _undo(self) -> None:
        self._within = False
        with suppress(Exception):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _marked(statement: str) -> Any:
    """A statement with psycopg's marks of values."""
    return statement.replace("?", "%s")
