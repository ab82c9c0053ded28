"""Which key of a record holds which field: decided once for each set of keys in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ragassay.base.errors import InputError
from ragassay.formats.format_words import Notes, OptionWords, wrong
from ragassay.formats.records.aliases import (
    ALIASES,
    ALIKE,
    GIVEN,
    SUBSTANCE,
    folded,
    keys_by_field,
    likeness,
    names_of,
)

_FIRST_WINS = frozenset(
    {"id", "query", "system", "history", "timestamp", "language", "failure", "metadata", *GIVEN}
)
"""Fields where a second name does no harm: it stays in the metadata. For the others, choosing
wrongly would give wrong numbers, so the user has to choose."""

PAIRS: Mapping[str, tuple[str, str]] = {
    "answer": ("answer", "references"),
    "context": ("passages", "gold"),
}
"""Names that mean the first field where they stand alone, and the second one where the record has
another name of the first. Two published habits: beside a ``prediction``, ``answer`` is the gold
answer; beside ``retrieval_context``, ``context`` is the gold context."""

_MAX_PLANS = 1000
_MOST_LOOKED_AT = 100
"""Sets of keys in which mistyped names are looked for."""

Keys = Mapping[str, str]
"""Canonical field -> the key of a record that holds it."""


class FieldKeys(NamedTuple):
    """Which keys of a record hold what.

    Attributes: keys: the key of each field that the record has, but for the label of
    answerability. labels: every key that holds that label, since files have both spellings.
    given: which of `GIVEN` are among the fields. rest: the keys left over. missing: the keys
    that the user named and the record lacks. contested: those of the keys for whose field
    the record has further names: they hold it where these are null.
    """

    keys: Keys
    labels: tuple[str, ...]
    given: tuple[str, ...]
    rest: tuple[str, ...]
    missing: tuple[str, ...]
    contested: tuple[str, ...] = ()


def plan(keys: Iterable[str], columns: Mapping[str, str], words: OptionWords) -> FieldKeys:
    """Decides which key holds which field.

    Args:
        keys: the record's keys.
        columns: the user's choice, canonical field -> key; keys that are absent are skipped.
        words: for how the user chooses.

    Raises:
        InputError: two keys could be the same field and the choice would change the numbers, or no
            key is known.
    """
    all_keys = list(keys)
    chosen = {field: key for field, key in columns.items() if key in all_keys}
    by_field = keys_by_field(key for key in all_keys if key not in {*chosen.values()})
    by_field = {field: names for field, names in by_field.items() if field not in columns}
    for word, (field, other) in PAIRS.items():
        beside = [key for key in by_field.get(field, ()) if folded(key) == word]
        rest_of_field = [key for key in by_field.get(field, ()) if key not in beside]
        if beside and rest_of_field:
            if other in by_field or other in columns:
                raise _ambiguous(field, [rest_of_field[0], *beside], words)
            by_field[field], by_field[other] = rest_of_field, beside
    labels = tuple(by_field.pop("answerability", ()))
    if "answerability" in chosen:
        labels = (chosen.pop("answerability"),)
    chosen |= {field: _choose(field, names, words) for field, names in by_field.items()}
    contested = tuple(chosen[field] for field, names in by_field.items() if len(names) > 1)
    used = {*chosen.values(), *labels}
    rest = tuple(key for key in all_keys if key not in used)
    says_something = any(field in chosen for field in (*SUBSTANCE, "failure", "given"))
    if not says_something and (rest or "id" not in chosen):
        near = [words.columns(field, key) for key, field in mistyped(chosen, rest)]
        example = f"Name them, for example {words.columns('query', '<your column>')}."
        raise wrong(
            "no_column_known",
            names=", ".join(all_keys) or "there are none",
            hint=f"Perhaps: {'; '.join(near)}." if near else example,
        )
    missing = tuple(key for key in columns.values() if key not in all_keys)
    given = tuple(name for name in GIVEN if name in chosen)
    return FieldKeys(chosen, labels, given, rest, missing, contested)


_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "query": ("history",),
    "answer": ("history",),
    "references": ("reference_groups",),
    "passages": ("passage_ids",),
    "gold": ("gold_ids",),
}
"""Fields that may hold another one, too."""


def mistyped(keys: Keys, rest: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The keys left over that resemble the name of a field that the record lacks, each with that
    field. Only names of as many words are compared."""
    unread = list(rest)
    for field, others in _ELSEWHERE.items():
        if keys.keys().isdisjoint((field, *others)):
            for key in unread:
                n = folded(key).count("_")
                names = [name for name in names_of(field) if name.count("_") == n]
                if likeness(folded(key), names) >= ALIKE:
                    yield key, field


def _choose(field: str, candidates: list[str], words: OptionWords) -> str:
    order = {name: rank for rank, name in enumerate((field, *ALIASES[field]))}
    best = sorted(candidates, key=lambda key: order.get(folded(key), 0))
    if len(best) > 1 and folded(best[0]) == folded(best[1]):
        raise _ambiguous(field, best[:2], words)
    if len(best) == 1 or folded(best[0]) == field or field in _FIRST_WINS:
        return best[0]
    raise _ambiguous(field, best, words)


def _ambiguous(field: str, keys: list[str], words: OptionWords) -> InputError:
    names, choice = " and ".join(map(repr, keys)), words.columns(field, keys[0])
    return wrong("ambiguous", field=keys[-1], names=names, of=field, choice=choice)


class ColumnPlans:
    """Finds the fields of records, and keeps what it found for the next record with the same keys.

    Args:
        words: how errors name options.
        notes: collects the names that may be mistyped.
    """

    def __init__(self, words: OptionWords, notes: Notes) -> None:
        self._words, self._notes = words, notes
        self._mistyped: set[str] = set()
        self.begin_file()

    def begin_file(self) -> None:
        """Forgets what the names of another file mean."""
        self._plans: dict[tuple[tuple[str, ...], tuple[str, ...]], FieldKeys] = {}
        self._meanings: dict[str, str] = {}

    def of(self, record: Mapping[str, Any], chosen: Keys) -> FieldKeys:
        """The key of the record that holds each field, where the user chose some keys. A name that
        means one field here and another one in an earlier record of the file is an error."""
        keys = (tuple(record), tuple(chosen.values()))
        found = self._plans.get(keys)
        if found is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            found = plan(keys[0], chosen, self._words)
            self._check_meaning(found)
            self._plans[keys] = found
            for key, field in mistyped(found.keys, found.rest):
                fits = field not in ("query", "answer") or isinstance(record[key], str)
                if fits and key not in self._mistyped and len(self._plans) <= _MOST_LOOKED_AT:
                    self._mistyped.add(key)
                    choice = self._words.columns(field, key)
                    self._notes.tell("mistyped", key=key, field=field, choice=choice)
        return found

    def _check_meaning(self, found: FieldKeys) -> None:
        """Refuses a record in which a name of `PAIRS` means another field than in an earlier one: a
        system's answer would be read as the reference, or the reference as its answer."""
        for field, key in found.keys.items():
            fields = PAIRS.get(word := folded(key))
            if fields is None or field not in fields:
                continue
            if self._meanings.setdefault(word, field) != field:
                of, other = fields
                ways = [self._words.columns(one, word) for one in (other, of)]
                raise wrong(
                    "two_meanings", field=key, word=word, meaning=field,
                    earlier=self._meanings[word], of=of, other=other, ways=", or ".join(ways),
                )  # fmt: skip
