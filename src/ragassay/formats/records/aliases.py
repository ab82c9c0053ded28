"""The names under which each part of a sample is known.

A name is compared in lower case, with spaces and hyphens as underscores and words of camel case
apart, so that ``Answerability``, ``User Input`` and ``actualOutput`` need no entry of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache

from ragassay.base.package_files import word_lists

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


ALIKE = 0.8
"""The `likeness` from which a name may be another one, mistyped."""


def names_of(field: str) -> list[str]:
    """The names of a field, folded, without those that are paths."""
    return [name for name, one in FIELD_OF.items() if one == field and "." not in name]


def likeness(name: str, names: Iterable[str]) -> float:
    """How like a folded name is to the nearest of others, 0 to 1. A much longer one is not like a
    known one, whatever it holds."""
    ratios = (
        SequenceMatcher(None, name, one).ratio() for one in names if len(name) <= 4 * len(one)
    )
    return max(ratios, default=0.0)
