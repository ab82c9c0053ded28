"""A ledger in PostgreSQL, for workers on several machines: the table of the file, in the first
schema of the connection's search path, and leases as advisory locks, which end with the connection
of a worker that dies.

An address is a URL ``postgresql://...``. What it leaves out comes from libpq's environment
(``PGHOST``, ``PGPASSWORD``, ``PGOPTIONS`` ...), so that no configuration needs to hold a secret.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ragassay.base.errors import LedgerError, extra_needed
from ragassay.judges.ledger.paid_answers import TABLE, make

PREFIXES = ("postgresql://", "postgres://")
PATIENCE_S = 30.0
"""How long a database that is away is waited for."""


class LedgerDatabase:
    """Where a ledger is: see `LedgerFile`, whose methods it has."""

    def __init__(self, address: str) -> None:
        with extra_needed("A ledger in PostgreSQL needs a package", "postgres"):
            import psycopg
        self._address, self._error = address, psycopg.Error
        self.path = re.sub(r"(?<=:)[^:/@]*(?=@)", "***", address)  # messages name it
        self._leases: _Connection | None = None
        self._leasing = threading.Lock()

    def connect(self, *, create: bool = True) -> _Connection:
        """A connection; the tables are made where they are missing."""
        with self.explained():
            connection = _Connection(self._address)
            ((path,),) = connection.execute("SHOW search_path").fetchall()
            schema = path.split(",")[0].strip().strip('"')
            with self.transaction(connection):
                # Two workers that begin together make one ledger.
                connection.execute("SELECT pg_advisory_xact_lock(1380405297)")
                if schema not in ("$user", "public", ""):
                    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
                tables = connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
                )
                names = {name for (name,) in tables.fetchall()}
                if TABLE not in names:
                    make(connection, names, self.path)
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

    @contextmanager
    def transaction(self, connection: _Connection) -> Iterator[None]:
        """All of the block is written, or nothing."""
        connection.execute("BEGIN")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            connection.give_up()
            raise

    def shrink(self, connection: _Connection) -> None:
        """Gives the space of what was deleted back."""
        connection.execute("VACUUM")

    def take(self, key: str) -> bool:
        """Takes the lease of a request, unless another process has it."""
        with self._leasing, self.explained():
            if self._leases is None:
                self._leases = _Connection(self._address)
            return self._lock("pg_try_advisory_lock", key)

    def release(self, key: str) -> None:
        """Gives a lease back. Where the connection was lost, it is back already."""
        with self._leasing, suppress(self._error):
            self._lock("pg_advisory_unlock", key)

    def _lock(self, function: str, key: str) -> bool:
        if self._leases is None:
            return False
        query = f"SELECT {function}(hashtextextended(current_schema(), ?))"
        return bool(self._leases.execute(query, (_half(key),)).fetchall()[0][0])

    def close(self) -> None:
        """Gives all leases back."""
        if self._leases is not None:
            self._leases.close()


class _Connection:
    """A connection that takes the statements of an SQLite ledger, and comes back where it was lost.

    A statement within a transaction that is lost raises: the caller begins again.
    """

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

    def give_up(self) -> None:
        """Undoes the transaction."""
        self._within = False
        with suppress(Exception):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _half(key: str) -> int:
    """64 bits of a request's key, as a signed number."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _marked(statement: str) -> Any:
    """A statement with psycopg's marks of values."""
    return statement.replace("?", "%s")
