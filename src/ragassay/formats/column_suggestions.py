"""Which columns and paths may hold fields, by the nearest name and by what they hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.formats.records.aliases import ALIKE, folded, likeness, names_of
from ragassay.formats.records.chosen_columns import LIST_FIELDS
from ragassay.formats.records.texts_within import is_list_of_texts, text_paths

_LONG = 60
"""Characters from which a text is rather a passage or an answer than a word."""

_WORDS = 3
"""Words from which a text in a list of objects is rather a passage than a label."""

_MESSAGE_LISTS = r"(?:messages?|history|turns|choices|candidates|generations)"
_OF_MESSAGES = re.compile(_MESSAGE_LISTS + r"\[\*\][^\[]*$")
"""Paths to the items of a list of messages."""

_OF_FIRST_REPLY = re.compile(_MESSAGE_LISTS + r"\[0\]")
"""Paths into the first of several replies or messages."""

_TEXTS = ("query", "answer", "references")
_LISTS = ("passages", "gold")
_NUMBERED = re.compile(r"(?P<before>[^*+|\[]*?\D)\d+(?P<after>\D[^*+|\[]*)?")


def of_every(path: str) -> str:
    """A path that takes every item of the lists of whose first item it took something."""
    return path.replace("[0]", "[*]")


def suggest(
    rows: Sequence[Mapping[str, Any]], placed: Mapping[str, str], unplaced: Sequence[str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Which columns or paths may hold fields: by the nearest name, else by what they hold.

    Args:
        rows: some records.
        placed: the fields that have a column.
        unplaced: the columns that hold no field.

    Returns:
        Field -> the column, and field -> the columns, where several may equally well hold it.
    """
    wanted = [one for one in (*_TEXTS, *_LISTS) if one not in placed]
    suggested: dict[str, str] = {}
    if "id" not in placed and (own := _id_among(rows, unplaced)) is not None:
        suggested["id"] = own
    if "passage_ids" in placed and "passages" in wanted:
        wanted.remove("passages")
    leaves: dict[str, list[Any]] = {}
    for pattern, keys in _numbered(unplaced).items():
        texts_of = [[row[key] for key in keys if row.get(key) not in (None, "")] for row in rows]
        if all(is_list_of_texts(texts) for texts in texts_of if texts):
            leaves[pattern] = [texts for texts in texts_of if texts]
            unplaced = [key for key in unplaced if key not in keys]
    for key in unplaced:
        if key not in suggested.values():
            values = [row.get(key) for row in rows]
            leaves |= text_paths(values, key) | text_paths(values, key, listed=True)
    leaves = {path: values for path, values in leaves.items() if path not in placed.values()}
    ranked = sorted(
        ((_likeness(path, one), one, path) for path in leaves for one in wanted), reverse=True
    )
    ranked = [(a, one, path) for a, one, path in ranked if a >= ALIKE and _fits(one, leaves[path])]
    tied: dict[str, tuple[str, ...]] = {}
    free = dict.fromkeys(leaves)
    for alike, one, path in ranked:
        if path in free and one not in suggested and one not in tied:
            _give(one, [p for a, o, p in ranked if (a, o) == (alike, one)], free, suggested, tied)
    for one in wanted:
        has_query = "query" in placed or "query" in suggested
        if one in suggested or one in tied or (one == "answer" and not has_query):
            continue
        weights = {path: _weight(one, path, leaves[path]) for path in free}
        best = max(weights.values(), default=0.0)
        if best > 0:
            _give(one, [path for path in free if weights[path] == best], free, suggested, tied)
    if not {"query", "answer"} & {*placed, *suggested}:  # a list may hold the records themselves
        suggested = {one: path for one, path in suggested.items() if "[" not in path}
        tied = {}
    return suggested, tied


def _give(
    wanted: str,
    paths: Sequence[str],
    free: dict[str, None],
    suggested: dict[str, str],
    tied: dict[str, tuple[str, ...]],
) -> None:
    """Suggests for a field the one of these paths that no field has yet; several such paths tie."""
    options = tuple(path for path in free if path in paths)
    if len(options) == 1:
        suggested[wanted] = options[0]
    else:
        tied[wanted] = options
    patterns = {of_every(path) for path in options}
    for path in [path for path in free if of_every(path) in patterns]:
        del free[path]


_IDS = re.compile(r"(?:[a-z]|sample|record|row|item|case|test|question|query)?_?id")
"""Names of columns that number the records, folded."""


