"""JSON values; the records of JSON files: of lines, of lists, of objects that hold them, of tables
written column by column; and the paths to the texts in values, for ``columns``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import InputError, json_problem
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.field_names import FIELD_OF, NAMES, SUBSTANCE, folded
from ragassay.formats.sources.opening import lines, placed, read_all


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value. ``NaN``, as Python and pandas write it, becomes ``null`` (except as a score,
    which is refused later), half a surrogate pair U+FFFD. A key that stands twice and an infinite
    number are errors."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as strict:
        try:
            with placed(path, line):
                return cleaned(json.loads(raw.decode(), object_pairs_hook=_unique))
        except (ValueError, RecursionError):
            raise wrong("no_json", path=path, line=line, why=json_problem(strict)) from None
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
    """Refuses an object that names a key twice; JSON readers silently keep the last value. Each key
    has its colon: the text is parsed again, slowly, only where the value written again has fewer of
    them."""
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
        return value if value.isascii() else _without_lone_surrogates(value)
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, key) for item in value]
    return value


SCORES = NAMES["passage.score"]
"""What the score of a passage is called."""


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_DEEPEST = 6
"""Levels of objects and lists that are looked into."""


def text_paths(values: Sequence[Any], column: str, *, listed: bool = False) -> list[str]:
    """The paths to the texts and lists of texts in the values of a column. With ``listed``, the
    paths into lists of objects lead to every item, also of a list of one."""
    return list(dict.fromkeys(_paths_below(list(values), column, 0, listed)))


def is_list_of_texts(value: Any) -> bool:
    """Whether a value is a list that holds texts alone, and any."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _paths_below(values: list[Any], path: str, depth: int, listed: bool) -> Iterator[str]:
    if any(isinstance(one, str) or is_list_of_texts(one) for one in values):
        yield path
    if depth >= _DEEPEST:
        return
    objects = [one for one in values if isinstance(one, dict)]
    for key in dict.fromkeys(key for one in objects for key in one):
        plain = str(key).replace("_", "").replace("-", "").isalnum()
        step = f".{key}" if plain else f'["{key}"]'
        inner = [one[key] for one in objects if key in one]
        yield from _paths_below(inner, f"{path}{step}", depth + 1, listed)
    lists = [one for one in values if isinstance(one, list) and one and isinstance(one[0], dict)]
    if lists:
        items = [item for one in lists for item in one if isinstance(item, dict)]
        step = "[*]" if listed or any(len(one) > 1 for one in lists) else "[0]"
        yield from _paths_below(items, f"{path}{step}", depth + 1, listed)


def unread(value: Any, texts: set[str]) -> Any:
    """What is left of inputs or outputs without the texts that were read from them; ``None`` where
    nothing is."""
    if isinstance(value, str):
        return None if value.strip() in texts or not value.strip() else value
    if isinstance(value, dict):
        entries = {key: unread(one, texts) for key, one in value.items() if key != "type"}
        return {key: one for key, one in entries.items() if one is not None} or None
    if isinstance(value, list):
        items = [unread(one, texts) for one in value]
        if all(one is None for one in items):
            return None
        return [one or {} for one in items] if isinstance(value[0], dict) else value
    return None


def all_texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from all_texts(one)


_LISTS, _ABOUT = NAMES["lists_of_records"], frozenset(NAMES["around_records"])
"""Names of a list at the top of an object that holds the records, and, folded, of what stands
around it: their texts are none of a record."""


def json_records(
    path: Path,
    tell: Callable[..., None] = lambda kind, **facts: None,
    encoding: str | None = None,
    *,
    is_record: Callable[[Any], bool] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object of a JSON Lines file, or of a JSON document that is a list of objects or holds
    one (`records_within`), with its line or number. ``tell`` takes a remark about what surrounds
    such a list; ``is_record`` says of an object that it is a record, whatever lists it holds."""
    stream = lines(path, encoding)
    first = next(stream, (1, b""))
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
    beginning = next(objects)
    objects = chain([beginning], objects)
    with placed(path):
        within = records_within(beginning[1], is_record)
    if within is None:
        yield from objects
        return
    numbers = count(1)
    for _, outer in objects:
        with placed(path):
            records, around = records_within(outer, is_record) or ([outer], [])
        if around:
            tell("around_records", around=", ".join(map(repr, around)))
        for record in records:
            yield next(numbers), record


def first_record(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The first record of `json_records`, or the whole document where that is an object; empty
    where there is none."""
    with suppress(InputError), closing(lines(path, encoding)) as stream:
        _, raw = next(stream, (0, b""))
        record = parse_json(read_all(path, encoding) if _is_document(raw) else raw)
        if isinstance(record, list):
            record = record[0] if record else {}
        return record if isinstance(record, dict) else {}
    return {}


def records_within(
    outer: Mapping[str, Any], is_record: Callable[[Any], bool] | None = None
) -> tuple[Iterable[dict[str, Any]], list[str]] | None:
    """The records that an object holds, and the names of what stands around them; ``None`` where it
    is a record itself."""
    # A sample of ours may hold the runs of its query.
    whole = {"id", "runs"} <= outer.keys() or (is_record is not None and is_record(outer))
    names = [] if whole else [one for one in _LISTS if are_objects(outer.get(one))]
    if names and _says_nothing(outer, names):
        if len(names) > 1:
            raise wrong("several_lists", names=", ".join(map(repr, names)))
        others = [key for key, one in outer.items() if key != names[0] and one is not None]
        return outer[names[0]], others
    table = _table_rows(outer)
    return None if table is None else (table, [])


def are_objects(value: Any) -> bool:
    """Whether a value is a list of objects that hold more than an id: those with an id alone refer
    to something."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    return any(FIELD_OF.get(folded(name)) != "id" for one in value for name in one)


def _says_nothing(value: Mapping[str, Any], lists: list[str]) -> bool:
    """Whether nothing beside lists in an object looks like a part of a record."""
    others = {folded(name): one for name, one in value.items() if name not in lists}
    return all(
        FIELD_OF.get(name) not in SUBSTANCE and (name in _ABOUT or not any(all_texts(one)))
        for name, one in others.items()
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
    if value and all(isinstance(one, dict) and one for one in value.values()):
        index, *others = {tuple(one) for one in value.values()}
        if others:
            return None
        columns = {key: [*one.values()] for key, one in value.items()}
        if not all(map(str.isdecimal, index)):  # names of rows: pandas leaves out what they are
            if len(value) == 1 or len(index) == 1 or not _OF_A_PART.isdisjoint(map(folded, index)):
                return None
            if all(FIELD_OF.get(folded(name)) != "id" for name in value):
                columns = {"id": list(index), **columns}
    elif value and all(isinstance(one, list) and one for one in value.values()):
        columns = dict(value)
        # An id or a query is no list in a record.
        single = [one for key, one in columns.items() if FIELD_OF.get(folded(key)) in _SINGLE]
        if not single or any(isinstance(item, dict | list) for one in single for item in one):
            return None
    else:
        return None
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise wrong("ragged_columns", counts=counts)
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


_OF_A_PART = frozenset({*FIELD_OF, "text", "content", "value", "message", "type", "role"})
"""Names in an object that is a part of a record, folded."""

_SINGLE = ("id", "query")
"""Fields that are no list of texts in a record of its own."""


def _is_document(first_line: bytes) -> bool:
    text = first_line.strip()
    return text[:1] == b"[" or (text[:1] == b"{" and text[-1:] != b"}")


def _object(value: Any, path: Path, line: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise unexpected(value, "a record").at(path=path, line=line)
