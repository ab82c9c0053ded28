"""Lines and all bytes of a stream, with a limit on what gzip may unpack to.

A few megabytes of gzip may hold ten gigabytes in one line, which would fill the memory. A file of
any size with short lines is read line by line and does no harm.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from ragassay.errors import InputError

_STEP = 1 << 25
"""Bytes that are read before the first check; this much fits any memory."""

_MOST_PACKED = 100
"""How many bytes one packed byte may stand for, in one piece: texts and JSON have 3 to 30."""


def lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Each line, with its ending.

    Args:
        stream: the file's bytes, decompressed as they are read.
        path: the file, for errors.

    Raises:
        InputError: a line unpacks to far more than it was.
    """
    while line := stream.readline(_STEP):
        if len(line) == _STEP and line[-1:] != b"\n":
            line += b"".join(_rest_of_line(stream, path))
        yield line


def blocks(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """All bytes that are left, in blocks.

    Args:
        stream: the file's bytes, decompressed as they are read.
        path: the file, for errors.

    Raises:
        InputError: they unpack to far more than they were.
    """
    size = 0
    while block := stream.read(_STEP):
        yield block
        size += len(block)
        _check(stream, size, path)


def _rest_of_line(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    size = _STEP
    block = b""
    while block[-1:] != b"\n":
        _check(stream, size, path)
        block = stream.readline(_STEP)
        if not block:
            return
        yield block
        size += len(block)


def _check(stream: IO[bytes], size: int, path: Path) -> None:
    source: object = getattr(getattr(stream, "raw", None), "source", stream)  # of recoded text
    if not isinstance(source, gzip.GzipFile) or size < _STEP:
        return
    packed = cast("IO[bytes]", source.fileobj).tell()
    if size > _MOST_PACKED * packed:
        raise InputError(
            f"the gzip file unpacks to more than {_MOST_PACKED} times its size in one piece",
            path=path,
            hint="It is damaged, or made to fill the memory: unpack it and look.",
        )