def _id_among(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str | None:
    """The column that may hold the ids of the records: it is called so, and its values differ."""
    for name in columns:
        values = [row.get(name) for row in rows]
        plain = all(isinstance(one, str | int) and not isinstance(one, bool) for one in values)
        if plain and len(set(values)) == len(values) and _IDS.fullmatch(folded(name)):
            return name
    return None


def _numbered(columns: Sequence[str]) -> dict[str, list[str]]:
    """Columns whose names differ by a number only (``passage_1``, ``passage_2``), by the pattern
    that they make (``passage_*``)."""
    by_pattern: dict[str, list[str]] = {}
    for name in columns:
        if (match := _NUMBERED.fullmatch(name)) is not None:
            by_pattern.setdefault(f"{match['before']}*{match['after'] or ''}", []).append(name)
    return {pattern: names for pattern, names in by_pattern.items() if len(names) > 1}


_SHORT = {
    "references": (
        *("gt", "gts", "ref", "refs", "truth", "truths", "correct", "ideal", "gold_answer"),
        *("best_answer", "chosen", "preferred"),
    ),
    "query": ("ask", "asked", "frage"),
    "answer": ("reply", "said", "antwort"),
}
"""Names that are only suggested: too short or too common to be read as a field by themselves."""

_EXPECTED = frozenset(
    {"gold", "golden", "correct", "expected", "true", "truth", "ideal", "reference", "ground"}
)
_EXPECTED_BEGIN = ("erwartet", "soll", "muster", "richtig")
"""Words, and beginnings of words, in the names of columns that hold what should be answered: as an
answer it would be scored against itself."""

_WRONG = frozenset(
    {"incorrect", "wrong", "rejected", "bad", "worst", "false", "negative", "negatives"}
    | {"hallucinated", "hallucination", "distractor", "distractors", "falsch", "falsche"}
)
"""Words of columns that hold what is wrong on purpose: no field that is suggested holds that."""

_CHOSEN = frozenset({"chosen", "preferred", "best"})
"""Words of columns that hold the better one of several answers: it is none of the system's."""

_GOLD = _EXPECTED | {"oracle", "positive", "positives", "relevant", "supporting"}
"""Words of columns that hold what should be retrieved: as passages it would be scored against
itself."""

_NO_ANSWER = re.compile(
    r"(?:contexts?|ctxs?|passages?|chunks?|docs?|documents?|sources?|evidence|kontext|ids?|scores?|is|was"
    r"|ratings?|grades?|labels?|counts?|questions?|frage|query)"
)
"""Words of columns that hold no answer, even where it is said to be expected."""


def _words(path: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", folded(path))


def _last(path: str) -> str:
    """The last key of a path."""
    return path.replace("]", "").replace('"', "").replace("[", ".").split(".")[-1]


def _is_no_answer(path: str) -> bool:
    return any(map(_NO_ANSWER.fullmatch, _words(path)))


def _is_expected(path: str) -> bool:
    """Whether the name of a column says that it holds what is expected, not what was answered."""
    return any(one in _EXPECTED or one.startswith(_EXPECTED_BEGIN) for one in _words(path))


def _is_never(path: str, wanted: str) -> bool:
    """Whether the name of a column or path rules out that it holds a field."""
    words = set(_words(path))
    if words & _WRONG:
        return True
    if "[0]" in path and wanted in LIST_FIELDS:  # other records may have longer lists
        return True
    if wanted in _LISTS and _OF_MESSAGES.search(path):
        return True
    if wanted == "answer":
        return _is_expected(path) or bool(words & _CHOSEN)
    return wanted == "passages" and bool(words & _GOLD) and "retrieved" not in words


def _likeness(path: str, wanted: str) -> float:
    """How like the name of a column, or the last key of a path, is to a name of a field."""
    if _is_never(path, wanted):
        return 0.0
    if _is_expected(path) and wanted == "references":
        return 0.0 if _is_no_answer(path) else 0.9
    own = folded(_last(path).replace("*", "").strip("_-. "))
    if own in _SHORT.get(wanted, ()):
        return 0.95
    words = set(own.split("_"))
    matches = [name for name in names_of(wanted) if name in words and len(name) > 3]
    return 0.9 if matches else likeness(own, names_of(wanted))


def _fits(wanted: str, values: Sequence[Any]) -> bool:
    lists = sum(isinstance(value, list) for value in values)
    if wanted in _LISTS:
        return lists * 2 > len(values) or all(len(str(value)) > _LONG for value in values)
    return lists == 0 or wanted == "references"


def _weight(wanted: str, path: str, values: Sequence[Any]) -> float:
    """How well what a column holds fits a field; 0 where it does not."""
    # No value tells gold from what was retrieved, or references from answers.
    if wanted in ("gold", "references") or _is_never(path, wanted):
        return 0.0
    if wanted == "passages":
        lists = [value for value in values if isinstance(value, list)]
        texts = [one for value in lists for one in value]
        share = sum(len(one) >= _LONG for one in texts) / max(1, len(texts))
        if share == 0 and "[*]" in path:
            # Objects in a list that hold sentences are rather passages than labels.
            share = sum(len(one.split()) >= _WORDS for one in texts) / max(1, len(texts))
            return share / 2 if share > 0.5 else 0.0
        return share
    if wanted == "answer" and _is_no_answer(_last(path)):
        return 0.0
    if "[0]" in path and not _OF_FIRST_REPLY.search(path):
        return 0.0  # the texts of a list of objects are rather passages
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values) or len(Counter(texts)) <= len(texts) // 2:
        return 0.0
    asked = sum(one.rstrip().endswith(("?", "？")) for one in texts) / max(1, len(texts))
    if wanted == "query":
        return asked if asked >= 0.5 else 0.0
    share = sum(len(one) >= _LONG or " " in one.strip() for one in texts) / max(1, len(texts))
    return share if asked < 0.5 <= share else 0.0
