"""Does a sentence say otherwise than a sentence of the passages that is nearly the same?

Two sentences are laid side by side, word by word. Names, numbers with their units and words that
have an opposite are places to be filled: they match whatever fills them. Where nearly all of both
sentences matches in this way, they speak of the same thing, and what differs contradicts: one
negation more, another number, unit or name in the same place, an opposite.

Sentences that agree go before: what one sentence says is not contradicted by another one about
something alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline import lists
from ragassay.judges.offline.evidence import UNIT_STEMS, names, negates
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.values import is_number
from ragassay.judges.offline.words import WHOLE, stem, tokens, weigh, weight

Kind = Literal["negation", "number", "unit", "name", "opposite", "roles"]

import os
P_S = float(os.environ.get("P_S", ".9"))
P_T = float(os.environ.get("P_T", ".9"))
SPAN = os.environ.get("SPAN", "1") == "1"
NEAR = 0.9
CLOSE = 0.5
MOST = 3
LONGEST = 200
FEW = 3


@dataclass(frozen=True)
class _Word:
    stem: str
    kind: str
    filler: str


@lru_cache(maxsize=1)
def _opposites() -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for at, line in enumerate(lists.groups("opposites")):
        cut = line.index("|")
        for side, forms in enumerate((line[:cut], line[cut + 1 :])):
            for form in forms:
                found.setdefault(form, (str(at), side))
    return found


class Said(NamedTuple):
    """A sentence as it is compared.

    Attributes:
        words: of each word that tells, its stem.
        kinds: of each word what place it fills: ``""`` none.
        fillers: of each word what fills the place.
        denied: places in ``words`` before which a negation stands.
        joined: places before which "and" or "or" stands.
        names: stems of its names.
    """

    words: tuple[str, ...]
    kinds: tuple[str, ...]
    fillers: tuple[str, ...]
    denied: tuple[int, ...]
    joined: frozenset[int]
    names: frozenset[str]
    passive: int


_JOINS = {"and", "or", "&"}


@lru_cache(maxsize=8192)
def said(sentence: str) -> Said:
    words: list[str] = []
    kinds: list[str] = []
    fillers: list[str] = []
    denied: list[int] = []
    joined: set[int] = set()
    each = tokens(sentence)[:LONGEST]
    passive = 0
    for at, token in enumerate(each):
        if negates(token) and (at + 1 == len(each) or each[at + 1] not in {"only", "just", "merely"}):
            denied.append(len(words))
            continue
        if token in _JOINS:
            joined.add(len(words))
        passive += token == "by"
        stemmed = stem(token)
        opposite = _opposites().get(token)
        if not stemmed and opposite is None:
            continue
        kind = filler = ""
        if is_number(stemmed):
            kind, filler = "number", stemmed
        elif kinds and kinds[-1] == "number" and stemmed in UNIT_STEMS:
            kind, filler = "unit", stemmed
        elif opposite is not None:
            kind, filler = "opposite " + opposite[0], str(opposite[1])
        words.append(stemmed or token)
        kinds.append(kind)
        fillers.append(filler)
    return Said(tuple(words), tuple(kinds), tuple(fillers), tuple(denied), frozenset(joined), frozenset(names(sentence)), passive)


class _Row(NamedTuple):
    marks: list[str]
    fillers: list[frozenset[str]]
    weights: list[int]
    starts: list[int]


def _row(one: Said, known: frozenset[str]) -> _Row:
    row = _Row([], [], [], [])
    for at, word in enumerate(one.words):
        kind = one.kinds[at]
        if word in known and kind in ("",) or (word in one.names and kind.startswith("opp")):
            if row.marks and row.marks[-1] == "<name>":
                row.fillers[-1] |= {word}
                continue
            row.marks.append("<name>")
            row.fillers.append(frozenset({word}))
            row.weights.append(WHOLE)
        else:
            row.marks.append(f"<{kind}>" if kind else word)
            row.fillers.append(frozenset({one.fillers[at]}) if kind else frozenset())
            row.weights.append(weight(word))
        row.starts.append(at)
    return row


def compare(one: Said, other: Said) -> Kind | Literal["same"] | None:
    """How two sentences differ; ``same`` where they do not, ``None`` where they are not alike."""
    known = one.names | other.names
    a, b = _row(one, known), _row(other, known)
    whole_a, whole_b = sum(a.weights), sum(b.weights)
    blocks = SequenceMatcher(None, a.marks, b.marks, autojunk=False).get_matching_blocks()[:-1]
    pairs = [(x + k, y + k) for x, y, n in blocks for k in range(n)]
    if len(pairs) < FEW:
        return None
    held = sum(a.weights[x] for x, _ in pairs)
    if SPAN:
        whole_b = sum(b.weights[pairs[0][1] : pairs[-1][1] + 1])
    if held < P_S * whole_a or sum(b.weights[y] for _, y in pairs) < P_T * whole_b:
        return None
    wrong = [(x, y) for x, y in pairs if _differ(a.fillers[x], b.fillers[y])]
    if wrong:
        fa = sorted(w for x, _ in wrong for w in a.fillers[x])
        fb = sorted(w for _, y in wrong for w in b.fillers[y])
        if fa == fb and one.passive != other.passive:
            return None
        return a.marks[wrong[0][0]].strip("<>").split()[0]  # type: ignore
    first, last = a.starts[pairs[0][0]], a.starts[pairs[-1][0]]
    n = sum(first <= at <= last for at in one.denied)
    first, last = b.starts[pairs[0][1]], b.starts[pairs[-1][1]]
    m = sum(first <= at <= last for at in other.denied)
    return "negation" if (n - m) % 2 else "same"


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


class _Told(NamedTuple):
    sentences: list[str]
    places: dict[str, list[int]]


@lru_cache(maxsize=1024)
def _told(passage: str) -> _Told:
    told = _Told(list(dict.fromkeys(evidence_sentences(passage))), {})
    for at, sentence in enumerate(told.sentences):
        for word in set(said(sentence).words):
            told.places.setdefault(word, []).append(at)
    return told


def contradiction(sentence: str, passages: Iterable[str]) -> Kind | None:
    """How the sentences of the passages that are nearly the same contradict a sentence, if so."""
    one = said(sentence)
    words = sorted(set(one.words))
    if len(words) < FEW:
        return None
    least = CLOSE * weigh(words)
    near: list[tuple[float, str]] = []
    for passage in passages:
        told = _told(passage)
        held: dict[int, int] = {}
        for word in words:
            heavy = weight(word)
            for at in told.places.get(word, ()):
                held[at] = held.get(at, 0) + heavy
        near.extend((-found, told.sentences[at]) for at, found in held.items() if found >= least)
    found = None
    for _, other in sorted(near)[:MOST]:
        how = compare(one, said(other))
        if how == "same":
            return None
        found = found or how
    return found
