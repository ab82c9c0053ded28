"""Which columns the user chose for fields: names, paths into nested values, several candidates,
several columns that make one list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.json_paths import NOTHING, JsonPath, PathError
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_names import ALIASES, FIELD_OF, KEY_MAP, folded
from ragassay.formats.records.field_values import says_failure, unpack
from ragassay.formats.sources.json_files import text_paths

Columns = Mapping[str, str | Sequence[str]]
"""Field -> its column: a name, a path (``outputs.choices[0].message.content``), or several of them,
in a list or joined by ``|``, of which the first that a record has is read. For a field that is a
list also several columns, whose values make it: ``passage_*`` or ``first+second``."""

LIST_FIELDS = frozenset(
    {"passages", "passage_ids", "references", "negative_references", "gold", "gold_ids"}
)
"""Fields that several columns can make."""

_MOST_PATHS = 10
"""Paths into a column that an error lists."""


def canonical(columns: Columns | None) -> dict[str, tuple[str, ...]]:
    """A ``columns`` mapping with canonical fields as its keys, each with its candidates."""
    chosen: dict[str, tuple[str, ...]] = {}
    for name, column in (columns or {}).items():
        field = KEY_MAP.get(name) or FIELD_OF.get(folded(name))
        if field is None:
            raise UsageError(
                f"columns: there is no field {name!r}. "
                f"{did_you_mean(name, [*ALIASES, *KEY_MAP])} "
                f"Fields are: {', '.join(ALIASES)}.".replace("  ", " ")
            )
        if field in chosen:
            raise UsageError(f"columns: {field!r} is named twice.")
        listed = [column] if isinstance(column, str) else column
        if not (isinstance(listed, list | tuple) and listed and all(map(_is_name, listed))):
            raise UsageError(
                f"columns: {name} must be the name of a column, a path, or a list of them, "
                f"not {column!r}."
            )
        chosen[field] = tuple(listed)
    return chosen


@dataclass(frozen=True)
class _JoinedColumns:
    """Several columns whose values make a list: ``passage_*`` or ``first+second``."""

    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def parse(cls, text: str) -> _JoinedColumns | None:
        """The columns that a text names; ``None`` where it can only be one."""
        names = [name.strip() for name in text.split("+")]
        # The star of a path into a list ([*]) is none of ours.
        if not all(names) or "[" in text or (len(names) == 1 and "*" not in text):
            return None
        return cls(tuple(re.compile(re.escape(name).replace(r"\*", "(.*)")) for name in names))

    def among(self, names: Iterable[str]) -> list[str]:
        """The names that match, those of one pattern by the numbers in them (2 before 10)."""
        listed = list(names)
        matching: dict[str, None] = {}
        for pattern in self.patterns:
            matches = {name: match for name in listed if (match := pattern.fullmatch(name))}
            matching.update(dict.fromkeys(sorted(matches, key=lambda name: _order(matches[name]))))
        return list(matching)

    def find(self, record: Mapping[str, Any]) -> Any:
        """Their values in a record, without those that are missing or empty; `NOTHING` where it has
        no such column."""
        columns = self.among(record)
        if not columns:
            return NOTHING
        values = [record[name] for name in columns if record[name] not in (None, "")]
        return [one if isinstance(one := _opened(value), dict) else value for value in values]


def _order(match: re.Match[str]) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts numbers by their value."""
    pieces = re.findall(r"\d+|\D+", "".join(match.groups()))
    return tuple((0, int(one), "") if one.isdecimal() else (1, 0, one) for one in pieces)


