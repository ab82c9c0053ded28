"""Writing files so that a half-written one never has the final name."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ragassay.base.errors import UsageError, system_problem

_KEPT = 64  # characters of a name that the half-written file keeps: there is a longest name
_BUFFER = 1 << 20  # bytes: each write to the system lets other threads take over


@contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path``, on disk (fsync), when the block ends well, and not
    at all otherwise. Missing folders are made."""
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"{path} is not a regular file. Choose another name with -o.")
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(target, error) from error
    half = target.with_name(f".{target.name[:_KEPT]}.{secrets.token_hex(8)}")
    # The name is known before there is a file: whatever moment Ctrl-C comes at, it is deleted.
    try:
        with half.open("xb", buffering=_BUFFER) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        half.replace(target)
    except BaseException as error:
        half.unlink(missing_ok=True)
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
        f"{path}: cannot be written ({system_problem(error)}). Choose another folder with -o."
    )
