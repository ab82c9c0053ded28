"""How much of a query a passage holds: signal 1, with the weights of a conversation.

In a conversation all passages are about its subject and differ in what the query adds to its
earlier turns, so a word that an earlier turn of the user had weighs less. Sentences that hold
little besides the query's own words are no answer to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragassay.judges.offline.words import content, evidence_sentences, weight

GIVEN = 0.3
"""Weight of a word of the query that an earlier turn had, as a share of a new word's."""
TOGETHER = 1 / 3
"""Part of the score for neighbouring words of the query that share a sentence."""
GRADES = (0.1, 0.2, 0.5)
"""Scores from which a passage has grade 1, 2 and 3."""
_FRESH = 1
"""Content words, not the query's, that a sentence must hold to count."""
_VARIED, _HEAD = 0.25, 120
"""Share of different words in the first content words of a passage, below which it only repeats."""


def _asked(query: str, earlier: Sequence[str]) -> dict[str, float]:
    """The words of the query with their weights; of the latest turn that has some."""
    before = {word for turn in earlier for word in content(turn)}
    for turn in (query, *reversed(earlier)):
        if words := dict.fromkeys(content(turn)):
            return {
                one: weight(one) * (GIVEN if one in before and turn is query else 1.0)
                for one in words
            }
    return {}


@lru_cache(maxsize=4096)
def score(query: str, passage: str, earlier: tuple[str, ...] = ()) -> float:
    """How much of a query a passage holds, 0 to 1.

    Two thirds of it: the mean over the query's words, by their weights, of ``n / (n + 1)`` for a
    word in n sentences of the passage. One third: the share of neighbouring words of the query that
    a sentence holds together; a title stands with every sentence.

    Args:
        query: its text.
        passage: its text.
        earlier: the user's earlier turns, oldest first.
    """
    asked = _asked(query, earlier)
    parts = [set(content(part)) for part in evidence_sentences(passage)]
    head = content(passage)[:_HEAD]
    if not asked or not parts or (len(head) > 20 and len(set(head)) < _VARIED * len(head)):
        return 0.0
    title = parts[0] & asked.keys() if len(parts) > 1 and "\n" in passage else set()
    held = [(part & asked.keys()) for part in parts if len(part - asked.keys()) >= _FRESH]
    places = {word: {at for at, part in enumerate(held) if word in part} for word in asked}
    n = {word: len(places[word]) + (word in title and bool(held)) for word in asked}
    alone = sum(heavy * n[word] / (n[word] + 1) for word, heavy in asked.items())
    words = list(asked)
    together = pairs = 0.0
    for at, one in enumerate(words):
        for other in words[at + 1 : at + 3]:
            heavy = asked[one] + asked[other]
            pairs += heavy
            if n[one] and n[other] and ({one, other} & title or places[one] & places[other]):
                together += heavy
    alone /= sum(asked.values())
    return (1 - TOGETHER) * alone + TOGETHER * (together / pairs if pairs else alone)


def grade(query: str, passage: str, earlier: tuple[str, ...] = ()) -> int:
    """UMBRELA's grade of a passage, 0 to 3; see `score`."""
    found = score(query, passage, earlier)
    return sum(found >= least for least in GRADES)
