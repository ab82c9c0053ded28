"""Bytes and lines from files, plain or gzip, in any encoding, with errors that say where; and
standard input as data, kept in a file. What is read in one piece is limited: a few megabytes of
gzip may hold ten gigabytes in one line."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from pathlib import Path
from typing import IO, TextIO, cast

from ragassay.base.errors import InputError, UsageError, did_you_mean, first_line, system_problem
from ragassay.formats.format_words import wrong

STANDARD_INPUT = "/dev/stdin"
"""How standard input is called; a command line may also say ``-``."""

_files: list[IO[bytes]] = []
"""The file that holds it, once it is kept; the file goes when the program ends."""


def keep_standard_input(text: TextIO | None) -> None:
    """Takes what is on standard input as the data called `STANDARD_INPUT`, up to its end. Only
    the command line calls this. A terminal, and one that is closed (``None``), are errors."""
    if text is None:
        raise wrong("stdin_closed", path=STANDARD_INPUT)
    stream = text.buffer
    if stream.isatty():
        raise wrong("stdin_terminal", path=STANDARD_INPUT)
    file = tempfile.NamedTemporaryFile(prefix="ragassay-")  # noqa: SIM115  # deleted at the end
    shutil.copyfileobj(stream, file)
    file.flush()
    _files[:] = [cast("IO[bytes]", file)]


def on_disk(path: Path) -> Path:
    """The file that holds the data of a path: the path itself, but for standard input."""
    return Path(_files[0].name) if _files and str(path) == STANDARD_INPUT else path


_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
"""Byte order marks; that of UTF-32 begins with that of UTF-16."""

_COMMON = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp1251", "gbk", "shift_jis")


def checked_encoding(encoding: str | None) -> str | None:
    """The usual name of an encoding; ``None`` for UTF-8."""
    if encoding is None:
        return None
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)  # a codec of bytes (hex, zip) refuses
    except (LookupError, ValueError):
        raise UsageError(
            f"encoding: there is no encoding {encoding!r}. {did_you_mean(encoding, _COMMON)} "
            f"Common ones are {', '.join(_COMMON)}."
        ) from None
    return None if codec.name in ("utf-8", "utf-8-sig") else codec.name


def _recoded(stream: IO[bytes], encoding: str, path: Path) -> IO[bytes]:
    """All text of a stream in another encoding, as UTF-8: one piece, limited as a line is."""
    raw = bytearray()
    for block in blocks(stream, path):
        raw += block
        if len(raw) > MOST.get():
            raise wrong("large_text", path=path, encoding=encoding, most=MOST.get() // 1024**2)
    try:
        text = raw.decode(encoding)
    except UnicodeError as error:
        raise wrong("other_encoding", path=path, encoding=encoding, why=error) from None
    return io.BytesIO(text.removeprefix("\ufeff").encode("utf-8", "surrogatepass"))


_BOM = b"\xef\xbb\xbf"
BINARY = (b"PAR1", b"PK\x03\x04")
"""How files begin that are no text: Parquet, and the archives that spreadsheets are."""
_GZIP = b"\x1f\x8b"
_HEAD = 4096
_STEP = 1 << 25
"""Bytes that are read before the first check; this much fits any memory."""

_MOST_PACKED = 100
"""How many bytes one packed byte may stand for, in one piece: texts and JSON have 3 to 30."""

MOST: ContextVar[int] = ContextVar("most", default=sys.maxsize)
"""Bytes of a line of text or a cell of CSV, at most (`pieces_within`)."""

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text holds, in whatever encoding of one byte a character."""


