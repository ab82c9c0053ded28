"""The names under which each part of a sample is known, and which of them a record uses.

A name is compared in lower case, with spaces and hyphens as underscores and words of camel case
apart, so that ``Answerability``, ``User Input`` and ``actualOutput`` need no entry of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from ragassay.base.errors import InputError
from ragassay.base.package_files import word_lists
from ragassay.formats.records.option_words import OptionWords

ALIASES = word_lists("ragassay.formats.records", "aliases.txt")
"""Canonical field -> its other names. Where one must be chosen among several, earlier ones win."""

KEY_MAP: Mapping[str, str] = {
    "q_ls": "query",
    "gt_ls": "references",
    "pred_ls": "answer",
    "ans_ls": "answer",
    "ret_psg": "passages",
    "id_ls": "id",
}
"""UltraRAG's ``key_map`` names, accepted in ``columns``."""

GIVEN = ("given", "given_by", "given_unscored")
"""Fields that are mappings by the names of given values; see `mtrag_records`."""

_FIRST_WINS = frozenset(
    {"id", "query", "system", "history", "timestamp", "language", "failure", "metadata", *GIVEN}
)
"""Fields where a second name does no harm: it stays in the metadata. For the others, choosing
wrongly would give wrong numbers, so the user has to choose."""

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


Keys = Mapping[str, str]
"""Canonical field -> the key of a record that holds it."""


class FieldKeys(NamedTuple):
    """Which keys of a record hold what.

    Attributes:
        keys: the key of each field that the record has, but for the label of answerability.
        labels: every key that holds that label, since files have both spellings.
        given: which of `GIVEN` are among the fields.
        rest: the keys left over.
        missing: the keys that the user named and the record lacks.
        golden_name: the key of the name of a golden of deepeval, which has no id; ``""`` where the
            record is none.
        contested: those of the keys for whose field the record has further names: they hold it
            where these are null.
    """

    keys: Keys
    labels: tuple[str, ...]
    given: tuple[str, ...]
    rest: tuple[str, ...]
    missing: tuple[str, ...]
    golden_name: str = ""
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
    chosen_keys = set(chosen.values())
    by_field = _by_field(key for key in all_keys if key not in chosen_keys)
    by_field = {field: names for field, names in by_field.items() if field not in columns}
    for word, (field, other) in PAIRS.items():
        _settle_pair(by_field, field, word, other, columns, words)
    labels = tuple(by_field.pop("answerability", ()))
    if "answerability" in chosen:
        labels = (chosen.pop("answerability"),)
    for field, candidates in by_field.items():
        chosen[field] = _choose(field, candidates, words)
    contested = tuple(chosen[field] for field, names in by_field.items() if len(names) > 1)
    used = {*chosen.values(), *labels}
    rest = tuple(key for key in all_keys if key not in used)
    says_something = any(field in chosen for field in (*SUBSTANCE, "failure", "given"))
    if not says_something and (rest or "id" not in chosen):
        raise InputError(
            f"no column is known as a query, an answer, passages, references or gold: "
            f"{', '.join(all_keys) or 'there are none'}",
            hint=f"Perhaps: {'; '.join(words.columns(field, key) for key, field in near)}."
            if (near := list(mistyped(chosen, rest)))
            else f"Name them, for example {words.columns('query', '<your column>')}.",
        )
    missing = tuple(key for key in columns.values() if key not in all_keys)
    given = tuple(name for name in GIVEN if name in chosen)
    golden_name = _golden_name(chosen, rest)
    return FieldKeys(chosen, labels, given, rest, missing, golden_name, contested)


def _golden_name(chosen: Keys, rest: Iterable[str]) -> str:
    """The key of the name of a golden of deepeval; ``""`` where the record is none."""
    asked, expected = (folded(chosen.get(one, "")) for one in ("query", "references"))
    if "id" in chosen or asked != "input" or expected != "expected_output":
        return ""
    return next((key for key in rest if folded(key) == "name"), "")


@lru_cache(maxsize=512)
def pick(keys: tuple[str, ...], wanted: tuple[tuple[str, ...], ...]) -> tuple[str | None, ...]:
    """For each group of names, the key that matches the earliest of them.

    Args:
        keys: the keys of an object.
        wanted: groups of names; earlier names of a group win.

    Returns:
        One key a group; ``None`` where no key matches.
    """
    by_name = {folded(key): key for key in reversed(keys)}
    return tuple(next((by_name[n] for n in names if n in by_name), None) for names in wanted)


