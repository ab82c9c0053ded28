"""JSON values; the records of JSON files: of lines, of lists, of objects that hold them, of tables
written column by column; and the paths to the texts in values, for ``columns``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import InputError, json_problem
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.field_names import FIELD_OF, NAMES, SUBSTANCE, folded
from ragassay.formats.sources.opening import lines, placed, read_all


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value. ``NaN``, as Python and pandas write it, becomes ``null`` (as a score it is
    refused later), half a surrogate pair U+FFFD. Repeated keys and infinite numbers are errors."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as strict:
        try:
            with placed(path, line):
                return cleaned(json.loads(raw.decode(), object_pairs_hook=_unique))
        except (ValueError, RecursionError):
            raise wrong("no_json", path=path, line=line, why=json_problem(strict)) from None
    try:
        if _NINETEEN in raw.translate(_DIGITS):  # orjson makes floats of integers beyond 64 bits
            return cleaned(json.loads(raw, object_pairs_hook=_unique, parse_int=exact))
        # Each key has its colon: as many are no reason to look for keys that stand twice.
        if not isinstance(value, dict) or len(value) != raw.count(b":"):
            refuse_repeats(raw, value)
    except InputError as error:
        raise error.at(path=path, line=line) from None
    return value


_DIGITS = bytes(48 if chr(at).isdecimal() else 32 for at in range(256))
_NINETEEN = b"0" * 19
"""So many digits may need more than 64 bits."""


def exact(written: str | int) -> int | str:
    """An integer; as its digits where it needs more than 64 bits, which not every reader keeps."""
    value = int(written)
    return value if -(2**63) <= value < 2**63 else str(value)


def whole_object(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The JSON object that a file holds."""
    value = parse_json(read_all(path, encoding), path)
    if not isinstance(value, dict):
        raise wrong("no_object", path=path)
    return value


def refuse_repeats(raw: bytes, value: Any) -> None:
    """Refuses an object that names a key twice; JSON readers silently keep the last value. The text
    is parsed again, slowly, only where the value written again has fewer colons."""
    with suppress(TypeError):  # nested too deeply to be written
        if orjson.dumps(value).count(b":") == raw.count(b":"):
            return
    with suppress(RecursionError):
        json.loads(raw, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise wrong("key_twice", field=twice, key=twice)
    return unique


def cleaned(value: Any, key: str = "") -> Any:
    """A JSON value without NaN and lone surrogates: ``NaN`` stays under a key of scores and becomes
    ``None`` elsewhere. An infinite number is an error."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isinf(value):
            raise wrong("infinite", field=key or None, value=value)
        return value if key.casefold() in SCORES else None
    if isinstance(value, str):
        raw = b"" if value.isascii() else value.encode("utf-16", "surrogatepass")
        return raw.decode("utf-16", "replace") or value
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, key) for item in value]
    return value


SCORES = NAMES["passage.score"]
"""What the score of a passage is called."""


_DEEPEST = 6
"""Levels of objects and lists that are looked into."""

MOST_PATHS = 20
"""Columns and paths that a message lists."""


def is_list_of_texts(value: Any) -> bool:
    """Whether a value is a list that holds texts alone, and any."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def text_paths(
    values: Sequence[Any], column: str, *, listed: bool = False, depth: int = 0
) -> list[str]:
    """The paths to the texts and lists of texts in the values of a column. With ``listed``, the
    paths into lists of objects lead to every item, also of a list of one."""
    has_texts = any(isinstance(value, str) or is_list_of_texts(value) for value in values)
    paths = [column] if has_texts else []
    if depth >= _DEEPEST:
        return paths
    objects = [value for value in values if isinstance(value, dict)]
    below: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for value in objects for key in value):
        plain = str(key).replace("_", "").replace("-", "").isalnum()
        inner = [value[key] for value in objects if key in value]
        below[f"{column}.{key}" if plain else f'{column}["{key}"]'] = inner
    lists = [value for value in values if isinstance(value, list)]
    lists = [items for items in lists if items and isinstance(items[0], dict)]
    if lists:
        step = "[*]" if listed or any(len(items) > 1 for items in lists) else "[0]"
        below[column + step] = [item for group in lists for item in group if isinstance(item, dict)]
    for path, inner in below.items():
        paths += text_paths(inner, path, listed=listed, depth=depth + 1)
    return list(dict.fromkeys(paths))


def unread(value: Any, texts: set[str]) -> Any:
    """What is left of inputs or outputs without the read texts; ``None`` for nothing."""
    if isinstance(value, str):
        return None if value.strip() in texts or not value.strip() else value
    if isinstance(value, dict):
        entries = {key: unread(item, texts) for key, item in value.items() if key != "type"}
        return {key: entry for key, entry in entries.items() if entry is not None} or None
    if isinstance(value, list):
        items = [unread(item, texts) for item in value]
        if all(item is None for item in items):
            return None
        return [item or {} for item in items] if isinstance(value[0], dict) else value
    return None


def all_texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from all_texts(item)


_LISTS, _ABOUT = NAMES["lists_of_records"], frozenset(NAMES["around_records"])
"""Names of a list at the top of an object that holds the records, and, folded, of what stands
around it: their texts are none of a record."""


