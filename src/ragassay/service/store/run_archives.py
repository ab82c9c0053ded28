"""Run folders in archives: packed, unpacked, checked where others made them, and told as reports.

Report processes import this module, so it imports no database.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import yaml

from ragassay.base import files
from ragassay.base.errors import InputError, UsageError
from ragassay.engine.config.option import options_of
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import RUN, SAMPLES, SUMMARY
from ragassay.formats.sources import unpacking

MOST_BYTES = 2 * 1024**3
MOST_FILES = 10_000
"""Of an archive, unpacked."""
MOST_READ_WHOLE = 32 * 1024**2
"""Bytes that are read in one piece: a JSON or YAML file, a line of JSON lines."""

_PIECE = 1 << 20
_MOST_HEADER = 1 << 24
"""Bytes that one read of an archive may ask for."""


def detach_run(folder: Path) -> None:
    """Makes the configuration of a run folder name nothing outside of it, so that the folder can be
    run again wherever it is unpacked: its data are its own samples.

    Args:
        folder: of a run of this service, whose data and ledger lie elsewhere.
    """
    for path in folder.rglob(RUN):
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        config["data"] = os.path.relpath(folder / SAMPLES, path.parent)
        config.pop("ledger", None)
        files.write_text(path, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


def packed_folder(folder: Path) -> bytes:
    """A zip of a folder's files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return stream.getvalue()


def unpack_folder(archive: bytes | IO[bytes], folder: Path) -> None:
    """Unpacks a zip, a tar or a tar.gz into a folder.

    Raises:
        UsageError: it is none, is damaged or too large, or holds links or paths that lead out of
            the folder.
    """
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


@contextmanager
def opened_archive(archive: bytes | IO[bytes], name: str = "run") -> Iterator[Result]:
    """The result that an archive of a run folder holds, until the block ends.

    Args:
        archive: a zip, a tar or a tar.gz of the folder, or of a folder that holds it alone.
        name: that pages and comparisons show for the run; letters, digits and blanks of it count.

    Raises:
        UsageError: see `unpack_folder`.
        InputError: it holds no run folder, or a damaged one.
    """
    with tempfile.TemporaryDirectory(prefix="ragassay-run-") as outer:
        # A run is called by its folder.
        shown = re.sub(r"[^\w ()-]", "_", name)[:60].strip()
        folder = Path(outer) / (shown or "run")
        folder.mkdir()
        unpack_folder(archive, folder)
        within = [path.parent for path in folder.glob(f"*/{SUMMARY}")]
        base = within[0] if len(within) == 1 and not (folder / SUMMARY).exists() else folder
        try:
            result = open_run(base)
        except InputError as error:
            place = Path(str(error.path)).relative_to(base) if error.path else Path()
            where = "the archive" if place == Path() else str(place)
            problem = error.problem.replace(str(base), "the archive")
            raise error.but(problem=problem, path=where) from error
        yield result


def repacked_run(archive: IO[bytes]) -> tuple[bytes, dict[str, Any]]:
    """A run folder that was made elsewhere, checked and packed anew, with its headline.

    Args:
        archive: see `opened_archive`.

    Raises:
        UsageError: the archive holds links or paths that lead out, or is too large.
        InputError: it holds no run folder, a damaged one, or a line that is too long.
    """
    with unpacking.pieces_within(MOST_READ_WHOLE), opened_archive(archive) as result:
        assert result.folder is not None
        return packed_folder(result.folder), headline_of(result)


def headline_of(result: Result) -> dict[str, Any]:
    """What lists of reports show of a result: by metric its mean, interval and numbers, with the
    mean without the values for missing parts and their number; and of how many systems."""
    shown = ("mean", "low", "high", "n_scored", "n_total", "n_assumed", "mean_measured")
    n_systems = len(result.columns.systems)
    return {
        name: {**{key: getattr(one, key) for key in shown}, "n_systems": n_systems}
        for name, one in result.summary.metrics.items()
    }


def as_report(result: Result, facts: Mapping[str, str]) -> Result:
    """A result as pages and files of a report show it.

    Its title is the report's name. Its configuration begins with the facts and names no files.

    Args:
        result: of a run folder.
        facts: see `report_facts`.
    """
    paths = {name for name, option in options_of(RunConfig).items() if option.path is not None}
    config = {name: value for name, value in result.config.items() if name not in paths}
    summary = replace(result.summary, title=facts["report"])
    return replace(result, summary=summary, config={**facts, **config, **facts})


_Members = Iterator[tuple[str, Callable[[], IO[bytes]]]]
"""Name and content of each file."""


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