def clear_keys(keys: Iterable[str]) -> dict[str, str]:
    """The fields of which a record has one key only, each with that key: what is clear where the
    rest is not.

    Args:
        keys: the record's keys.
    """
    return {field: names[0] for field, names in _by_field(keys).items() if len(names) == 1}


def _by_field(keys: Iterable[str]) -> dict[str, list[str]]:
    """The keys that are known, by their fields."""
    by_field: dict[str, list[str]] = {}
    for key in keys:
        if (field := FIELD_OF.get(folded(key))) is not None:
            by_field.setdefault(field, []).append(key)
    return by_field


ALIKE = 0.8
"""The `likeness` from which a name may be another one, mistyped."""


def names_of(field: str) -> list[str]:
    """The names of a field, folded, without those that are paths.

    Args:
        field: canonical.
    """
    return [name for name, one in FIELD_OF.items() if one == field and "." not in name]


def likeness(name: str, field: str) -> float:
    """How like a name is to the nearest name of a field, 0 to 1.

    Args:
        name: folded.
        field: canonical.
    """
    return max((_ratio(name, one) for one in names_of(field)), default=0.0)


def _ratio(name: str, known: str) -> float:
    """How like two names are; a much longer one is not like a known one, whatever it holds."""
    return 0.0 if len(name) > 4 * len(known) else SequenceMatcher(None, name, known).ratio()


def mistyped(keys: Keys, rest: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The keys that hold no field and resemble the name of a field that the record lacks, each with
    that field. Only names of as many words are compared.

    Args:
        keys: the key of each field that the record has.
        rest: the keys left over.
    """
    unread = list(rest)
    for field in ("query", "answer", "references", "passages", "gold"):
        if not keys.keys().isdisjoint((field, *_ELSEWHERE.get(field, ()))):
            continue
        names = names_of(field)
        for key in unread:
            own = folded(key)
            same = [name for name in names if name.count("_") == own.count("_")]
            if any(_ratio(own, name) >= ALIKE for name in same):
                yield key, field


_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "query": ("history",),
    "answer": ("history",),
    "references": ("reference_groups",),
    "passages": ("passage_ids",),
    "gold": ("gold_ids",),
}
"""Fields that may hold another one, too."""


PAIRS: Mapping[str, tuple[str, str]] = {
    "answer": ("answer", "references"),
    "context": ("passages", "gold"),
}
"""Names that mean the first field where they stand alone, and the second one where the record has
another name of the first."""


def _settle_pair(
    by_field: dict[str, list[str]],
    field: str,
    word: str,
    other: str,
    columns: Mapping[str, str],
    words: OptionWords,
) -> None:
    """Applies two published habits.

    Beside a ``prediction`` (or any other name of the answer), ``answer`` is the gold answer
    (datapizza); beside ``retrieval_context``, ``context`` is the gold context (deepeval). Where the
    gold has a column of its own, the keys are ambiguous.
    """
    candidates = by_field.get(field, [])
    beside = [key for key in candidates if folded(key) == word]
    rest = [key for key in candidates if key not in beside]
    if not beside or not rest:
        return
    if other in by_field or other in columns:
        raise _ambiguous(field, [rest[0], *beside], words)
    by_field[field], by_field[other] = rest, beside


def _choose(field: str, candidates: list[str], words: OptionWords) -> str:
    order = {name: rank for rank, name in enumerate((field, *ALIASES[field]))}
    best = sorted(candidates, key=lambda key: order.get(folded(key), 0))
    if len(best) > 1 and folded(best[0]) == folded(best[1]):
        raise _ambiguous(field, best[:2], words)
    if len(best) == 1 or folded(best[0]) == field or field in _FIRST_WINS:
        return best[0]
    raise _ambiguous(field, best, words)


def _ambiguous(field: str, keys: list[str], words: OptionWords) -> InputError:
    return InputError(
        f"{' and '.join(repr(key) for key in keys)} could each be {field}",
        field=keys[-1],
        hint=f"Say which one is: {words.columns(field, keys[0])}.",
    )
