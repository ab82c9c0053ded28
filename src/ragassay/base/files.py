"""Writing files so that a half-written one never has the final name."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

from ragassay.base.errors import UsageError
from ragassay.base.problem_words import system_problem

_KEPT = 64
"""Characters of a file's name that its half-written form keeps: a long name leaves no more room."""

_LEFT = re.compile(r"\..+\.[0-9a-f]{8}-(?P<process>\d+)-[^.]*")
"""The name of a half-written file: whose it is, machine and process, and a random end."""

_BUFFER = 1 << 20
"""Bytes: each write to the system lets other threads take over."""


@contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path``, on disk (fsync), when the block ends well, and not
    at all otherwise. Missing folders are made; what killed processes left there is deleted."""
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"{path} is not a regular file. Choose another name with -o.")
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error
    name = f".{target.name[:_KEPT]}.{_machine()}-{os.getpid()}-{secrets.token_hex(8)}"
    half = target.with_name(name)
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


@cache
def _sweep(folder: Path) -> None:
    """Deletes the half-written files of processes of this machine that are no more; once a
    folder."""
    if os.name != "posix":
        return
    for path in folder.glob(f".*.{_machine()}-*-*"):
        match = _LEFT.fullmatch(path.name)
        if match is not None and not _lives(int(match["process"])):
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True  # somebody else's
    return True


@cache
def _machine() -> str:
    """Eight hexadecimal digits for this machine: others on a shared disk have other processes."""
    return hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()
