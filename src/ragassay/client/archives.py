"""Run folders as zip files: packed, and unpacked within limits, whoever made them."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from ragassay.base.errors import UsageError
from ragassay.client.service_shapes import MOST_READ_WHOLE

MOST_BYTES = 2 * 1024**3
MOST_FILES = 10_000
"""In an archive, unpacked."""

_PIECE = 1 << 20


def pack(folder: Path, target: Path | IO[bytes]) -> None:
    """Writes a zip of a folder's files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())


def unpack(archive: bytes | IO[bytes], folder: Path) -> None:
    """Unpacks a zip into a folder; a `UsageError` where it is none, damaged or too large, or holds
    links or paths that lead out of the folder."""
    stream = io.BytesIO(archive) if isinstance(archive, bytes) else archive
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(stream) as opened:
            members = [info for info in opened.infolist() if not info.is_dir()]
            if len(members) > MOST_FILES:
                raise _too_large()
            for member in members:
                left -= _unpack(opened, member, folder, left)
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError),
        *(NotImplementedError, RuntimeError, ValueError),  # encrypted, packed in another way
    ) as error:
        raise UsageError(
            "This is not a zip of a run folder, or it is damaged or encrypted."
        ) from error


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path, left: int) -> int:
    """Unpacks a file of at most so many bytes; its size, which an archive may state wrongly."""
    path = PurePosixPath(info.filename)
    target = folder / path
    is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
    if is_link or ".." in path.parts or not target.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"The archive holds {info.filename!r}, which is not a file of a run folder."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        out = target.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise UsageError(f"The archive holds {info.filename!r} twice.") from error
    size, most = 0, min(left, MOST_READ_WHOLE) if path.suffix in (".json", ".yaml") else left
    with out, archive.open(info) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > most:
                raise _too_large()
            out.write(piece)
    return size


def _too_large() -> UsageError:
    return UsageError(
        f"The archive is too large: a run folder has at most {MOST_FILES:,} files and "
        f"{MOST_BYTES // 1024**3} GB, and {MOST_READ_WHOLE // 1024**2} MB in a JSON or YAML file."
    )
