"""Bytes, lines and JSON from files, plain or gzip, with errors that say where."""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, cast

import orjson

from ragassay.errors import InputError, did_you_mean
from ragassay.formats.records import unpacking
from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded
from ragassay.formats.records.kinds import kind

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"
_HEAD = 4096
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text holds, in whatever encoding of one byte a character."""


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed when it is gzip, after its byte order mark.

    Raises:
        InputError: it is missing, a folder, a pipe, empty, unreadable, not UTF-8 by its first
            bytes, or a gzip file that is damaged or ends too early.
    """
    try:
        if path.is_fifo():  # opening one may wait for ever
            raise _pipe(path)
        raw: IO[bytes] = path.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file", path=path, hint=_nearby(path)) from None
    except IsADirectoryError:
        raise folder(path) from None
    except OSError as error:
        raise InputError(f"cannot be opened ({error.strerror})", path=path) from None
    with raw:
        if not raw.seekable():
            raise _pipe(path)
        first = raw.read(2)
        raw.seek(0)
        if not first:
            raise InputError("the file is empty", path=path)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if first == _GZIP else raw
        try:
            start = stream.read(3)
            if not start:
                raise InputError("the compressed file holds nothing", path=path)
            if start[:2] in _UTF16 or 0 in start[:2]:
                stream.seek(0)
                if not _is_utf16(stream.read(_HEAD)):
                    raise _no_text(path)
                raise InputError("the file is UTF-16", path=path, hint="Save it as UTF-8.")
            rest = unpacking.blocks(stream, path)
            if start.isspace() and all(block.isspace() for block in rest):
                raise InputError("the file is empty: it holds only blank lines", path=path)
            if start != _BOM:
                stream.seek(0)
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
        hint="Give JSON lines, JSON, CSV or TSV in UTF-8, or Parquet.",
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
        hint="Save it to a file first.",
    )


def lines(path: Path) -> Generator[tuple[int, bytes]]:
    """Each line that is not blank, with its 1-based number."""
    with opened(path) as stream:
        for number, line in enumerate(unpacking.lines(stream, path), 1):
            if not line.isspace():
                yield number, line


def text_lines(path: Path) -> Generator[str]:
    """Each line as text, with its line ending.

    Raises:
        InputError: a line is not UTF-8; the error names the line and the byte.
    """
    with opened(path) as stream:
        for number, line in enumerate(unpacking.lines(stream, path), 1):
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(error, path, number) from None


def read_all(path: Path) -> bytes:
    """All bytes of a file that cannot be read piece by piece, decompressed."""
    with opened(path) as stream:
        return unpacking.read_all(stream, path)


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
    return InputError(
        f"byte 0x{byte:02x} at position {error.start + 1} {where} is not UTF-8",
        path=path,
        line=line,
        hint="Save the file as UTF-8.",
    )


def demand_text(start: bytes, path: Path) -> None:
    """Refuses what is no text in UTF-8.

    Args:
        start: the beginning of the file.
        path: the file.

    Raises:
        InputError: it holds bytes that no text, or no UTF-8, holds.
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, None) from None
    if _CONTROLS.search(start):
        raise _no_text(path)


@contextmanager
def placed(path: Path | None, line: int | None = None) -> Iterator[None]:
    """Names the file, and the line, in each `InputError` from within that does not name its own; a
    byte that is not UTF-8 becomes one.

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


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value.

    Python and pandas write ``NaN`` for missing values, and programs that cut text in the middle of
    a character write halves of surrogate pairs. Published files hold both. ``NaN`` becomes ``null``
    (except where a score is expected, which `ragassay.formats.records.field_values` then refuses),
    half a pair becomes U+FFFD.

    Args:
        raw: the bytes.
        path: the file, for errors.
        line: the line, for errors.

    Raises:
        InputError: it is not JSON, not UTF-8, names a key twice in one object, or holds an infinite
            number.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as strict:
        try:
            with placed(path, line):
                return cleaned(json.loads(raw.decode(), object_pairs_hook=_unique))
        except (ValueError, RecursionError):
            raise InputError(
                f"not valid JSON ({_reason(strict)})",
                path=path,
                line=line,
                hint="Mend that line; no record was skipped.",
            ) from None
    with placed(path, line):
        refuse_repeats(raw, value)
    return value


def refuse_repeats(raw: bytes, value: Any) -> None:
    """Refuses an object that names a key twice; JSON readers silently keep the last value.

    Each key has its colon, so an object with as many keys as the text has colons lost none.
    Otherwise the value, written again, has as many colons as the text unless a key was lost (or a
    colon was written as an escape). Only then is the text parsed again, slowly.

    Args:
        raw: the text, as bytes.
        value: what was read from it.

    Raises:
        InputError: a key occurs twice in one object.
    """
    colons = raw.count(b":")
    if isinstance(value, dict) and len(value) == colons:
        return
    try:
        if orjson.dumps(value).count(b":") == colons:
            return
    except TypeError:
        pass  # nested too deeply to be written
    with suppress(RecursionError):
        json.loads(raw, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"the key {twice!r} stands twice in one object", field=twice, hint="Keep one of them."
        )
    return unique


