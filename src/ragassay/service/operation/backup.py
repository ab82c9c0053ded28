"""Backs up the folder of a store while it is served."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ragassay.base.errors import UsageError
from ragassay.base.problem_words import system_problem
from ragassay.service.store.database import has_store


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
            raise UsageError(f"{target} holds something already. Name a new folder.")
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
