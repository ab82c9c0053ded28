"""The columns chosen for fields: names, paths, candidates, and several that make one list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.json_data import NOTHING, JsonPath
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_names import ALIASES, FIELD_OF, KEY_MAP, Values, folded
from ragassay.formats.records.field_values import opened, says_failure
from ragassay.formats.sources.json_files import MOST_PATHS, text_paths

Columns = Mapping[str, str | Sequence[str]]
"""Field -> its column: a name, a path (``outputs.choices[0].message.content``), or several of them,
in a list or joined by ``|``, of which the first that a record has is read. For a field that is a
list also several columns, whose values make it: ``passage_*`` or ``first+second``."""

_LISTS = ("passages", "passage_ids", "references", "negative_references", "gold", "gold_ids")
"""Fields that several columns can make."""

_OUTPUTS = frozenset({"answer", "passages", "passage_ids", "passage_embeddings"})
"""Fields that hold the output of a system."""


def canonical(columns: Columns | None) -> dict[str, tuple[str, ...]]:
    """A ``columns`` mapping with canonical fields as its keys, each with its candidates."""
    chosen: dict[str, tuple[str, ...]] = {}
    for name, column in (columns or {}).items():
        field = KEY_MAP.get(name) or FIELD_OF.get(folded(name))
        if field is None:
            near, fields = did_you_mean(name, [*ALIASES, *KEY_MAP]), ", ".join(ALIASES)
            raise UsageError(f"columns: there is no field {name!r}. {near} Fields are: {fields}.")
        if field in chosen:
            raise UsageError(f"columns: {field!r} is named twice.")
        listed = [column] if isinstance(column, str) else column
        are_names = isinstance(listed, list | tuple) and bool(listed)
        if not are_names or not all(isinstance(text, str) and text.strip() for text in listed):
            raise UsageError(
                f"columns: {name} must be the name of a column, a path, or a list of them, "
                f"not {column!r}."
            )
        chosen[field] = tuple(listed)
    return chosen


@dataclass(frozen=True)
class _Candidate:
    """What a user chose for a field: a name, a path, or several columns that make a list."""

    name: str
    path: JsonPath | None = None
    patterns: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def parse(cls, name: str, field: str) -> _Candidate:
        """The candidate that a text writes for a field."""
        parts = [part.strip() for part in name.split("+")]
        # The star of a path into a list ([*]) is none of ours.
        is_pattern = all(parts) and "[" not in name and (len(parts) > 1 or "*" in name)
        if field in _LISTS and is_pattern:
            starred = (re.escape(part).replace(r"\*", "(.*)") for part in parts)
            return cls(name, patterns=tuple(map(re.compile, starred)))
        with suppress(ValueError):
            path = JsonPath.parse(name)
            return cls(name, path if path.optional or len(path.steps) > 1 else None)
        return cls(name)

    def columns(self, names: Iterable[str]) -> list[str]:
        """The names that a pattern matches, by the numbers in them (2 before 10)."""
        listed, found = list(names), dict[str, None]()
        for pattern in self.patterns:
            matches = {name: match for name in listed if (match := pattern.fullmatch(name))}
            found |= dict.fromkeys(sorted(matches, key=lambda name: _order(matches[name])))
        return list(found)

    def value(self, record: Mapping[str, Any]) -> Any:
        """What a record holds there, `NOTHING` where it has no such column. A column that is
        written like a path or pattern is read as what it is."""
        if self.name in record:
            return record[self.name]
        if self.patterns:
            columns = self.columns(record)
            values = [record[name] for name in columns if record[name] not in (None, "")]
            objects = [row if isinstance(row := opened(value), dict) else value for value in values]
            return objects if columns else NOTHING
        return self.path.reach(record, opened) if self.path else NOTHING

    def take_out(self, record: dict[str, Any], chosen: ChosenColumns) -> None:
        """Removes from a record what the candidate leads to, or the list into which its path goes.
        A list that is itself a field (``messages``) stays."""
        if self.name in record:
            del record[self.name]
            return
        for name in self.columns(record):
            del record[name]
        if self.path is not None:
            keys = [*takewhile(lambda step: isinstance(step, str), self.path.steps)]
            into_list = len(keys) < len(self.path.steps)
            is_field = into_list and len(keys) == 1 and chosen.field_of(str(keys[0]))
            if keys and not is_field:
                _without(record, keys)


def _order(match: re.Match[str]) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts numbers by their value."""
    pieces = re.findall(r"\d+|\D+", "".join(match.groups()))
    return tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces)


