"""Run folders in archives: packed, and unpacked within limits, whoever made them."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ragassay.base.errors import UsageError
from ragassay.client.service_shapes import MOST_READ_WHOLE

MOST_BYTES = 2 * 1024**3
MOST_FILES = 10_000
"""Of an archive, unpacked."""

_PIECE = 1 << 20
_MOST_HEADER = 1 << 24
"""Bytes that one read of an archive may ask for."""

_Members = Iterator[tuple[str, Callable[[], IO[bytes]]]]
"""Name and content of each file."""


def pack(folder: Path, target: Path | IO[bytes]) -> None:
    """Writes a zip of a folder's files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())


def unpack(archive: bytes | IO[bytes], folder: Path) -> None:
    """Unpacks a zip, a tar or a tar.gz into a folder; a `UsageError` where it is none, damaged or
    too large, or holds links or paths that lead out of the folder."""
    with ExitStack() as stack:
        stream = io.BytesIO(archive) if isinstance(archive, bytes) else archive
        start = stream.read(4)
        stream.seek(0)
        try:
            if start[:2] == b"PK":
                members = _zip_members(stack.enter_context(zipfile.ZipFile(stream)))
            else:
                if start[:2] == b"\x1f\x8b":
                    stream = stack.enter_context(_unzipped(stream))
                bounded = cast("IO[bytes]", _Bounded(stream))
                members = _tar_members(
                    stack.enter_context(tarfile.open(fileobj=bounded, mode="r:"))
                )
            left = MOST_BYTES
            for number, (name, content) in enumerate(members, 1):
                if number > MOST_FILES:
                    raise _too_large()
                left -= _unpack(name, content, folder, left)
        except (
            *(zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile),
            *(NotImplementedError, RuntimeError, ValueError),  # encrypted, packed in another way
        ) as error:
            raise UsageError(
                "This is no zip or tar of a run folder, or it is damaged or encrypted."
            ) from error


def _zip_members(archive: zipfile.ZipFile) -> _Members:
    for one in archive.infolist():
        if (one.external_attr >> 16) & 0o170000 == 0o120000:
            raise _refused(one.filename)
        if not one.is_dir():
            yield one.filename, lambda one=one: archive.open(one)  # type: ignore[misc]


def _tar_members(archive: tarfile.TarFile) -> _Members:
    total = 0
    for one in archive:
        if not (one.isreg() or one.isdir()):
            raise _refused(one.name)
        total += one.size
        if total > MOST_BYTES:
            raise _too_large()
        if one.isreg():
            yield one.name, lambda one=one: cast("IO[bytes]", archive.extractfile(one))  # type: ignore[misc]


def _unpack(name: str, content: Callable[[], IO[bytes]], folder: Path, left: int) -> int:
    """Unpacks a file; its size, which an archive may state wrongly."""
    path = PurePosixPath(name)
    target = folder / path
    if ".." in path.parts or not target.resolve().is_relative_to(folder.resolve()):
        raise _refused(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        out = target.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise UsageError(f"The archive holds {name!r} twice.") from error
    most = min(left, MOST_READ_WHOLE) if path.suffix in (".json", ".yaml") else left
    with out, content() as stream:
        return _copied(stream, out, most)


def _copied(stream: IO[bytes], out: IO[bytes], most: int) -> int:
    """Copies a file of at most so many bytes; its size."""
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > most:
            raise _too_large()
        out.write(piece)
    return size


@contextmanager
def _unzipped(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with gzip.GzipFile(fileobj=stream) as source, tempfile.TemporaryFile() as out:
        _copied(cast("IO[bytes]", source), out, MOST_BYTES)
        out.seek(0)
        yield out


class _Bounded:
    """A file of which nobody reads much at once: the headers of a tar may be of any size."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_HEADER:
            raise _too_large()
        return self._stream.read(size)


def _refused(name: str) -> UsageError:
    return UsageError(f"The archive holds {name!r}, which is no file of a run folder.")


def _too_large() -> UsageError:
    return UsageError(
        f"The archive is too large: a run folder has at most {MOST_FILES:,} files and "
        f"{MOST_BYTES // 1024**3} GB, and {MOST_READ_WHOLE // 1024**2} MB in a JSON or YAML file."
    )
