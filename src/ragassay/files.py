"""Writing files so that a half-written one never has the final name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragassay.errors import UsageError


@contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` when the block ends well, and not at all otherwise.

    The bytes are on disk (fsync) before the name changes. Missing parent folders are made.

    Raises:
        UsageError: the folder cannot be made or written to.
    """
    # A link stays a link: what it points to is replaced.
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"{path} is not a regular file. Choose another name with -o.")
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; a report is meant to be as readable as any other file.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(target, error) from error
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Writes a whole file atomically. Raises `UsageError` when that cannot be done."""
    with atomic(path) as stream:
        stream.write(content)


def write_text(path: str | Path, content: str) -> None:
    """Writes a whole UTF-8 file atomically. Raises `UsageError` when that cannot be done."""
    write_bytes(path, content.encode())


def cannot_write(path: Path, error: OSError) -> UsageError:
    """The sentence for a file or folder that cannot be written."""
    return UsageError(
        f"{path}: cannot be written ({error.strerror or error}). Choose another folder with -o."
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