@contextmanager
def opened(path: Path, encoding: str | None = None) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed, after its byte order mark. Text in UTF-16 or UTF-32 with such
    a mark, or in the encoding that is named, comes as UTF-8."""
    try:
        file = on_disk(path)
        if file.is_fifo():  # opening one may wait for ever
            raise wrong("pipe", path=path)
        raw: IO[bytes] = file.open("rb")
    except FileNotFoundError:
        names = [item.name for item in path.parent.glob("*")]
        near = did_you_mean(path.name, names, at_least=0.8)
        raise wrong("no_file", path=path, near=near) from None
    except IsADirectoryError:
        raise folder(path) from None
    except OSError as error:
        raise wrong("not_opened", path=path, why=system_problem(error)) from None
    with raw:
        if not raw.seekable():
            raise wrong("pipe", path=path)
        first = raw.read(2)
        raw.seek(0)
        if not first:
            raise wrong("empty_file", path=path)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if first == _GZIP else raw
        try:
            start = stream.read(_HEAD)
            if not start:
                raise wrong("empty_gzip", path=path)
            is_binary = start.startswith(BINARY)
            wanted = checked_encoding(encoding) if encoding and not is_binary else None
            marked = (name for name, marks in _MARKS.items() if start.startswith(marks))
            wanted = wanted or next(marked, None)
            if wanted is not None:
                stream.seek(0)
                yield _recoded(stream, wanted, path)
                return
            if 0 in start[:2] and not is_binary:
                raise wrong("no_text_file", path=path)
            if start.isspace() and all(block.isspace() for block in blocks(stream, path)):
                raise wrong("blank_file", path=path)
            stream.seek(len(_BOM) if start.startswith(_BOM) else 0)
            yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise wrong("damaged_gzip", path=path, why=error) from None


def folder(path: Path) -> InputError:
    """The error for a folder where a file is expected."""
    return wrong("run_folder" if (path / "run.yaml").is_file() else "folder", path=path)


def lines(path: Path, encoding: str | None = None) -> Generator[tuple[int, bytes]]:
    """Each line that is not blank, with its 1-based number."""
    with opened(path, encoding) as stream:
        for number, line in enumerate(raw_lines(stream, path), 1):
            if not line.isspace():
                yield number, line


def text_lines(path: Path, encoding: str | None = None) -> Generator[str]:
    """Each line as text, with its line ending. One that is not UTF-8 is an error, with the byte."""
    with opened(path, encoding) as stream:
        for number, line in enumerate(raw_lines(stream, path), 1):
            with placed(path, number):
                text = line.decode()
            yield text


def is_json(path: Path, encoding: str | None = None) -> bool:
    """Whether a file begins as JSON does."""
    with opened(path, encoding) as stream:
        return stream.read(64).lstrip()[:1] in (b"{", b"[")


def read_all(path: Path, encoding: str | None = None) -> bytes:
    """All bytes of a file that cannot be read piece by piece, decompressed."""
    with opened(path, encoding) as stream:
        return b"".join(blocks(stream, path))


@contextmanager
def by_polars(path: Path, kind: str) -> Iterator[None]:
    """Makes errors of polars an `InputError` about a file of some kind (``Parquet``)."""
    import polars as pl

    with opened(path):
        pass  # says at once what is wrong with the file as such
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # A panic is no Exception, and its traceback is on standard error by now.
        problem = first_line(error)
        raise wrong("unreadable", path=path, kind=kind, why=problem) from None


def demand_text(start: bytes, path: Path) -> None:
    """Refuses a file whose beginning is no text in UTF-8."""
    with placed(path):
        codecs.getincrementaldecoder("utf-8")().decode(start)
    if _CONTROLS.search(start):
        raise wrong("no_text_file", path=path)


@contextmanager
def shaped(tool: str, path: Path | None, line: int | None = None) -> Iterator[None]:
    """Turns the errors of Python that a record of an unexpected shape causes (a number in place of
    an object, for example) into an `InputError` that names the tool that wrote it."""
    try:
        with placed(path, line):
            yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise wrong("other_shape", path=path, line=line, tool=tool, why=error) from None


@contextmanager
def placed(path: Path | None, line: int | None = None) -> Iterator[None]:
    """Adds the file and the line to each `InputError` that is raised within and names none. A
    `UnicodeDecodeError` becomes an `InputError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        if _CONTROLS.search(error.object):
            raise wrong("no_text_file", path=path) from None
        where = {"at": error.start + 1, "of": "of the file" if line is None else "of the line"}
        byte = error.object[error.start]
        raise wrong("not_utf8", path=path, line=line, byte=byte, **where) from None
    except InputError as error:
        raise error.at(path=path, line=line) from None


@contextmanager
def pieces_within(most: int) -> Iterator[None]:
    """Within, a line of text and a cell of CSV are limited. A longer one raises an `InputError`."""
    token = MOST.set(most)
    try:
        yield
    finally:
        MOST.reset(token)


def raw_lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Each line of a file's bytes, decompressed as they are read, with its ending. One that unpacks
    to far more than it was, or is too long (`pieces_within`), is an error."""
    step = min(_STEP, MOST.get())
    while line := stream.readline(step):
        if len(line) == step and line[-1:] != b"\n":
            size, parts = step, [line]
            while parts[-1][-1:] not in (b"", b"\n"):
                _check(stream, size, path)
                parts.append(stream.readline(_STEP))
                size += len(parts[-1])
                if size > MOST.get():
                    raise wrong("long_line", path=path, most=MOST.get() // 1024**2)
            line = b"".join(parts)
        yield line


def blocks(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """All bytes that are left, in blocks. Some that unpack to far more are an error."""
    size = 0
    while block := stream.read(_STEP):
        yield block
        size += len(block)
        _check(stream, size, path)


def _check(stream: IO[bytes], size: int, path: Path) -> None:
    source: object = stream
    if not isinstance(source, gzip.GzipFile) or size < _STEP:
        return
    packed = cast("IO[bytes]", source.fileobj).tell()
    if size > _MOST_PACKED * packed:
        raise wrong("large_gzip", path=path, most=_MOST_PACKED)


_LARGE = 1 << 26
"""Bytes that an archive may unpack to, however small it is."""


def checked_parts(archive: zipfile.ZipFile, path: Path) -> list[str]:
    """The names of an archive's files. One that unpacks to far more than it is is an error."""
    parts = archive.infolist()
    packed = sum(part.compress_size for part in parts)
    if sum(part.file_size for part in parts) > max(_LARGE, _MOST_PACKED * packed):
        raise wrong("large_archive", path=path, most=_MOST_PACKED)
    return [part.filename for part in parts]


def unpacked_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """The JSON in a part of an archive. Zstandard, which Python unpacks from 3.14 on only, is read
    by polars: as a table of one cell, by separators that no JSON holds."""
    part = copy(archive.getinfo(name))
    if part.compress_type != 93:  # Zstandard
        return archive.read(part)
    import polars as pl

    checksum, part.compress_type, part.file_size = part.CRC, 0, part.compress_size
    del part.CRC  # of what is unpacked
    packed = archive.read(part)
    try:
        cell = pl.read_csv(packed, has_header=False, separator="\1", eol_char="\2", quote_char=None)
        raw = str(cell.item()).encode()
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise zipfile.BadZipFile(first_line(error)) from None
    if zlib.crc32(raw) != checksum:
        raise zipfile.BadZipFile(f"bad CRC-32 of {name}")
    return raw
