"""Lines and all bytes of a stream, with limits on what is read in one piece.

A few megabytes of gzip may hold ten gigabytes in one line, which would fill the memory. A file of
any size with short lines is read line by line and does no harm.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, cast

from ragassay.formats.format_words import wrong

_STEP = 1 << 25
"""Bytes that are read before the first check; this much fits any memory."""

_MOST_PACKED = 100
"""How many bytes one packed byte may stand for, in one piece: texts and JSON have 3 to 30."""

_most: ContextVar[int] = ContextVar("most", default=sys.maxsize)


@contextmanager
def pieces_within(most: int) -> Iterator[None]:
    """Within, a line of text and a cell of CSV are limited. A longer one raises an `InputError`.

    Args:
        most: bytes of a line, characters of a cell.
    """
    token = _most.set(most)
    try:
        yield
    finally:
        _most.reset(token)


def most_of_a_piece() -> int:
    """The limit that `pieces_within` set, else a number beyond any size."""
    return _most.get()


def lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Each line of a file's bytes, decompressed as they are read, with its ending. One that unpacks
    to far more than it was, or is too long (`pieces_within`), is an error."""
    step = min(_STEP, _most.get())
    while line := stream.readline(step):
        if len(line) == step and line[-1:] != b"\n":
            line += b"".join(_rest_of_line(stream, step, path))
        yield line


def blocks(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """All bytes that are left, in blocks. Some that unpack to far more than they were are an
    error."""
    size = 0
    while block := stream.read(_STEP):
        yield block
        size += len(block)
        _check(stream, size, path)


def _rest_of_line(stream: IO[bytes], size: int, path: Path) -> Iterator[bytes]:
    block = b""
    while block[-1:] != b"\n":
        _check(stream, size, path)
        block = stream.readline(_STEP)
        if not block:
            return
        yield block
        size += len(block)
        if size > _most.get():
            raise wrong("long_line", path=path, most=_most.get() // 1024**2)


def _check(stream: IO[bytes], size: int, path: Path) -> None:
    source: object = getattr(getattr(stream, "raw", None), "source", stream)  # of recoded text
    if not isinstance(source, gzip.GzipFile) or size < _STEP:
        return
    packed = cast("IO[bytes]", source.fileobj).tell()
    if size > _MOST_PACKED * packed:
        raise wrong("large_gzip", path=path, most=_MOST_PACKED)
