"""Which sentences of passages share most words with a given one?"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from ragassay.counts import grouped
from ragassay.judges.offline.language import content, evidence_sentences, stems_of, weigh, weight
from ragassay.judges.offline.near_copies.alignment import LONG_ENOUGH

_CLOSE = 0.5
"""Smallest share of a sentence's weight in one that is compared with it: the rest may differ."""

_SEEN = 100
"""Most sentences of a passage that are examined for one sentence."""

_MOST = 3
"""Most sentences of all passages that a sentence is compared with."""


@lru_cache(maxsize=1024)
def _indexed(passage: str) -> tuple[list[dict[str, None]], dict[str, list[int]]]:
    """The stems of each sentence of a passage, each once; and for each stem the numbers of the
    sentences that hold it."""
    each = [dict.fromkeys(stems) for stems in stems_of(passage)]
    return each, grouped((word, at) for at, stems in enumerate(each) for word in stems)


def _candidates(words: Iterable[str], places: dict[str, list[int]]) -> list[int]:
    """The sentences that hold any of some words, those with rare words first."""
    candidates: dict[int, None] = {}
    for word in sorted(words, key=lambda word: (len(places.get(word, ())), word)):
        candidates.update(dict.fromkeys(places.get(word, ())[:_SEEN]))
        if len(candidates) >= _SEEN:
            break
    return list(candidates)


def holding(words: Set[str], passage: str) -> list[str]:
    """The sentences of a passage that hold more than half the weight of some words.

    Args:
        words: stems.
        passage: its text.
    """
    stems, places = _indexed(passage)
    each = evidence_sentences(passage)
    total = weigh(words)
    return [
        each[at]
        for at in _candidates(words, places)
        if 2 * weigh(word for word in words if word in stems[at]) > total
    ]


def nearest(sentence: str, passages: Iterable[str], either: bool) -> list[str]:
    """The sentences of the passages that hold most of a sentence's words, best first.

    Args:
        sentence: what is looked for.
        passages: the texts that are looked through.
        either: whether sentences whose own words the sentence mostly holds count as well.
    """
    words = {stemmed: weight(stemmed) for stemmed in content(sentence)}
    total = sum(words.values())
    near: set[tuple[float, str]] = set()
    for passage in passages:
        stems, places = _indexed(passage)
        each = evidence_sentences(passage)
        for at in _candidates(words, places):
            held = sum(heavy for word, heavy in words.items() if word in stems[at])
            least = weigh(stems[at]) if either and len(stems[at]) >= LONG_ENOUGH else total
            if held >= _CLOSE * min(total, least):
                near.add((-held / min(total, least), each[at]))
    return [candidate for _, candidate in sorted(near)[:_MOST]]
