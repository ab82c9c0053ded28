"""How much of a query a passage holds: signal 1, with the weights of a conversation.

In a conversation all passages are about its subject and differ in what the query adds to its
earlier turns, so a word that an earlier turn of the user had weighs less.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragassay.judges.offline.words import content, evidence_sentences, weight

GIVEN = 0.3  # weight of a word of the query that an earlier turn had, as a share of a new word's
TOGETHER = 1 / 3
"""Part of the score for words of the query, one or two apart, that share a sentence."""
GRADES = (0.1, 0.2, 0.5)  # scores from which a passage has grade 1, 2 and 3
_VARIED, _HEAD = 0.25, 120
"""Share of different words in the first content words of a passage, below which it only repeats."""


def _asked(query: str, earlier: Sequence[str]) -> dict[str, float]:
    """The words of the query with their weights; of the latest turn that has some."""
    before = {word for turn in earlier for word in content(turn)}
    for turn in (query, *reversed(earlier)):
        if words := dict.fromkeys(content(turn)):
            given = before if turn is query else ()
            return {one: weight(one) * (GIVEN if one in given else 1.0) for one in words}
    return {}


@lru_cache(maxsize=4096)
def score(query: str, passage: str, earlier: tuple[str, ...] = ()) -> float:
    """How much of a query a passage holds, 0 to 1: the mean over the query's words, by weight, of
    ``n / (n + 1)`` for a word in n sentences, and `TOGETHER`.

    Args:
        query: its text.
        passage: its text.
        earlier: the user's earlier turns, oldest first.
    """
    asked = _asked(query, earlier)
    parts = [asked.keys() & content(part) for part in evidence_sentences(passage)]
    head = content(passage)[:_HEAD]
    if not asked or not parts or (len(head) > 20 and len(set(head)) < _VARIED * len(head)):
        return 0.0
    places = {word: {at for at, part in enumerate(parts) if word in part} for word in asked}
    alone = sum(heavy * len(places[one]) / (len(places[one]) + 1) for one, heavy in asked.items())
    alone /= sum(asked.values())
    words = list(asked)
    near = [(one, two) for at, one in enumerate(words) for two in words[at + 1 : at + 3]]
    if not near:
        return alone
    shared = sum(asked[one] + asked[two] for one, two in near if places[one] & places[two])
    together = shared / sum(asked[one] + asked[two] for one, two in near)
    return (1 - TOGETHER) * alone + TOGETHER * together


def grade(found: float) -> int:
    """UMBRELA's grade of a passage, 0 to 3.

    Args:
        found: its `score`, alone or with a sentence encoder's cosine.
    """
    return sum(found >= least for least in GRADES)
