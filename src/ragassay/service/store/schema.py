"""The tables of the store, the same in SQLite and PostgreSQL. Times are seconds since 1970."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.schema import SchemaItem

VERSION = 5
"""Raised with every change of the tables; `database.MIGRATIONS` says how to get there."""

metadata = MetaData()

LONGEST_NAME = 400
"""Characters of the id and the system of a record."""

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A key that the database counts up: SQLite does that for its own integers only."""


def _belongs_to(table: str, **more: Any) -> Column[str]:
    """The id of what a row belongs to."""
    key = ForeignKey(f"{table}s.id", ondelete="CASCADE")
    return Column(f"{table}_id", String(40), key, **{"nullable": False, "index": True, **more})


def _made_table(name: str, *more: SchemaItem) -> Table:
    """A table of what the service makes: each row has an id and the time at which it was made."""
    return Table(
        name,
        metadata,
        Column("id", String(40), primary_key=True),
        Column("created", Float, nullable=False),
        *more,
    )


schema_versions = Table("schema_versions", metadata, Column("version", Integer, primary_key=True))

projects = _made_table(
    "projects",
    Column("name", String(200), nullable=False, unique=True),
    Column("description", Text, nullable=False, default=""),
)

tasks = _made_table(
    "tasks",
    _belongs_to("project"),
    Column("name", String(200), nullable=False),
    # What a `TaskOptions` holds.
    Column("options", JSON, nullable=False),
    UniqueConstraint("project_id", "name"),
)

models = _made_table(
    "models",
    _belongs_to("task"),
    Column("name", String(200), nullable=False),
    Column("version", String(200), nullable=False),
    UniqueConstraint("task_id", "name", "version"),
)

records = Table(
    "records",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _belongs_to("task", index=False),
    Column("id", String(LONGEST_NAME), nullable=False),
    # Several systems, or several runs of one, may answer the same id.
    Column("system", String(LONGEST_NAME), nullable=False, server_default=""),
    Column("repeat", Integer, nullable=False, server_default="0"),
    Column("version", Integer, nullable=False),
    # Whether no younger version is there.
    Column("is_latest", Boolean, nullable=False, server_default=true()),
    Column("timestamp", Float, nullable=False),
    Column("received", Float, nullable=False),
    # The body's hash: the same record sent again changes nothing.
    Column("hash", LargeBinary(16), nullable=False),
    # What a search looks into: id, system, query, answer, in small letters.
    Column("search", Text, nullable=False),
    # The record as JSON, in the native format of ragassay.
    Column("body", Text, nullable=False),
    UniqueConstraint("task_id", "id", "system", "repeat", "version"),
    Index("records_in_time", "task_id", "is_latest", "timestamp", "number"),
)

reports = _made_table(
    "reports",
    _belongs_to("task"),
    Column("name", String(200), nullable=False),
    # None for a run folder that was uploaded.
    Column("from_timestamp", Float),
    Column("to_timestamp", Float),
    # What a `ReportOptions` holds.
    Column("options", JSON, nullable=False),
    # Means and intervals of its summary, for lists.
    Column("headline", JSON),
)

report_files = Table(
    "report_files",
    metadata,
    _belongs_to("report", index=False, primary_key=True),
    # A zip of the run folder.
    Column("archive", LargeBinary, nullable=False),
    # When it was made: a later try makes another one. None for those of older versions.
    Column("kept", Float),
)

jobs = _made_table(
    "jobs",
    Column("kind", String(20), nullable=False),
    _belongs_to("task"),
    _belongs_to("report", nullable=True),
    Column("status", String(20), nullable=False),
    # What the job needs to know beside the report.
    Column("arguments", JSON, nullable=False),
    # What a `Progress` holds.
    Column("progress", JSON, nullable=False),
    Column("error", Text),
    Column("updated", Float, nullable=False),
    Column("cancelled", Boolean, nullable=False, server_default=false()),
    # Which worker has it. It counts `beat` up while it lives; no time of day is compared, so that a
    # clock that jumps ends no lease.
    Column("worker", String(80)),
    Column("beat", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Index("jobs_to_do", "status", "created"),
)

uploads = _made_table(
    "uploads",
    _belongs_to("task"),
    Column("file_name", String(200), nullable=False),
    # What the file holds, as the uploader says: its format, the part of the records.
    Column("options", JSON, nullable=False),
    # Bytes; None until all of them are here.
    Column("size", BigInteger),
)

upload_parts = Table(
    "upload_parts",
    metadata,
    _belongs_to("upload", index=False, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

tokens = _made_table(
    "tokens",
    Column("name", String(200), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scope", String(10), nullable=False),
    # None: all projects.
    _belongs_to("project", nullable=True, index=False),
    # None: never.
    Column("expires", Float),
    Column("used", Float),
)

# One row from the first token on, whatever becomes of the tokens: every request needs one.
closed = Table("closed", metadata, Column("since", Float, primary_key=True))
