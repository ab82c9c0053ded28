"""Which key of a record holds which field: decided once for each set of keys in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records import aliases
from ragassay.formats.records.aliases import FieldKeys, Keys, folded
from ragassay.formats.records.notes import Notes
from ragassay.formats.records.option_words import OptionWords

_MAX_PLANS = 1000
_MOST_LOOKED_AT = 100
"""Sets of keys in which mistyped names are looked for."""


class ColumnPlans:
    """Finds the fields of records, and keeps what it found for the next record with the same keys.

    Args:
        words: how errors name options.
        notes: collects the names that may be mistyped.
    """

    def __init__(self, words: OptionWords, notes: Notes) -> None:
        self._words, self._notes = words, notes
        self._mistyped: set[tuple[str, str]] = set()
        self.begin_file()

    def begin_file(self) -> None:
        """Forgets what the names of another file mean."""
        self._plans: dict[tuple[tuple[str, ...], tuple[str, ...]], FieldKeys] = {}
        self._meanings: dict[str, str] = {}

    def of(self, record: Mapping[str, Any], chosen: Keys) -> FieldKeys:
        """The key of the record that holds each field.

        Args:
            record: plain values.
            chosen: the keys that the user chose.

        Raises:
            InputError: see `aliases.plan`; or a name means one field here and another one in an
                earlier record of the file.
        """
        keys = (tuple(record), tuple(chosen.values()))
        plan = self._plans.get(keys)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            plan = aliases.plan(keys[0], chosen, self._words)
            self._check_meaning(plan)
            self._plans[keys] = plan
            if len(self._plans) <= _MOST_LOOKED_AT:
                self._tell_mistyped(plan, record)
        return plan

    def _check_meaning(self, plan: FieldKeys) -> None:
        """Refuses a record in which a name of `PAIRS` means another field than in an earlier one: a
        system's answer would be read as the reference, or the reference as its answer."""
        field_of = {folded(key): field for field, key in plan.keys.items()}
        for word, fields in aliases.PAIRS.items():
            meaning = field_of.get(word)
            if meaning not in fields or self._meanings.setdefault(word, meaning) == meaning:
                continue
            field, other = fields
            raise InputError(
                f"{word!r} holds {meaning} here and {self._meanings[word]} in an earlier record: "
                f"it is {other} beside another column of {field}, and {field} where it stands "
                "alone",
                field=plan.keys[meaning],
                hint=f"Say which it is: {self._words.columns(other, word)}, or "
                f"{self._words.columns(field, word)}.",
            )

    def _tell_mistyped(self, plan: FieldKeys, record: Mapping[str, Any]) -> None:
        """Notes columns that hold no field and resemble the name of one that the record lacks."""
        for key, field in aliases.mistyped(plan.keys, plan.rest):
            fits = field not in ("query", "answer") or isinstance(record[key], str)
            if fits and (key, field) not in self._mistyped:
                self._mistyped.add((key, field))
                self._notes.add(
                    f"columns that hold no field and are called nearly like one ({key!r})",
                    f"If it holds {field}, say so: {self._words.columns(field, key)}.",
                )
