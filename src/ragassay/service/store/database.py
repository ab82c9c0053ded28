"""Opens the store and its transactions: SQLite in a folder, or PostgreSQL."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from ragassay.base.errors import UsageError, extra_needed, system_problem
from ragassay.service.named_models import NamedModels
from ragassay.service.store import schema
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable

FILE = "ragassay.sqlite"
BUSY_S = 30.0
"""Seconds that a transaction waits for another one's."""

MIGRATIONS: dict[int, Sequence[str]] = {
    1: (
        "DELETE FROM uploads",  # they are kept for a day
        "ALTER TABLE uploads DROP COLUMN content",
        "ALTER TABLE uploads ADD COLUMN size BIGINT",
    ),
    2: (
        "ALTER TABLE records ADD COLUMN search TEXT NOT NULL DEFAULT ''",
        "UPDATE records SET search = lower(body)",
    ),
    3: (
        "ALTER TABLE tokens ADD COLUMN expires FLOAT",
        "ALTER TABLE tokens ADD COLUMN used FLOAT",
        "INSERT INTO closed SELECT min(created) FROM tokens HAVING count(*) > 0",
    ),
    4: ("ALTER TABLE report_files ADD COLUMN kept FLOAT",),
}
"""How the tables of a version become those of the next one, by the version that they start from.
Tables that are missing are made before."""


