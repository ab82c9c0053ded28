"""The names of each part of a sample, and which key of a record holds which field: compared in
lower case, with spaces and hyphens as underscores and words of camel case apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.base.errors import InputError
from ragassay.base.packages import word_lists
from ragassay.formats.format_words import OptionWords, wrong

ALIASES = word_lists("ragassay.formats.records", "aliases.txt")
"""Canonical field -> its other names. Where one must be chosen among several, earlier ones win."""

NAMES = word_lists("ragassay.formats.records", "names.txt")
"""Further lists of names and words."""

KEY_MAP = {name: field for field in ALIASES for name in NAMES.get(f"key_map.{field}", ())}
"""Further names of fields, accepted in ``columns``: UltraRAG's ``key_map``."""

GIVEN = ("given", "given_by", "given_unscored")
"""Fields that are mappings by the names of given values."""

EMBEDDINGS = ("passage_embeddings", "gold_embeddings")
"""Fields whose values become entries of ``given``."""

SUBSTANCE = (
    "query", "history", "passages", "passage_ids", "answer", "references", "reference_groups",
    "gold", "gold_ids", *EMBEDDINGS,
)  # fmt: skip
"""Fields that hold what a sample is about."""


def folded(name: str) -> str:
    """A name in the form in which names are compared."""
    # Very long ones, which a stranger may send, are not kept.
    return _folded(name) if len(name) < 100 else _folded.__wrapped__(name)


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return _HUMP.sub("_", name.strip()).casefold().replace(" ", "_").replace("-", "_")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a name in camel case (``actualOutput``) goes on with a new word."""

FIELD_OF = {folded(name): field for field, others in ALIASES.items() for name in (field, *others)}
"""Folded name -> canonical field."""


def field_of(name: str) -> str:
    """The field with a name of its own or another one; the name itself where there is none."""
    return FIELD_OF.get(folded(name), name)


@lru_cache(maxsize=512)
def pick(keys: tuple[str, ...], wanted: tuple[tuple[str, ...], ...]) -> tuple[str | None, ...]:
    """For each group of names, the key that matches the earliest of them; else ``None``."""
    by_name = {folded(key): key for key in reversed(keys)}
    return tuple(next((by_name[n] for n in names if n in by_name), None) for names in wanted)


_FIRST_WINS = frozenset(
    {"id", "query", "system", "history", "timestamp", "language", "failure", "metadata", *GIVEN}
)
"""Fields where a second name does no harm: it stays in the metadata. For the others, choosing
wrongly would give wrong numbers, so the user has to choose."""

PAIRS = {"answer": ("answer", "references"), "context": ("passages", "gold")}
"""Names that mean the first field where they stand alone, and the second one where the record has
another name of the first. Two published habits: beside a ``prediction``, ``answer`` is the gold
answer; beside ``retrieval_context``, ``context`` is the gold context."""

_ALONE = {"result": ("answer", str), "source_documents": ("passages", list)}
"""Names that hold a field, by a value of that type, where no other name does (LangChain's)."""

Values = dict[str, tuple[str, Any]]
"""Field -> the key (or path) of a record that holds it, and its value."""


class Fields(NamedTuple):
    """The values of fields that a record holds, and what holds no field."""

    values: Values
    rest: dict[str, Any]


def known_fields(
    record: Mapping[str, Any], words: OptionWords, chosen: Collection[str] = ()
) -> Fields:
    """The fields of a record by their known names; keys of fields that the user chose columns for
    hold none. Where a field has several names, those that are null give way."""
    by_field: dict[str, list[str]] = {}
    rest: dict[str, Any] = {}
    for key, value in record.items():
        if (field := FIELD_OF.get(folded(key))) is None or field in chosen:
            rest[key] = value
        else:
            by_field.setdefault(field, []).append(key)
    for word, (field, other) in PAIRS.items():
        names = by_field.get(field, ())
        beside = [key for key in names if folded(key) == word]
        if beside and (others := [key for key in names if key not in beside]):
            if other in by_field or other in chosen:
                raise _ambiguous(field, [others[0], *beside], words)
            by_field[field], by_field[other] = others, beside
    for key in [key for key in rest if folded(key) in _ALONE]:
        field, kind = _ALONE[folded(key)]
        held = {*by_field, *chosen}
        if "query" in held and field not in held and isinstance(record[key], kind):
            by_field[field] = [key]
            del rest[key]
    values: Values = {}
    if labels := by_field.pop("answerability", ()):  # files have several spellings
        own = [key for key in labels if folded(key) not in NAMES["unanswerable"]] or labels
        rest |= {key: record[key] for key in labels if key not in own}
        found = [record[key] for key in own]
        values["answerability"] = own[0], found if len(found) > 1 else found[0]
    for field, names in by_field.items():
        if names[1:]:
            names = [key for key in names if record[key] is not None] or names[:1]
        best = _choose(field, names, words) if names[1:] else names[0]
        values[field] = best, record[best]
        rest |= {key: record[key] for key in names if key != best}
    return Fields(values, rest)


def _choose(field: str, names: list[str], words: OptionWords) -> str:
    order = {name: rank for rank, name in enumerate((field, *ALIASES[field]))}
    best = sorted(names, key=lambda key: order.get(folded(key), 0))
    if folded(best[0]) == folded(best[1]):
        raise _ambiguous(field, best[:2], words)
    if folded(best[0]) == field or field in _FIRST_WINS:
        return best[0]
    raise _ambiguous(field, best, words)


def _ambiguous(field: str, keys: list[str], words: OptionWords) -> InputError:
    names, choice = " and ".join(map(repr, keys)), words.columns(field, keys[0])
    return wrong("ambiguous", field=keys[-1], names=names, of=field, choice=choice)


def nothing_known(fields: Fields, paths: Iterable[str], words: OptionWords) -> InputError:
    """The error for a record without a known field; the paths lead to what may hold one."""
    values, rest = fields.values, fields.rest
    near = [words.columns(*pair) for pair in suggestions(paths, values).items()]
    example = f"Name them, for example {words.columns('query', '<your column>')}."
    names = [*(key for key, _ in values.values()), *rest]
    hint = f"Perhaps: {' '.join(near)}" if near else example
    return wrong("no_column_known", names=", ".join(names) or "(none)", hint=hint)


SAYS_SOMETHING = frozenset({*SUBSTANCE, "failure", "given"})
"""A record with any of these is a sample; so is one with an id and nothing unknown."""

_SUGGESTED = {
    "query": "history", "answer": "history", "references": "reference_groups",
    "passages": "passage_ids",
}  # fmt: skip
"""Fields for which columns are suggested, with another one that may hold them."""

_EXPECTED, _WRONG = frozenset(NAMES["expected"]), frozenset((*NAMES["wrong"], *NAMES["about"]))
"""Words of columns that hold what is expected, which as output of a system would be scored against
itself; and what is wrong on purpose or says something about an answer."""


def suggestions(columns: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Field that is not known -> the one column or path whose name is nearest to those of the
    field; nothing where two are equally near: a person has to choose."""
    listed = list(columns)
    found: dict[str, str] = {}
    for field, other in _SUGGESTED.items():
        near = {text: _likeness(text, field) for text in listed if text not in found.values()}
        most = max(near.values(), default=0.0)
        best = [column for column, alike in near.items() if alike == most]
        if most >= 0.8 and len(best) == 1 and {field, other}.isdisjoint(known):
            found[field] = best[0].replace("[0]", "[*]") if field == "passages" else best[0]
    return found


def _likeness(column: str, field: str) -> float:
    """How like the last key of a column's path is to a name of a field, 0 to 1."""
    last = re.split(r"[.\[]", re.sub(r"\[(\*|0)\]", "", column))[-1].strip('"]')
    own = folded(last)
    words = set(re.findall(r"[^\W\d_]+", own))
    is_setting = own.startswith("__")  # of a tool, such as promptfoo's __expected
    path = set(re.findall(r"[^\W\d_]+", folded(column)))
    is_expected = bool(path & _EXPECTED) and field in ("query", "answer", "passages")
    if words & _WRONG or is_setting or is_expected:
        return 0.0
    if words.intersection(NAMES.get(f"of_{field}", ())):
        return 0.9
    names = [name for name, text in FIELD_OF.items() if text == field and "." not in name]
    if any(name in words and len(name) > 3 for name in names):
        return 0.95
    # A much longer name is not like a known one, whatever it holds.
    ratios = (
        SequenceMatcher(None, own, name).ratio() for name in names if len(own) <= 4 * len(name)
    )
    return max(ratios, default=0.0)