def _without(record: dict[str, Any], keys: Sequence[Any]) -> None:
    """Removes a nested value, and the objects that are empty then."""
    first, *rest = keys
    inner = opened(record.get(first))
    if rest and isinstance(inner, dict):
        record[first] = dict(inner)
        _without(record[first], rest)
    if not rest or not record.get(first):
        record.pop(first, None)


class ChosenColumns(dict[str, list[_Candidate]]):
    """Field -> the candidates that the user's columns name for it, to be found in each record."""

    def __init__(self, columns: Columns | None) -> None:
        for field, names in canonical(columns).items():
            pieces = [piece.strip() for name in names for piece in name.split("|") if piece]
            listed = dict.fromkeys((names[0], *pieces))
            self[field] = [_Candidate.parse(name, field) for name in listed]
        self._field_of = {each.name: field for field, listed in self.items() for each in listed}

    def find(self, record: Mapping[str, Any]) -> tuple[Values, dict[str, Any], dict[str, str]]:
        """The values of the chosen fields; the record without them; and the first candidates of
        those fields that it lacks. Of several candidates the first that is not null counts."""
        values: Values = {}
        used: list[_Candidate] = []
        missing: dict[str, str] = {}
        for field, candidates in self.items():
            pairs = [(candidate, candidate.value(record)) for candidate in candidates]
            found = [pair for pair in pairs if pair[1] is not NOTHING]
            if not found:
                missing[field] = candidates[0].name
                continue
            candidate, value = next((pair for pair in found if pair[1] is not None), found[0])
            values[field] = candidate.name, value
            used.append(candidate)
        rest = dict(record)
        for candidate in used:
            candidate.take_out(rest, self)
        return values, rest, missing

    def held(self, record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Those of the chosen columns that a record has."""
        return {
            field: tuple(candidate.name for candidate in listed)
            for field, listed in self.items()
            if any(candidate.value(record) is not NOTHING for candidate in listed)
        }

    def used(self, columns: Iterable[str]) -> set[str]:
        """Every name and path that was chosen, with those of these columns that make a list."""
        listed = list(columns)
        joined = (candidate.columns(listed) for each in self.values() for candidate in each)
        return {*self._field_of}.union(*joined)

    def field_of(self, column: str) -> str | None:
        """The field that a column holds: the one it was chosen for, else that of its name, unless
        another column was chosen for that; ``None`` where it holds none."""
        if column in self._field_of:
            return self._field_of[column]
        field = FIELD_OF.get(folded(column), "")
        return field if field and field not in self else None

    def check(self, record: Mapping[str, Any]) -> bool:
        """Refuses a first record that lacks a column. What a system that failed would have given,
        and what is in outputs that are not there, it may lack: then the answer is no, and the next
        record is to be checked, too."""
        values, _, missing = self.find(record)
        causes = [values["failure"][1]] if "failure" in values else [
            value for key, value in record.items() if self.field_of(key) == "failure"
        ]  # fmt: skip
        failed = any(map(says_failure, causes))
        is_whole = True
        for field, name in missing.items():
            paths = [candidate.path for candidate in self[field]]
            roots = [path.steps[0] if path and path.steps else "" for path in paths]
            if any(path and path.optional for path in paths):
                continue
            if (failed and field in _OUTPUTS) or all(
                root in _OUTPUTS and record.get(str(root)) is None for root in roots
            ):
                is_whole = False
                continue
            found = _places(record, field)
            more = f" A ? at its end ({name}?) lets records lack it." if any(paths) else ""
            raise wrong(
                "chosen_column_missing", field=name, of=field, more=more,
                names=" or ".join(repr(candidate.name) for candidate in self[field]),
                found=", ".join(found), near=did_you_mean(name, found),
            )  # fmt: skip
        return is_whole


def _places(record: Mapping[str, Any], field: str) -> list[str]:
    """The columns of a record, with the paths to the texts in those that hold objects."""
    places: list[str] = []
    for key, value in record.items():
        places += text_paths([opened(value)], key, listed=field in _LISTS) or [key]
    return places[:MOST_PATHS]
