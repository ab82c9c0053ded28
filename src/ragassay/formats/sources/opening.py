"""Bytes, lines and JSON from files, plain or gzip, with errors that say where."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from ragassay.base.errors import InputError, did_you_mean, first_line
from ragassay.base.problem_words import system_problem
from ragassay.formats.sources import encodings, standard_input, unpacking

_BOM = b"\xef\xbb\xbf"
BINARY = (b"PAR1", b"PK\x03\x04")
"""How files begin that are no text: Parquet, and the archives that spreadsheets are."""
_GZIP = b"\x1f\x8b"
_HEAD = 4096
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text holds, in whatever encoding of one byte a character."""


@contextmanager
def opened(path: Path, encoding: str | None = None) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed when it is gzip, after its byte order mark. Text in UTF-16 or
    UTF-32 with a byte order mark, or in the encoding that is named, comes as UTF-8.

    Args:
        path: the file.
        encoding: the encoding of its text; where left out, that of its byte order mark, else UTF-8.

    Raises:
        InputError: it is missing, a folder, a pipe, empty, unreadable, not UTF-8 by its first
            bytes, or a gzip file that is damaged or ends too early.
    """
    try:
        file = standard_input.on_disk(path)
        if file.is_fifo():  # opening one may wait for ever
            raise _pipe(path)
        raw: IO[bytes] = file.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file", path=path, hint=_nearby(path)) from None
    except IsADirectoryError:
        raise folder(path) from None
    except OSError as error:
        raise InputError(f"cannot be opened ({system_problem(error)})", path=path) from None
    with raw:
        if not raw.seekable():
            raise _pipe(path)
        first = raw.read(2)
        raw.seek(0)
        if not first:
            raise InputError("the file is empty", path=path)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if first == _GZIP else raw
        try:
            start = stream.read(_HEAD)
            if not start:
                raise InputError("the compressed file holds nothing", path=path)
            wanted = None if start.startswith(BINARY) else encodings.checked(encoding)
            wanted = wanted or encodings.by_mark(start)
            is_wide = 0 in start[:2]
            if (is_wide if wanted is None else encoding is None) and not _is_utf16(start):
                raise _no_text(path)
            if wanted is not None:
                stream.seek(0)
                yield encodings.recoded(stream, wanted, path)
                return
            if is_wide:
                raise InputError(
                    "the file is UTF-16 without a byte order mark",
                    path=path,
                    hint="Name its encoding (--encoding utf-16-le), or save it as UTF-8.",
                )
            rest = unpacking.blocks(stream, path)
            if start.isspace() and all(block.isspace() for block in rest):
                raise InputError("the file is empty: it holds only blank lines", path=path)
            stream.seek(len(_BOM) if start.startswith(_BOM) else 0)
            yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"the gzip file is damaged or cut off ({error})",
                path=path,
                hint="Fetch or write it again.",
            ) from None


def _is_utf16(head: bytes) -> bool:
    """Whether the beginning of a file is text in UTF-16 or UTF-32."""
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeError:
            continue
        if all(character.isprintable() or character.isspace() for character in text):
            return True
    return False


def _no_text(path: Path | None) -> InputError:
    return InputError(
        "this is no text file",
        path=path,
        hint="Give JSON lines, JSON, CSV or TSV, Parquet, or XLSX.",
    )


def folder(path: Path) -> InputError:
    """The error for a folder where a file is expected."""
    if (path / "run.yaml").is_file():
        return InputError(
            "this is a run folder, which was evaluated already",
            path=path,
            hint="Show it with 'ragassay report' or 'ragassay compare', or name a data file.",
        )
    return InputError("this is a folder", path=path, hint="Name a file in it.")


def _pipe(path: Path) -> InputError:
    return InputError(
        "this is a pipe, and the data is read more than once",
        path=path,
        hint="Save it to a file first, or give it as standard input: ragassay run - < PIPE.",
    )


def lines(path: Path, encoding: str | None = None) -> Generator[tuple[int, bytes]]:
    """Each line that is not blank, with its 1-based number."""
    with opened(path, encoding) as stream:
        for number, line in enumerate(unpacking.lines(stream, path), 1):
            if not line.isspace():
                yield number, line


def text_lines(path: Path, encoding: str | None = None) -> Generator[str]:
    """Each line as text, with its line ending.

    Raises:
        InputError: a line is not UTF-8; the error names the line and the byte.
    """
    with opened(path, encoding) as stream:
        for number, line in enumerate(unpacking.lines(stream, path), 1):
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(error, path, number) from None


def is_json(path: Path, encoding: str | None = None) -> bool:
    """Whether a file begins as JSON does."""
    with opened(path, encoding) as stream:
        return stream.read(64).lstrip()[:1] in (b"{", b"[")


def read_all(path: Path, encoding: str | None = None) -> bytes:
    """All bytes of a file that cannot be read piece by piece, decompressed."""
    with opened(path, encoding) as stream:
        return b"".join(unpacking.blocks(stream, path))


@contextmanager
def by_polars(path: Path, kind: str) -> Iterator[None]:
    """Turns the errors of polars that are raised within into an `InputError` about a file.

    Args:
        path: the file.
        kind: of the file, for errors: ``Parquet``.

    Raises:
        InputError: see `opened`; or it is no file of that kind.
    """
    import polars as pl

    with opened(path):
        pass  # says at once what is wrong with the file as such
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # A panic is no Exception, and its traceback is on standard error by now.
        problem = first_line(error)
        raise InputError(f"this is no readable {kind} file ({problem})", path=path) from None


def not_utf8(error: UnicodeDecodeError, path: Path | None, line: int | None) -> InputError:
    """The error for a byte that is not UTF-8, or for what is no text at all.

    Args:
        error: the decoder's error.
        path: the file.
        line: its line; ``None`` where the position counts from the beginning of the file.
    """
    if _CONTROLS.search(error.object):
        return _no_text(path)
    byte = error.object[error.start]
    where = "of the line" if line is not None else "of the file"
    likely = encodings.likely(error.object)
    return InputError(
        f"byte 0x{byte:02x} at position {error.start + 1} {where} is not UTF-8",
        path=path,
        line=line,
        hint=f"Save the file as UTF-8, or name its encoding: --encoding {likely}.",
    )


def demand_text(start: bytes, path: Path) -> None:
    """Refuses what is no text in UTF-8.

    Args:
        start: the beginning of the file.
        path: the file.

    Raises:
        InputError: it holds bytes that no text, or no UTF-8, holds.
    """
    with placed(path):
        codecs.getincrementaldecoder("utf-8")().decode(start)
    if _CONTROLS.search(start):
        raise _no_text(path)


@contextmanager
def shaped(tool: str, path: Path | None, line: int) -> Iterator[None]:
    """Turns the errors of Python that a record of an unexpected shape causes (a number in place of
    an object, for example) into an `InputError`.

    Args:
        tool: the tool's name.
        path: the file.
        line: 1-based line or record number.
    """
    try:
        with placed(path, line):
            yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the record has not the shape in which {tool} writes it ({error})",
            path=path,
            line=line,
            hint="Export it again, or force another format (--format jsonl) and name its columns.",
        ) from None


@contextmanager
def placed(path: Path | None, line: int | None = None) -> Iterator[None]:
    """Adds the file and the line to each `InputError` that is raised within and names none. A
    `UnicodeDecodeError` becomes an `InputError`.

    Args:
        path: the file.
        line: its line; ``None`` where the file is read as a whole.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, line) from None
    except InputError as error:
        raise error.at(path=path, line=line) from None


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    with suppress(OSError):
        names = [entry.name for entry in path.parent.iterdir()]
        return did_you_mean(path.name, names, at_least=0.8)
    return ""