def json_records(
    path: Path,
    around: Callable[[Mapping[str, Any]], None] = lambda beside: None,
    encoding: str | None = None,
    *,
    is_record: Callable[[Any], bool] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one (`records_within`), with its line or number. ``around`` takes what surrounds such a list;
    ``is_record`` says of an object that it is a record, whatever lists it holds."""
    values = _values(path, encoding)
    begun = next(values)
    first = begun[1]
    holds = not isinstance(first, list)  # whether objects may hold records; those of a list do not
    n = 0
    for line, outer in chain([begun], values) if holds else enumerate(first, 1):
        if not isinstance(outer, dict):
            raise unexpected(outer, "a record").at(path=path, line=line)
        try:
            within = records_within(outer, is_record) if holds else None
        except InputError as error:
            raise error.at(path=path) from None
        holds = holds and (n > 0 or within is not None)
        if not holds:
            yield line, outer
            continue
        records, names = within or ([outer], [])
        if within:
            around({name: outer[name] for name in names})
        for record in records:
            n += 1
            yield n, record


def _values(path: Path, encoding: str | None) -> Generator[tuple[int, Any]]:
    """The value of each line with its number, or that of a document, which begins with a list or
    with an object that goes on after its first line."""
    with closing(lines(path, encoding)) as stream:
        first = next(stream, (1, b""))
        text = first[1].strip()
        if text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}"):
            yield 1, parse_json(read_all(path, encoding), path)
            return
        for line, raw in chain([first], stream):
            yield line, parse_json(raw, path, line)


def first_record(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The first record of `json_records`, or the document that is an object; empty for none."""
    with suppress(InputError), closing(_values(path, encoding)) as values:
        _, record = next(values)
        if isinstance(record, list):
            record = record[0] if record else {}
        return record if isinstance(record, dict) else {}
    return {}


def records_within(
    outer: Mapping[str, Any], is_record: Callable[[Any], bool] | None = None
) -> tuple[Iterable[dict[str, Any]], list[str]] | None:
    """The records in an object, and the names around them; ``None`` where it is a record itself."""
    # A sample of ours may hold the runs of its query.
    whole = {"id", "runs"} <= outer.keys() or (is_record is not None and is_record(outer))
    lists = [] if whole else [key for key in _LISTS if isinstance(outer.get(key), list)]
    names = [key for key in lists if _are_objects(outer[key])]
    names = names or [key for key in lists if not outer[key]][:1]
    if names and _says_nothing(outer, names):
        if len(names) > 1:
            raise wrong("several_lists", names=", ".join(map(repr, names)))
        others = [key for key, value in outer.items() if key != names[0] and value is not None]
        return outer[names[0]], others
    # A table holds nothing but columns (in one of its forms under that name).
    is_table = "columns" in outer or all(isinstance(value, dict | list) for value in outer.values())
    table = _table_rows(outer) if is_table else None
    return None if table is None else (table, [])


def _are_objects(value: Any) -> bool:
    """Whether a value is a list of objects that hold more than an id, which would only refer."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return False
    return any(FIELD_OF.get(folded(name)) != "id" for item in value for name in item)


def _says_nothing(value: Mapping[str, Any], lists: list[str]) -> bool:
    """Whether nothing beside lists in an object looks like a part of a record."""
    others = {folded(name): item for name, item in value.items() if name not in lists}
    return all(
        FIELD_OF.get(name) not in SUBSTANCE and (name in _ABOUT or not any(all_texts(other)))
        for name, other in others.items()
    )


def _table_rows(value: Mapping[str, Any]) -> Iterator[dict[str, Any]] | None:
    """The rows of a table as pandas writes it: ``{"question": ["a", "b"], ...}`` with a column of
    ids or queries, ``{"question": {"0": "a", "1": "b"}, ...}``, or ``{"columns": [...], "data":
    [[...], ...]}``; ``None`` where an object is none."""
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and names and data:
        rows_fit = all(isinstance(row, list) and len(row) == len(names) for row in data)
        if rows_fit and all(isinstance(name, str) for name in names):
            return (dict(zip(names, row, strict=True)) for row in data)
    if value and all(isinstance(item, dict) and item for item in value.values()):
        index, *others = {tuple(item) for item in value.values()}
        if others:
            return None
        columns = {key: [*item.values()] for key, item in value.items()}
        if not all(map(str.isdecimal, index)):  # names of rows: pandas leaves out what they are
            if len(value) == 1 or len(index) == 1 or not _OF_A_PART.isdisjoint(map(folded, index)):
                return None
            if all(FIELD_OF.get(folded(name)) != "id" for name in value):
                columns = {"id": list(index), **columns}
    elif value and all(isinstance(item, list) and item for item in value.values()):
        columns = dict(value)
        # An id or a query is no list in a record.
        single = [column for key, column in columns.items() if FIELD_OF.get(folded(key)) in _SINGLE]
        if not single or any(isinstance(item, dict | list) for group in single for item in group):
            return None
    else:
        return None
    return rows_of(columns)


def rows_of(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a table that is given as its columns, which must be of one length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise wrong("ragged_columns", counts=counts)
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


_OF_A_PART = frozenset({*FIELD_OF, "text", "content", "value", "message", "type", "role"})
"""Names in an object that is a part of a record, folded."""

_SINGLE = ("id", "query")
"""Fields that are no list of texts in a record of its own."""
