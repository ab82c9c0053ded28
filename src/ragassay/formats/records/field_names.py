"""The names under which each part of a sample is known, and which key of a record holds which
field. Names are compared in lower case, with spaces and hyphens as underscores and words of camel
case apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.base.errors import InputError
from ragassay.base.package_files import word_lists
from ragassay.formats.format_words import Notes, OptionWords, wrong

ALIASES = word_lists("ragassay.formats.records", "aliases.txt")
"""Canonical field -> its other names. Where one must be chosen among several, earlier ones win."""

NAMES = word_lists("ragassay.formats.records", "names.txt")
"""Further lists of names and words."""

KEY_MAP: Mapping[str, str] = {
    "q_ls": "query",
    "gt_ls": "references",
    "pred_ls": "answer",
    "ans_ls": "answer",
    "ret_psg": "passages",
    "id_ls": "id",
}
"""Further names of fields, accepted in ``columns``: UltraRAG's ``key_map``."""

GIVEN = ("given", "given_by", "given_unscored")
"""Fields that are mappings by the names of given values."""

EMBEDDINGS = ("passage_embeddings", "gold_embeddings")
"""Fields whose values become entries of ``given``."""

SUBSTANCE = (
    "query", "history", "passages", "passage_ids", "answer", "references", "reference_groups",
    "gold", "gold_ids", *EMBEDDINGS,
)  # fmt: skip
"""A record with any of these is a sample. So is one with a failure or given values, or with an id
and nothing unknown."""


def folded(name: str) -> str:
    """A name in the form in which names are compared."""
    return _HUMP.sub("_", name.strip()).casefold().replace(" ", "_").replace("-", "_")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a name in camel case (``actualOutput``) goes on with a new word."""

FIELD_OF: Mapping[str, str] = {
    folded(name): field for field, others in ALIASES.items() for name in (field, *others)
}
"""Folded name -> canonical field."""


@lru_cache(maxsize=512)
def pick(keys: tuple[str, ...], wanted: tuple[tuple[str, ...], ...]) -> tuple[str | None, ...]:
    """For each group of names, the key that matches the earliest of them; ``None`` where none
    does."""
    by_name = {folded(key): key for key in reversed(keys)}
    return tuple(next((by_name[n] for n in names if n in by_name), None) for names in wanted)


def keys_by_field(keys: Iterable[str]) -> dict[str, list[str]]:
    """The keys that are known, by their fields."""
    by_field: dict[str, list[str]] = {}
    for key in keys:
        if (field := FIELD_OF.get(folded(key))) is not None:
            by_field.setdefault(field, []).append(key)
    return by_field


_ALIKE = 0.8
"""How like a name must be to another one to be it, mistyped."""

_EXPECTED, _WRONG = frozenset(NAMES["expected"]), frozenset(NAMES["wrong"])
"""Words of columns that hold what is expected, which as output of a system would be scored against
itself, and what is wrong on purpose."""

_SUGGESTED: Mapping[str, frozenset[str]] = {
    field: frozenset(NAMES.get(f"of_{field}", ()))
    for field in ("query", "answer", "references", "passages", "gold")
}
"""Fields for which columns are suggested, and words of names that are too short or too common to be
read as the field."""

_OF_LISTS = re.compile(r"contexts?|ctxs?|passages?|chunks?|docs?|documents?|sources?|ids?|scores?")

_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "query": ("history",),
    "answer": ("history",),
    "references": ("reference_groups",),
    "passages": ("passage_ids",),
    "gold": ("gold_ids",),
}
"""Fields that may hold another one, too."""


def suggestions(columns: Iterable[str], known: Set[str]) -> dict[str, str]:
    """Field -> the one column or path whose name is nearest to those of the field, of columns that
    hold none. Nothing for the fields that are known, and where two are equally near: a person has
    to choose."""
    listed = list(columns)
    wanted = [one for one in _SUGGESTED if known.isdisjoint((one, *_ELSEWHERE[one]))]
    near = sorted(
        ((alike, field, column) for field in wanted for column in listed
         if (alike := _likeness(column, field)) >= _ALIKE), reverse=True,
    )  # fmt: skip
    found: dict[str, str] = {}
    for alike, field, column in near:
        equal = [one for one in near if one[:2] == (alike, field)]
        if len(equal) == 1 and field not in found and column not in found.values():
            found[field] = column
    for field in found.keys() & {"passages", "gold"}:  # every item of a list of objects is one
        found[field] = found[field].replace("[0]", "[*]")
    return {field: found[field] for field in _SUGGESTED if field in found}


def _likeness(column: str, field: str) -> float:
    """How like the last key of a column's path is to a name of a field, 0 to 1."""
    last = re.split(r"[.\[]", re.sub(r"\[(\*|0)\]", "", column))[-1].strip('"]')
    own = folded(last)
    words = set(re.findall(r"[^\W\d_]+", own))
    if words & _WRONG or (words & _EXPECTED and field in ("query", "answer", "passages")):
        return 0.0
    if any(map(_OF_LISTS.fullmatch, words)) != (field == "gold") and field != "passages":
        return 0.0
    if words & _SUGGESTED[field]:
        return 0.9
    names = [name for name, one in FIELD_OF.items() if one == field and "." not in name]
    if any(name in words and len(name) > 3 for name in names):
        return 0.95
    # A much longer name is not like a known one, whatever it holds.
    ratios = (SequenceMatcher(None, own, one).ratio() for one in names if len(own) <= 4 * len(one))
    return max(ratios, default=0.0)


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

_MOST_KEPT = 1000
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


def field_keys(keys: Iterable[str], columns: Mapping[str, str], words: OptionWords) -> FieldKeys:
    """Decides which key holds which field."""
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
        near = [words.columns(*one) for one in suggestions(rest, chosen.keys()).items()]
        example = f"Name them, for example {words.columns('query', '<your column>')}."
        raise wrong(
            "no_column_known",
            names=", ".join(all_keys) or "there are none",
            hint=f"Perhaps: {'; '.join(near)}." if near else example,
        )
    missing = tuple(key for key in columns.values() if key not in all_keys)
    given = tuple(name for name in GIVEN if name in chosen)
    return FieldKeys(chosen, labels, given, rest, missing, contested)


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


class FieldAssignments:
    """Finds the fields of records, and keeps it for the next one with the same keys."""

    def __init__(self, words: OptionWords, notes: Notes) -> None:
        self._words, self._notes = words, notes
        self._mistyped: set[str] = set()
        self.begin_file()

    def begin_file(self) -> None:
        """Forgets what the names of another file mean."""
        self._assignments: dict[tuple[tuple[str, ...], tuple[str, ...]], FieldKeys] = {}
        self._meanings: dict[str, str] = {}

    def of(self, record: Mapping[str, Any], chosen: Keys) -> FieldKeys:
        """The key of the record that holds each field, where the user chose some keys. A name that
        means one field here and another one in an earlier record of the file is an error."""
        keys = (tuple(record), tuple(chosen.values()))
        found = self._assignments.get(keys)
        if found is None:
            if len(self._assignments) >= _MOST_KEPT:
                self._assignments.clear()
            found = field_keys(keys[0], chosen, self._words)
            self._check_meaning(found)
            self._assignments[keys] = found
            looked_at = found.rest if len(self._assignments) <= _MOST_LOOKED_AT else ()
            for field, key in suggestions(looked_at, found.keys.keys()).items():
                fits = field not in ("query", "answer") or isinstance(record[key], str)
                if fits and key not in self._mistyped:
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
