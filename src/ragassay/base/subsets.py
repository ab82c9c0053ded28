"""Subsets of samples and of items: those for which conditions on their fields hold.

``source=user log`` holds where the field has this value, ``source!=user log`` where it has not.
Several values are joined with commas, and any of them counts (``type=summary,comparison``; quotes
surround one that holds a comma), as does each value of a list (``tags``). ``source=`` holds where
there is none.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ragassay.base.errors import ArgumentError, UsageError, did_you_mean
from ragassay.base.printable import few

T = TypeVar("T")

_CONDITION = re.compile(r"\s*(?P<field>[^=!]*[^=!\s])\s*(?P<sign>!?=)(?P<values>.*)", re.DOTALL)


@dataclass(frozen=True)
class _Condition:
    field: str
    values: frozenset[str]
    excludes: bool

    @classmethod
    def parse(cls, text: str) -> _Condition:
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise ArgumentError(
                f"{text!r} is not a condition. Write FIELD=VALUE or FIELD!=VALUE, as in "
                "'source=user log' or 'type=summary,comparison'."
            )
        cells = next(csv.reader([match["values"]], skipinitialspace=True), None) or [""]
        values = frozenset(cell.strip() for cell in cells)
        return cls(match["field"], values, match["sign"] == "!=")

    def holds(self, texts: Sequence[str]) -> bool:
        return (not self.values.isdisjoint(texts or ("",))) is not self.excludes


class Subset:
    """The records for which all of some conditions hold; ``field_of`` gives the name of the field
    that is meant by another name."""

    def __init__(self, conditions: Iterable[str], field_of: Callable[[str], str] = str) -> None:
        self._field_of = field_of
        self._texts = list(conditions)
        self._conditions = [_Condition.parse(text) for text in self._texts]

    def __bool__(self) -> bool:
        return bool(self._conditions)

    def __str__(self) -> str:
        return " and ".join(self._texts)

    def of(
        self, records: Iterable[T], fields: Callable[[T], Mapping[str, Any]], noun: str = "sample"
    ) -> Iterator[T]:
        """The records that belong to the subset, streamed in their order; ``fields`` gives the
        values of a record by name. Where a field of the conditions is in none of the first records,
        they are kept until one has it. A field that none has, and a subset of none, are errors."""
        unknown = dict.fromkeys(condition.field for condition in self._conditions)
        known: dict[str, None] = {}
        found: dict[str, dict[str, None]] = {name: {} for name in unknown}
        kept: list[T] = []
        n = n_chosen = 0
        for n, record in enumerate(records, start=1):  # noqa: B007
            values = fields(record)
            known |= dict.fromkeys(values)
            called = {name: name if name in values else self._field_of(name) for name in found}
            texts = {name: _texts(values.get(called[name])) for name in found}
            for name in texts:
                found[name] |= dict.fromkeys(texts[name])
                if called[name] in values:
                    unknown.pop(name, None)
            if all(condition.holds(texts[condition.field]) for condition in self._conditions):
                kept.append(record)
                n_chosen += 1
            if not unknown:
                yield from kept
                kept.clear()
        for name in unknown if n else ():
            hint = f"{did_you_mean(name, known)} There are: {', '.join(known)}.".strip()
            raise UsageError(f"No {noun} has a field {name!r}. {hint}")
        if n and not n_chosen:
            there_are = "; ".join(f"{name}: {few([*row]) or 'none'}" for name, row in found.items())
            raise UsageError(f"No {noun} where {self}. There are {there_are}.")


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of a value, or of each value of a list; an object has none."""
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(text for item in value for text in _texts(item))
    if value is None or isinstance(value, Mapping):
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return tuple(filter(None, (str(value).strip(),)))
