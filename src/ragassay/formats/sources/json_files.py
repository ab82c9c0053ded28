"""The records of JSON files: of lines, of lists, and of objects around them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format_words import unexpected
from ragassay.formats.sources.enclosed_records import records_within
from ragassay.formats.sources.json_values import parse_json
from ragassay.formats.sources.opening import lines, opened, placed, read_all

Tell = Callable[..., None]


def json_records(
    path: Path,
    tell: Tell = lambda kind, **facts: None,
    encoding: str | None = None,
    *,
    nested: bool = False,
    is_record: Callable[[dict[str, Any]], bool] = lambda record: False,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one (`enclosed_records`).

    Each record comes with its line, in a document with its number. Where the first line holds a
    list of records (batches), every line may; their records are numbered consecutively.

    Args:
        path: the file.
        tell: takes a remark about what surrounds such a list (`Notes.tell`).
        encoding: of the file, where it is not UTF-8.
        nested: whether the list may stand deeper in an object.
        is_record: whether an object is known to be a record, whatever lists it holds.

    Raises:
        InputError: something is not JSON, or not an object; or an object holds several lists of
            records.
    """
    stream = lines(path, encoding)
    first = next(stream, None)
    if first is None:
        raise InputError("the file holds only blank lines", path=path)
    if _is_document(first[1]):
        stream.close()
        value = parse_json(read_all(path, encoding), path)
        if isinstance(value, list):
            yield from ((index, _object(item, path, index)) for index, item in enumerate(value, 1))
            return
        objects = iter([(1, value)])
    else:
        raws = chain([first], stream)
        objects = ((line, _object(parse_json(raw, path, line), path, line)) for line, raw in raws)
    within = partial(_within, path=path, nested=nested, is_record=is_record)
    beginning = next(objects)
    objects = chain([beginning], objects)
    if within(beginning[1]) is None:
        yield from objects
        return
    numbers = count(1)
    for _, outer in objects:
        records, around = within(outer) or ([outer], "")
        if around:
            tell("around_records", around=around)
        for record in records:
            yield next(numbers), record


def _within(
    outer: dict[str, Any], path: Path, nested: bool, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[Iterable[dict[str, Any]], str] | None:
    with placed(path):
        return records_within(outer, nested=nested, is_record=is_record(outer))


def first_record(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The first record of `json_records`, or the whole document where that is an object; empty
    where there is none. Reads little of a JSON Lines file or a list."""
    with suppress(InputError), closing(lines(path, encoding)) as stream:
        _, raw = next(stream, (0, b""))
        if raw.lstrip()[:1] == b"[":
            record = _first_of_list(path, encoding)
        else:
            record = parse_json(read_all(path, encoding) if _is_document(raw) else raw)
        return record if isinstance(record, dict) else {}
    return {}


def inner_record(record: dict[str, Any]) -> dict[str, Any] | None:
    """The first record in the list of records that an object holds; ``None`` where it holds
    none."""
    with suppress(InputError):
        records = records_within(record, nested=True)
        return None if records is None else next(iter(records[0]), None)
    return None


def _is_document(first_line: bytes) -> bool:
    text = first_line.strip()
    return text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}")


def _first_of_list(path: Path, encoding: str | None) -> Any:
    with opened(path, encoding) as stream:
        start = stream.read(1 << 20).decode(errors="ignore")
    begin = re.compile(r"\s*\[\s*").match(start)
    try:
        return json.JSONDecoder().raw_decode(start, begin.end() if begin else 0)[0]
    except (ValueError, RecursionError):
        value = parse_json(read_all(path, encoding))
        return value[0] if isinstance(value, list) and value else None


def _object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise unexpected(value, "a record").at(path=path, line=line)
