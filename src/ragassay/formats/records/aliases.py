"""The names under which each part of a sample is known, and which of them a record uses.

A name is compared in lower case, with spaces and hyphens as underscores, so that ``Answerability``
and ``User Input`` need no entry of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ragassay.discovery import word_lists
from ragassay.errors import InputError, UsageError, did_you_mean
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
    {
        *("id", "query", "system", "history", "timestamp", "failure", "metadata"),
        *GIVEN,
    }
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
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


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
    """

    keys: Keys
    labels: tuple[str, ...]
    given: tuple[str, ...]
    rest: tuple[str, ...]
    missing: tuple[str, ...]


def canonical(columns: Mapping[str, str] | None) -> dict[str, str]:
    """A ``columns`` mapping with canonical fields as its keys.

    Raises:
        UsageError: a key that is no field, or two keys for one field.
    """
    chosen: dict[str, str] = {}
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
        if not isinstance(column, str):
            raise UsageError(f"columns: {name} must be the name of a column, not {column!r}.")
        chosen[field] = column
    return chosen


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
    taken = set(chosen.values())
    by_field: dict[str, list[str]] = {}
    for key in all_keys:
        field = FIELD_OF.get(folded(key))
        if field is not None and key not in taken and field not in columns:
            by_field.setdefault(field, []).append(key)
    _settle_pair(by_field, "answer", "answer", "references", columns, words)
    _settle_pair(by_field, "passages", "context", "gold", columns, words)
    labels = tuple(by_field.pop("answerability", ()))
    if "answerability" in chosen:
        labels = (chosen.pop("answerability"),)
    for field, candidates in by_field.items():
        chosen[field] = _choose(field, candidates, words)
    used = {*chosen.values(), *labels}
    rest = tuple(key for key in all_keys if key not in used)
    says_something = any(field in chosen for field in (*SUBSTANCE, "failure", "given"))
    if not says_something and (rest or "id" not in chosen):
        raise InputError(
            f"no column is known as a query, an answer, passages, references or gold: "
            f"{', '.join(all_keys) or 'there are none'}",
            hint=f"Name them, for example {words.columns('query', '<your column>')}.",
        )
    missing = tuple(key for key in columns.values() if key not in all_keys)
    given = tuple(name for name in GIVEN if name in chosen)
    return FieldKeys(chosen, labels, given, rest, missing)


def missing_column(columns: Mapping[str, str], keys: Iterable[str]) -> InputError | None:
    """The error for a column that the user named and the data lacks; ``None`` where all are there.

    Args:
        columns: the user's choice, canonical field -> key.
        keys: the keys of the data.
    """
    have = list(keys)
    for field, column in columns.items():
        if column not in have:
            return InputError(
                f"there is no column {column!r} (wanted as {field})",
                field=column,
                hint=f"{did_you_mean(column, have)} Found: {', '.join(have)}.".strip(),
            )
    return None


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