class ChosenColumns:
    """Finds in each record what the user's columns name."""

    def __init__(self, columns: Columns | None) -> None:
        self._candidates = canonical(columns)
        self._fields: dict[str, str] = {}
        for field, names in self._candidates.items():
            for name in _alternatives(names):
                self._fields.setdefault(name, field)
        self._paths = {name: path for name in self._fields if (path := _parsed(name)) is not None}
        self._joined = {
            name: joined
            for name, field in self._fields.items()
            if field in LIST_FIELDS and (joined := _JoinedColumns.parse(name)) is not None
        }
        self._plain = {field: names[0] for field, names in self._candidates.items()}

    def __contains__(self, field: str) -> bool:
        return field in self._candidates

    def __bool__(self) -> bool:
        return bool(self._candidates)

    def resolve(self, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """The record with the values of chosen paths at its top, taken from where they were, by the
        texts of the paths; and the key of each chosen field. Of a field whose columns the record
        lacks the key is its first candidate."""
        if all(record.get(name) is not None for name in self._plain.values()):
            return record, self._plain
        keys, resolved = dict(self._plain), dict(record)
        for field, names in self._candidates.items():
            # A candidate that is there and null comes after those that hold something.
            empty: str | None = None
            for name in (names[0], *_alternatives(names)):
                value = self._value(name, record)
                if value is not NOTHING:
                    resolved[name] = value
                if value is not NOTHING and value is not None:
                    keys[field] = name
                    break
                empty = empty or (name if value is None else None)
            else:
                keys[field] = empty or names[0]
        for name in set(keys.values()) - record.keys():
            if name in self._joined and name in resolved:
                for column in self._joined[name].among(record):
                    resolved.pop(column, None)
            elif name in self._paths and name in resolved:
                self._take_out(resolved, self._paths[name].steps)
        return resolved, keys

    def held(self, record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Those of the chosen columns that a record has."""
        # Each by itself: two fields may use one column, and one of them a path into it.
        return {
            field: names
            for field, names in self._candidates.items()
            if any(self._value(name, record) is not NOTHING for name in _alternatives(names))
        }

    def names(self) -> set[str]:
        """Every name and path that was chosen."""
        return {*self._fields}

    def field_of(self, column: str) -> str | None:
        """The field that a column holds: the one it was chosen for, else that of its name, unless
        another column was chosen for that; ``None`` where it holds none."""
        if column in self._fields:
            return self._fields[column]
        field = FIELD_OF.get(folded(column), "")
        return field if field and field not in self else None

    def joined(self, names: Iterable[str]) -> set[str]:
        """The names among these whose columns together make a list that the user chose."""
        listed = list(names)
        return {name for joined in self._joined.values() for name in joined.among(listed)}

    def excused(self, record: Mapping[str, Any]) -> frozenset[str]:
        """The fields whose columns a record may lack although the file has them: the outputs of a
        system that failed, and paths into outputs that are not there."""
        resolved, keys = self.resolve(record)
        failed = any(
            (key == keys.get("failure") or FIELD_OF.get(folded(key)) == "failure")
            and says_failure(value)
            for key, value in resolved.items()
        )
        gave_none = {name for name in _OUTPUTS if record.get(name) is None}
        return frozenset(
            field
            for field, names in self._candidates.items()
            if keys[field] not in resolved
            and (
                (failed and field in _OUTPUTS)
                or all(
                    name in self._paths and self._paths[name].steps[0] in gave_none
                    for name in _alternatives(names)
                )
            )
        )

    def refuse_missing(self, record: Mapping[str, Any], excused: Collection[str] = ()) -> None:
        """Refuses a first record that lacks a column, unless it may lack that (`excused`)."""
        resolved, keys = self.resolve(record)
        for field, names in self._candidates.items():
            paths = [self._paths[name] for name in _alternatives(names) if name in self._paths]
            may_lack = field in excused or any(path.optional for path in paths)
            if may_lack or keys[field] in resolved:
                continue
            name, reason, more = names[0], "", ""
            if paths:
                more = f" A ? at its end ({paths[0].text}?) lets records lack it."
            if len(paths) == 1:
                try:
                    paths[0].find(record, _opened)
                except PathError as error:
                    reason = f": {error}"
            path = self._paths.get(name)
            first = str(path.steps[0]) if path else ""
            texts = _texts_below(field, record[first], first) if first in record else ""
            raise wrong(
                "chosen_column_missing", field=name, of=field, reason=reason, more=more,
                names=" or ".join(map(repr, _alternatives(names))), found=", ".join(record),
                near=texts or did_you_mean(name, record),
            )  # fmt: skip

    def with_texts_below(self, error: InputError, record: Mapping[str, Any]) -> InputError:
        """An error about a chosen column of a record, with the paths to the texts in it where it
        holds an object."""
        name = error.field or ""
        field = self._fields.get(name)
        hint = field and _texts_below(field, self._value(name, record), name)
        return error.but(hint=hint) if hint else error

    def _value(self, name: str, record: Mapping[str, Any]) -> Any:
        """What a column holds, or what a name that is no column's leads to; else `NOTHING`."""
        if name in record:
            return record[name]
        if name in self._joined:
            return self._joined[name].find(record)
        return self._paths[name].reach(record, _opened) if name in self._paths else NOTHING

    def _take_out(self, record: dict[str, Any], steps: Sequence[str | int]) -> None:
        """Removes the value of a path from a record, or the list into which the path goes, and the
        objects that are empty then. A list that is itself a field of ours (``messages``) stays."""
        keys: list[str] = []
        for step in steps:
            if isinstance(step, int):
                field = FIELD_OF.get(folded(keys[0])) if len(keys) == 1 else None
                if field is not None and field not in self:
                    return
                break
            keys.append(step)
        if keys:
            _without(record, keys)


_OUTPUTS = frozenset({"answer", "passages", "passage_ids", "passage_embeddings"})
"""Fields that hold the output of a system."""


def _alternatives(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one.strip() for name in names for one in name.split("|") if one))


def _without(record: dict[str, Any], keys: Sequence[str]) -> None:
    first, *rest = keys
    inner = _opened(record.get(first))
    if not rest:
        record.pop(first, None)
    elif isinstance(inner, dict):
        record[first] = dict(inner)
        _without(record[first], rest)
        if not record[first]:
            del record[first]


def _parsed(name: str) -> JsonPath | None:
    """The path that a name writes; ``None`` where it can only be a name."""
    with suppress(ValueError):
        path = JsonPath.parse(name)
        return path if path.optional or len(path.steps) > 1 else None
    return None


def _opened(value: Any) -> Any:
    """The object or list in a text that holds one, for a path that goes on into it."""
    return unpack(value, "")


def _texts_below(field: str, value: Any, name: str) -> str:
    """A hint with the paths to the texts in what a column holds; empty where there are none."""
    below = text_paths([_opened(value)], name, listed=field in LIST_FIELDS)
    paths = [path for path in below if path != name][:_MOST_PATHS]
    if not paths:
        return ""
    if len(paths) == 1:
        return f"Write {field}={paths[0]}."
    return f"Texts are in {', '.join(paths)}: write for example {field}={paths[0]}."


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
