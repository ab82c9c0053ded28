"""Bytes, lines and JSON from files, plain or gzip, with errors that say where."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import orjson

from ragassay.errors import InputError, did_you_mean
from ragassay.formats.aliases import FIELD_OF, SUBSTANCE, folded

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed when it is gzip, after its byte order mark.

    Raises:
        InputError: it is missing, a folder, empty, unreadable, not UTF-8 by its first bytes, or a
            gzip file that is damaged or ends too early.
    """
    try:
        raw: IO[bytes] = path.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file", path=path, hint=_nearby(path)) from None
    except IsADirectoryError:
        raise InputError("this is a folder", path=path, hint="Name a file in it.") from None
    except OSError as error:
        raise InputError(f"cannot be opened ({error.strerror})", path=path) from None
    with raw:
        first = raw.read(2)
        raw.seek(0)
        if not first:
            raise InputError("the file is empty", path=path)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if first == _GZIP else raw
        try:
            start = stream.read(3)
            if not start:
                raise InputError("the compressed file holds nothing", path=path)
            if start[:2] in _UTF16:
                raise InputError("the file is UTF-16", path=path, hint="Save it as UTF-8.")
            if start != _BOM:
                stream.seek(0)
            yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"the gzip file is damaged or cut off ({error})",
                path=path,
                hint="Fetch or write it again.",
            ) from None


def lines(path: Path) -> Generator[tuple[int, bytes]]:
    """Each line that is not blank, with its 1-based number."""
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace():
                yield number, line


def text_lines(path: Path) -> Generator[str]:
    """Each line as text, with its line ending.

    Raises:
        InputError: a line is not UTF-8; the error names the line and the byte.
    """
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise not_utf8(error, path, number) from None


def whole(path: Path) -> bytes:
    """All bytes of a file that cannot be read piece by piece."""
    with opened(path) as stream:
        return stream.read()


def not_utf8(error: UnicodeDecodeError, path: Path | None, line: int | None) -> InputError:
    """The error for a byte that is not UTF-8."""
    byte = error.object[error.start]
    where = "of the line" if line is not None else "of the file"
    return InputError(
        f"byte 0x{byte:02x} at position {error.start + 1} {where} is not UTF-8",
        path=path,
        line=line,
        hint="Save the file as UTF-8.",
    )


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value.

    Python and pandas write ``NaN`` for missing values, and programs that cut text in the middle of
    a character write halves of surrogate pairs. Published files hold both. ``NaN`` becomes ``null``
    (except where a score is expected, which `ragassay.formats.values` then refuses), half a
    pair becomes U+FFFD.

    Raises:
        InputError: it is not JSON, not UTF-8, or holds an infinite number.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as strict:
        try:
            return mended(json.loads(raw.decode()))
        except UnicodeDecodeError as error:
            raise not_utf8(error, path, line) from None
        except InputError as error:
            raise error.at(path=path, line=line) from None
        except (ValueError, RecursionError):
            raise InputError(
                f"not valid JSON ({_reason(strict)})",
                path=path,
                line=line,
                hint="Mend that line; no record was skipped.",
            ) from None


def mended(value: Any, key: str = "") -> Any:
    """A JSON value without NaN and lone surrogates.

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
        return {mended(name): mended(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [mended(item, key) for item in value]
    return value


_SCORE_KEYS = frozenset({"score", "relevance_score", "similarity"})


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _reason(error: orjson.JSONDecodeError) -> str:
    return f"{error.msg.split(':')[0]} at column {error.colno}"


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def json_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, line by line, or of a JSON document that is a list of
    objects or holds one, with its line (in a document: its number).

    Raises:
        InputError: something is not JSON, or not an object.
    """
    stream = lines(path)
    first = next(stream, None)
    if first is None:
        raise InputError("the file holds only blank lines", path=path)
    number, raw = first
    if _is_document(raw):
        stream.close()
        value = parse_json(whole(path), path)
        inner = value if isinstance(value, list) else listed(value) or [value]
        yield from ((index, _object(item, path, index)) for index, item in enumerate(inner, 1))
        return
    record = _object(parse_json(raw, path, number), path, number)
    wrapped = listed(record)
    if wrapped is not None:
        yield from ((index, _object(item, path, index)) for index, item in enumerate(wrapped, 1))
        return
    yield number, record
    for number, raw in stream:
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError:
            record = parse_json(raw, path, number)
        yield number, record if type(record) is dict else _object(record, path, number)


def first_record(path: Path) -> dict[str, Any]:
    """What `json_records` begins with, or the whole document where that is an object; empty when
    there is none. Reads little of a JSON Lines file or a list."""
    stream = lines(path)
    try:
        _, raw = next(stream, (0, b""))
        if raw.lstrip()[:1] == b"[":
            found = _first_of_list(path)
        else:
            found = parse_json(whole(path) if _is_document(raw) else raw)
    except InputError:
        return {}
    finally:
        stream.close()
    return found if isinstance(found, dict) else {}


def listed(record: Mapping[str, Any]) -> list[Any] | None:
    """The list of records inside an object that is no sample itself, under a usual name
    (RAGChecker: ``results``, ``input_data``)."""
    for name in ("results", "input_data", "data", "samples", "records", "examples", "rows"):
        inner = record.get(name)
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            is_sample = any(FIELD_OF.get(folded(key)) in SUBSTANCE for key in record)
            return None if is_sample else inner
    return None


def _is_document(first_line: bytes) -> bool:
    text = first_line.strip()
    return text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}")


def _first_of_list(path: Path) -> Any:
    with opened(path) as stream:
        start = stream.read(1 << 20).decode(errors="ignore")
    begin = re.compile(r"\s*\[\s*").match(start)
    try:
        return json.JSONDecoder().raw_decode(start, begin.end() if begin else 0)[0]
    except ValueError:
        value = parse_json(whole(path))
        return value[0] if isinstance(value, list) and value else None


def _object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InputError(
        f"a record is {type(value).__name__}, not an object",
        path=path,
        line=line,
        hint='Each record is a JSON object: {"id": ..., "query": ...}.',
    )
