"""What is kept of a store: a backup of its folder, made while it is served; and for how long."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from ragassay.base.errors import UsageError, system_problem
from ragassay.client.service_shapes import Project
from ragassay.judges.ledger import ledger_admin
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import Ledger, is_there
from ragassay.service.store.database import Store, has_store
from ragassay.service.store.projects import list_projects, list_tasks
from ragassay.service.store.records import delete_records_before
from ragassay.service.store.reports import list_reports
from ragassay.service.store.schema import reports
from ragassay.service.store.store_errors import NotThere

DAY_S = 86_400.0


def back_up(folder: Path, target: Path | None = None) -> Path:
    """Copies a store into a new or empty folder (where left out, one beside the store), which is a
    store itself: its database as it is at one moment, and the paid answers of its projects. Others
    may write meanwhile. Returns the folder when all of it is on the disk."""
    if not has_store(folder):
        raise UsageError(f"There is no service in {folder}.")
    folder = folder.absolute()
    name = f"{folder.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    target = (folder.with_name(name) if target is None else target).absolute()
    try:
        if target.exists() and any(target.iterdir()):
            raise UsageError(f"{target} is not empty. Name a new folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            _copy_databases(folder, made)
            made.rename(target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        _sync(target.parent)
    except sqlite3.Error as error:
        raise UsageError(f"{folder} cannot be backed up: {error}.") from error
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {system_problem(error)}.") from error
    return target


def _copy_databases(folder: Path, target: Path) -> None:
    # The ledgers come last: every answer that a copied report rests on is in the copy.
    for path in [*folder.glob("*.sqlite"), *sorted((folder / "ledgers").glob("*.sqlite"))]:
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(0o700, exist_ok=True)
        copy.touch(0o600)
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
                connection.execute("VACUUM INTO ?", (str(copy),))
        except sqlite3.Error:
            if path.exists():
                raise
            copy.unlink()  # its project was deleted meanwhile
            continue
        _sync(copy)
        _sync(copy.parent)


def _sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def delete_old(store: Store, keep_days: int | None = None) -> None:
    """Deletes the records (by their time), the reports (by the time at which they were asked for)
    and the paid answers that are older than ``keep_days``, or than a task says, where that is less.
    Paid answers belong to a project: they are kept as long as the records of any of its tasks."""
    for project in list_projects(store):
        with suppress(NotThere):  # it was deleted meanwhile
            _delete_old_of(store, project, keep_days)


def _delete_old_of(store: Store, project: Project, keep_days: int | None) -> None:
    never = math.inf
    most, now = never if keep_days is None else keep_days, time.time()
    kept = []
    for task in list_tasks(store, project.id):
        kept.append(min(never if task.options.keep_days is None else task.options.keep_days, most))
        if (before := now - kept[-1] * DAY_S) == -never:
            continue
        delete_records_before(store, task.id, before)
        for report in list_reports(store, task.id):
            if report.created < before:
                store.remove(reports, report.id)
    days, place = max(kept, default=most), store.ledger(project.id)
    if days < never and is_there(place):
        with Ledger(place) as ledger:
            ledger_admin.prune(ledger, Selection(before=now - days * DAY_S))
