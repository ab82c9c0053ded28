"""Signals 1 and 2: how much of a text the best window of the passages holds, and in what order; and
how much of a query a passage holds (`score`), with the weights of a conversation.

In a conversation all passages are about its subject and differ in what the query adds to its
earlier turns, so a word that an earlier turn of the user had weighs less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from ragassay.judges.offline.words import (
    content,
    evidence_sentences,
    is_number,
    names,
    weigh,
    weight,
)

WINDOW = 3  # neighbouring sentences of a passage that are searched together
MOST_WINDOWS = 1_000  # of a passage; in longer ones, windows hold more sentences
MOST_PLACES = 64  # sentences that are looked at for one word of a sentence that may be copied
APART = 4  # how many content words later the second word of a pair may come


class Evidence:
    """Passages, prepared for the search; sentences that address the judge are left out."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.sentences: list[str] = []
        self._windows: dict[str, list[int]] = defaultdict(list)
        self._places: dict[str, list[int]] = defaultdict(list)
        self._pairs: set[tuple[str, str]] = set()
        n_windows = 0
        for passage in passages:
            parts = evidence_sentences(passage)
            stems = [content(part) for part in parts]
            for part, each in zip(parts, stems, strict=True):
                for word in dict.fromkeys(each):
                    self._places[word].append(len(self.sentences))
                for step in range(1, APART + 1):
                    self._pairs.update(zip(each, each[step:], strict=False))
                self.sentences.append(part)
            step = len(parts) // MOST_WINDOWS + 1
            for start in range(0, max(1, len(parts) - WINDOW + 1), step):
                near = stems[start : start + WINDOW + step - 1]
                for word in {word for each in near for word in each}:
                    self._windows[word].append(n_windows)
                n_windows += 1

    def holds(self, stems: Iterable[str], beside: Iterable[str]) -> bool:
        """Whether the passages hold each of the stems, and each number in a sentence with another
        one of the stems ``beside`` it (where there are any)."""
        near = {text: set(self._places.get(text, ())[:MOST_PLACES]) for text in beside}

        def sits(word: str) -> bool:
            others = [at for text, at in near.items() if text != word]
            own = self._places[word][:MOST_PLACES]
            return not others or any(not at.isdisjoint(own) for at in others)

        return all(word in self._places and (not is_number(word) or sits(word)) for word in stems)

    def coverage(self, stems: Iterable[str]) -> float:
        """The share of the stems' weight in the window that holds most of it, 0 to 1."""
        wanted = set(stems)
        held: dict[int, int] = defaultdict(int)
        for word in wanted:
            heavy = weight(word)
            for at in self._windows.get(word, ()):
                held[at] += heavy
        return max(held.values(), default=0) / weigh(wanted) if wanted else 0.0

    def in_order(self, stems: Sequence[str]) -> float:
        """The share of neighbouring pairs of stems that a sentence holds in this order, 0 to 1; 1
        where there is no pair."""
        pairs = list(pairwise(stems))
        return sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else 1.0

    def nearest(self, stems: Iterable[str], n: int = 3) -> list[str]:
        """The n sentences that share most weight with some stems, best first."""
        shared: dict[int, int] = defaultdict(int)
        for word in set(stems):
            for at in self._places.get(word, ())[:MOST_PLACES]:
                shared[at] += weight(word)
        best = sorted(shared, key=lambda at: (-shared[at], at))
        return [self.sentences[at] for at in best[:n]]


@lru_cache(maxsize=64)
def evidence(passages: tuple[str, ...]) -> Evidence:
    """The passages, prepared; the last ones are remembered."""
    return Evidence(passages)


def share_of(wanted: Iterable[str], stems: Set[str]) -> float:
    """The share of the weight of the wanted stems that is there, 0 to 1; 0 where none is wanted."""
    wanted = set(wanted)
    return weigh(wanted & stems) / weigh(wanted) if wanted else 0.0


def strict(text: str) -> set[str]:
    """Stems of a text's numbers and names, which no other word can replace."""
    stems = set(content(text))
    return {*filter(is_number, stems), *(names(text) & stems)}


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
            return {word: weight(word) * (GIVEN if word in given else 1.0) for word in words}
    return {}


@lru_cache(maxsize=4096)
def score(query: str, passage: str, earlier: tuple[str, ...] = ()) -> float:
    """How much of a query a passage holds, 0 to 1: the mean over the query's words, by weight, of
    ``n / (n + 1)`` for a word in n sentences, and `TOGETHER`. ``earlier`` are the user's earlier
    turns, oldest first."""
    asked = _asked(query, earlier)
    parts = [asked.keys() & content(part) for part in evidence_sentences(passage)]
    head = content(passage)[:_HEAD]
    if not asked or not parts or (len(head) > 20 and len(set(head)) < _VARIED * len(head)):
        return 0.0
    places = {word: {at for at, part in enumerate(parts) if word in part} for word in asked}
    alone = sum(
        heavy * len(places[text]) / (len(places[text]) + 1) for text, heavy in asked.items()
    )
    alone /= sum(asked.values())
    words = list(asked)
    near = [(word, two) for at, word in enumerate(words) for two in words[at + 1 : at + 3]]
    if not near:
        return alone
    shared = sum(asked[text] + asked[two] for text, two in near if places[text] & places[two])
    together = shared / sum(asked[text] + asked[two] for text, two in near)
    return (1 - TOGETHER) * alone + TOGETHER * together


def grade(found: float) -> int:
    """UMBRELA's grade of a passage, 0 to 3, by its `score`, alone or with a sentence encoder's
    cosine."""
    return sum(found >= least for least in GRADES)