def cleaned(value: Any, key: str = "") -> Any:
    """A JSON value without NaN and lone surrogates.

    Args:
        value: a JSON value.
        key: the key that holds it: ``NaN`` stays under a key of scores and becomes ``None``
            elsewhere.

    Raises:
        InputError: an infinite number.
    """
    if isinstance(value, float) and not math.isfinite(value):
        if math.isinf(value):
            raise InputError(
                f"the number {value} is not finite", field=key or None, hint="Use a finite number."
            )
        return value if key.casefold() in _SCORE_KEYS else None
    if isinstance(value, str):
        return value if value.isascii() else _without_lone_surrogates(value)
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, key) for item in value]
    return value


_SCORE_KEYS = frozenset({"score", "relevance_score", "similarity"})


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _reason(error: orjson.JSONDecodeError) -> str:
    text, problem = error.doc.rstrip(), error.msg.split(":")[0]
    line, column = error.lineno, error.colno
    if error.pos >= len(text):
        problem = "it ends in the middle of a value,"
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n") - 1
    return f"{problem} at {f'line {line}, ' if line > 1 else ''}column {column}"


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    try:
        names = [entry.name for entry in path.parent.iterdir()]
        return did_you_mean(path.name, names, at_least=0.8)
    except OSError:
        return ""


Note = Callable[[str, str], None]


def json_records(
    path: Path, note: Note = lambda what, then: None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one.

    Each comes with its line, in a document with its number. Where the first line holds a list of
    records (RAGChecker, batches), every line may; their records are numbered consecutively.

    Args:
        path: the file.
        note: called with a remark about what surrounds such a list.

    Raises:
        InputError: something is not JSON, or not an object; or an object holds several lists of
            records.
    """
    stream = lines(path)
    first = next(stream, None)
    if first is None:
        raise InputError("the file holds only blank lines", path=path)
    number, raw = first
    if _is_document(raw):
        stream.close()
        value = parse_json(read_all(path), path)
        if isinstance(value, list):
            yield from ((index, _object(item, path, index)) for index, item in enumerate(value, 1))
        else:
            yield from _unwrapped([value], path, note)
        return
    record = _object(parse_json(raw, path, number), path, number)
    if _list_name(record, path) is not None:
        later = (_object(parse_json(raw, path, at), path, at) for at, raw in stream)
        yield from _unwrapped(chain([record], later), path, note)
        return
    yield number, record
    for number, raw in stream:
        yield number, _object(parse_json(raw, path, number), path, number)


def first_record(path: Path) -> dict[str, Any]:
    """The first record of `json_records`, or the whole document where that is an object.

    Empty when there is none. Reads little of a JSON Lines file or a list.
    """
    stream = lines(path)
    try:
        _, raw = next(stream, (0, b""))
        if raw.lstrip()[:1] == b"[":
            record = _first_of_list(path)
        else:
            record = parse_json(read_all(path) if _is_document(raw) else raw)
    except InputError:
        return {}
    finally:
        stream.close()
    return record if isinstance(record, dict) else {}


def _unwrapped(
    objects: Iterable[dict[str, Any]], path: Path, note: Note
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records inside each object, or the object itself where it holds none."""
    numbers = count(1)
    for outer in objects:
        name = _list_name(outer, path)
        if name is None:
            yield next(numbers), outer
            continue
        around = [key for key, value in outer.items() if key != name and value is not None]
        if around:
            note(
                f"objects with {', '.join(map(repr, around))} around a list of records",
                "The records were read, what stands around them was left out.",
            )
        for record in outer[name]:
            yield next(numbers), record


_LISTS = ("results", "input_data", "data", "samples", "records", "examples", "rows")


def _list_name(record: Mapping[str, Any], path: Path) -> str | None:
    """The name under which an object that is no sample itself holds a list of records; ``None``
    where there is none."""
    names = [name for name in _LISTS if _is_list_of_objects(record.get(name))]
    if not names or any(FIELD_OF.get(folded(key)) in SUBSTANCE for key in record):
        return None
    if len(names) > 1:
        raise InputError(
            f"an object holds several lists of records: {', '.join(map(repr, names))}",
            path=path,
            hint="Keep one list in a file.",
        )
    return names[0]


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _is_document(first_line: bytes) -> bool:
    text = first_line.strip()
    return text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}")


def _first_of_list(path: Path) -> Any:
    with opened(path) as stream:
        start = stream.read(1 << 20).decode(errors="ignore")
    begin = re.compile(r"\s*\[\s*").match(start)
    try:
        return json.JSONDecoder().raw_decode(start, begin.end() if begin else 0)[0]
    except (ValueError, RecursionError):
        value = parse_json(read_all(path))
        return value[0] if isinstance(value, list) and value else None


def _object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InputError(
        f"{kind(value)} stands where a record is expected",
        path=path,
        line=line,
        hint='Each record is a JSON object: {"id": ..., "query": ...}.',
    )