class Store:
    """The database of a service: SQLite in a folder, which is made where it is missing, or
    ``postgresql://...``. Safe to share between threads."""

    def __init__(self, address: str | Path, models: NamedModels | None = None) -> None:
        self.address = str(address)
        self.models = models or NamedModels()
        self.folder, self.engine = _engine(address)
        # SQLite lets writers try again at random, and one of many may wait for ever: the writers of
        # this process come one after the other.
        self._turn = threading.RLock() if self.is_sqlite else contextlib.nullcontext()
        with _explained(self.where):
            self._migrate()

    @property
    def where(self) -> str:
        """What messages call it: without a password."""
        return self.engine.url.render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file in a folder."""
        return self.engine.dialect.name == "sqlite"

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads."""
        with _explained(self.where), self.engine.connect() as connection:
            yield connection

    def rows(self, chosen: sa.Select[Any]) -> Sequence[Any]:
        """What a statement chooses, read in a transaction of its own."""
        with self.reading() as connection:
            return connection.execute(chosen).all()

    def row(self, table: sa.Table, key: str) -> Any:
        """The row of a table with this id; `NotThere` where there is none."""
        rows = [] if "\0" in key else self.rows(sa.select(table).where(table.c.id == key))
        if not rows:
            raise NotThere(_kind(table), key)
        return rows[0]

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes: durable when the block ends, undone when it raises."""
        # A deferred transaction of SQLite that begins to write fails at once where another one
        # writes, whatever the timeout.
        with self._turn, _explained(self.where), self.engine.begin() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def write(self, *statements: sa.Executable) -> int:
        """Executes statements in one transaction; how many rows the last one concerned."""
        with self.writing() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def remove(self, table: sa.Table, key: str) -> None:
        """Deletes the row of an id, and what belongs to it: a project's paid answers, too."""
        with self.writing() as connection:
            if not connection.execute(sa.delete(table).where(table.c.id == key)).rowcount:
                raise NotThere(_kind(table), key)
            if table is schema.projects and self.folder is None:
                connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "ledger_{key}" CASCADE')
            elif table is schema.projects and self.folder is not None:
                for path in (self.folder / "ledgers").glob(f"{key}.sqlite*"):
                    path.unlink(missing_ok=True)

    def ledger(self, project_id: str) -> str:
        """Where the paid answers of a project are: a file beside the store's, or a schema of its
        database. It may hold a password."""
        if self.folder is not None:
            return str(self.folder / "ledgers" / f"{project_id}.sqlite")
        url = self.engine.url.set(drivername="postgresql").update_query_dict(
            {"options": f"-csearch_path=ledger_{project_id}"}
        )
        return url.render_as_string(hide_password=False)

    def check(self) -> None:
        """Asks the database for an answer."""
        self.rows(sa.select(schema.schema_versions.c.version))

    def close(self) -> None:
        """Ends all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        with self.writing() as connection:
            if not self.is_sqlite:  # several processes may start at once
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7272447)")
            if not sa.inspect(connection).has_table(schema.schema_versions.name):
                schema.metadata.create_all(connection)
                connection.execute(sa.insert(schema.schema_versions).values(version=schema.VERSION))
                return
            version = connection.execute(sa.select(schema.schema_versions.c.version)).scalar_one()
            if version > schema.VERSION:
                raise UsageError(
                    f"{self.where} was made by a newer ragassay (version {version} of the tables; "
                    f"this one knows {schema.VERSION}). Update ragassay."
                )
            schema.metadata.create_all(connection)
            for before in range(version, schema.VERSION):
                for statement in MIGRATIONS[before]:
                    connection.exec_driver_sql(statement)
            connection.execute(schema.schema_versions.update().values(version=schema.VERSION))


def _kind(table: sa.Table) -> str:
    """What messages call a row of a table."""
    return table.name.removesuffix("s")


def has_store(address: str | Path) -> bool:
    """Whether a folder holds a store. A database is taken to hold one: only it can say."""
    return "://" in str(address) or (Path(address) / FILE).is_file()


def new_id() -> str:
    """A new id: 24 hexadecimal digits, the first ones by time."""
    return f"{int(time.time() * 1000):011x}{secrets.token_hex(7)[:13]}"


def keyed_id(store: Store, path: str, key: str, content: bytes) -> str:
    """The id of what a request makes that may be sent again: the same request makes the same one. A
    key of which another request to this path made use is a `Conflict`."""
    place = hashlib.blake2b(f"{path}\0{key}".encode(), digest_size=8).hexdigest()
    made = place + hashlib.blake2b(content, digest_size=4).hexdigest()
    for table in (schema.projects, schema.tasks, schema.reports, schema.uploads):
        same_place = table.c.id.between(place, f"{place}g")  # ids are hexadecimal digits
        if store.rows(sa.select(table.c.id).where(same_place, table.c.id != made).limit(1)):
            raise Conflict(
                f"The Idempotency-Key {key!r} was sent with another request. Send a new key."
            )
    return made


def _engine(address: str | Path) -> tuple[Path | None, sa.Engine]:
    text = str(address)
    if "://" not in text:
        folder = Path(address).absolute()  # a job's process works in a folder of its own
        try:
            # Records and answers are nobody else's. SQLite's further files are as the first one.
            folder.mkdir(0o700, parents=True, exist_ok=True)
            (folder / FILE).touch(0o600)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {system_problem(error)}.") from error
        engine = sa.create_engine(
            f"sqlite:///{folder / FILE}", connect_args={"timeout": BUSY_S}, hide_parameters=True
        )
        sa.event.listen(engine, "connect", _set_sqlite_up)
        return folder, engine
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise UsageError("The address of the store is not a URL.") from error
    if url.get_backend_name() != "postgresql":
        raise UsageError(
            f"A store is a folder, or postgresql://USER@HOST/DATABASE, not {url.drivername}."
        )
    with extra_needed("PostgreSQL needs its package", "postgres"):
        return None, sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=10,
            hide_parameters=True,
            # A prepared statement keeps the plan that it was given while its tables were small.
            connect_args={"connect_timeout": 10, "prepare_threshold": None},
        )


def _set_sqlite_up(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `Store` says
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextlib.contextmanager
def _explained(where: str) -> Iterator[None]:
    """What the database refuses, as one sentence."""
    try:
        yield
    except OperationalError as error:
        reason = str(error.orig).strip().split("\n")[0]
        raise StoreUnavailable(f"The store {where} cannot be used: {reason}.") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreUnavailable(f"The store {where} ended the connection. Try again.") from error
        raise
