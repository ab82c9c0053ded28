"""JSON from files: one value, and the records of lines and documents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial, reduce
from itertools import chain, count
from pathlib import Path
from typing import Any, cast

import orjson

from ragassay.base.errors import InputError
from ragassay.base.problem_words import json_problem
from ragassay.formats.records.aliases import FIELD_OF, SUBSTANCE, folded
from ragassay.formats.sources import column_wise, nested_lists
from ragassay.formats.sources.kinds import unexpected
from ragassay.formats.sources.opening import lines, opened, placed, read_all


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value.

    Python and pandas write ``NaN`` for missing values, and programs that cut text in the middle of
    a character write halves of surrogate pairs. Published files hold both. ``NaN`` becomes ``null``
    (except where a score is expected, which `field_values` of records then refuses),
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
                f"not valid JSON ({json_problem(strict)})",
                path=path,
                line=line,
                hint="Mend that line; no record was skipped.",
            ) from None
    with placed(path, line):
        if _NINETEEN in raw.translate(_DIGITS):  # orjson makes floats of integers beyond 64 bits
            value = cleaned(json.loads(raw, object_pairs_hook=_unique, parse_int=exact))
        else:
            refuse_repeats(raw, value)
    return value


_DIGITS = bytes(48 if chr(at).isdecimal() else 32 for at in range(256))
_NINETEEN = b"0" * 19
"""So many digits may need more than 64 bits."""


def exact(written: str | int) -> int | str:
    """An integer; as its digits where it needs more than 64 bits, which not every reader keeps.

    Args:
        written: the integer.
    """
    value = int(written)
    return value if -(2**63) <= value < 2**63 else str(value)


def whole_object(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The JSON object that a file holds.

    Args:
        path: the file.
        encoding: of the file, where it is not UTF-8.

    Raises:
        InputError: it cannot be read, or holds anything else.
    """
    value = parse_json(read_all(path, encoding), path)
    if not isinstance(value, dict):
        raise InputError("the file holds no object", path=path)
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


Note = Callable[[str, str], None]


def json_records(
    path: Path,
    note: Note = lambda fact, consequence: None,
    encoding: str | None = None,
    *,
    nested: bool = False,
    is_record: Callable[[dict[str, Any]], bool] = lambda record: False,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one.

    An object that holds a table column by column (`column_wise`) has a record for each row. Each
    record comes with its line, in a document with its number. Where the first line holds a list of
    records (RAGChecker, batches), every line may; their records are numbered consecutively.

    Args:
        path: the file.
        note: called with a remark about what surrounds such a list.
        encoding: of the file, where it is not UTF-8.
        nested: whether the list may stand deeper in an object (`nested_lists`).
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
            note(around, "The records were read, what stands around them was left out.")
        for record in records:
            yield next(numbers), record


def first_record(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The first record of `json_records`, or the whole document where that is an object.

    Empty when there is none. Reads little of a JSON Lines file or a list.
    """
    with suppress(InputError), closing(lines(path, encoding)) as stream:
        _, raw = next(stream, (0, b""))
        if raw.lstrip()[:1] == b"[":
            record = _first_of_list(path, encoding)
        else:
            record = parse_json(read_all(path, encoding) if _is_document(raw) else raw)
        return record if isinstance(record, dict) else {}
    return {}


def _within(
    outer: dict[str, Any], path: Path, nested: bool, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[Iterable[dict[str, Any]], str] | None:
    """The records that an object holds, and words for objects with something around these; ``None``
    where it is a record itself."""
    around_list = not is_record(outer)
    if around_list and (name := _list_name(outer, path)) is not None:
        around = [repr(key) for key, one in outer.items() if key != name and one is not None]
        words = f"objects with {', '.join(around)} around a list of records" if around else ""
        return outer[name], words
    with placed(path):
        table = column_wise.rows(outer)
    if table is not None:
        return table, ""
    way = nested_lists.path_to_records(outer) if nested and around_list else None
    if way is None:
        return None
    records: Any = reduce(lambda value, key: value[key], way, cast("Any", outer))
    return records, f"objects with a list of records in {'.'.join(way)}"


_LISTS = ("results", "input_data", "data", "samples", "records", "examples", "rows", "traces")


def _list_name(record: Mapping[str, Any], path: Path) -> str | None:
    """The name under which an object that is no sample itself holds a list of records; ``None``
    where there is none."""
    names = [
        name
        for name in _LISTS
        if isinstance(listed := record.get(name), list)
        and listed
        and all(isinstance(one, dict) for one in listed)
    ]
    if not names or any(FIELD_OF.get(folded(key)) in SUBSTANCE for key in record):
        return None
    if len(names) > 1:
        raise InputError(
            f"an object holds several lists of records: {', '.join(map(repr, names))}",
            path=path,
            hint="Keep one list in a file.",
        )
    return None if nested_lists.holds_passages(record, names[0]) else names[0]


def inner_record(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first record in the list of records that an object holds; ``None`` where it holds none.

    Args:
        record: the object.
    """
    with suppress(InputError):
        records = _within(dict(record), Path(), True, lambda record: False)
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
    hint = 'Each record is a JSON object: {"id": ..., "query": ...}.'
    raise unexpected(value, "a record", hint=hint).at(path=path, line=line)
