"""Signals 1 and 2: how much of a text the best window of the passages holds, and in what order.

A window is a run of `WINDOW` neighbouring sentences of one passage.
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

WINDOW = 3
"""Neighbouring sentences that are searched together."""
_MANY = 1_000
"""Most windows of a passage; of longer ones, windows hold more sentences."""
_POSTINGS = 64
"""Most sentences that are looked at for one word of a sentence that may be copied."""
_APART = 2
"""How many content words later the second word of a pair may stand."""


class Evidence:
    """Passages, prepared for the search.

    Attributes:
        sentences: of all passages, without those that address the judge.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self.sentences: list[str] = []
        self._windows: dict[str, list[int]] = defaultdict(list)
        self._in: dict[str, list[int]] = defaultdict(list)
        self._pairs: set[tuple[str, str]] = set()
        n_windows = 0
        for passage in passages:
            parts = evidence_sentences(passage)
            stems = [content(part) for part in parts]
            for part, each in zip(parts, stems, strict=True):
                for word in dict.fromkeys(each):
                    self._in[word].append(len(self.sentences))
                for step in range(1, _APART + 1):
                    self._pairs.update(zip(each, each[step:]))
                self.sentences.append(part)
            step = len(parts) // _MANY + 1
            for start in range(0, max(1, len(parts) - WINDOW + 1), step):
                held = dict.fromkeys(
                    w for each in stems[start : start + WINDOW + step - 1] for w in each
                )
                for word in held:
                    self._windows[word].append(n_windows)
                n_windows += 1

    def holds(self, stems: Iterable[str]) -> bool:
        """Whether the passages hold each of the stems."""
        return all(word in self._in for word in stems)

    @lru_cache(maxsize=4096)  # noqa: B019 - as many entries as evidence is kept for
    def coverage(self, stems: tuple[str, ...]) -> float:
        """The share of the stems' weight in the window that holds most of it, 0 to 1."""
        held: dict[int, int] = defaultdict(int)
        for word in set(stems):
            heavy = weight(word)
            for at in self._windows.get(word, ()):
                held[at] += heavy
        return max(held.values(), default=0) / weigh(set(stems)) if stems else 0.0

    def in_order(self, stems: Sequence[str]) -> float:
        """The share of neighbouring pairs of stems that a sentence holds in this order, 0 to 1; 1
        where there is no pair."""
        pairs = list(pairwise(stems))
        return sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else 1.0

    def nearest(self, stems: Iterable[str], n: int = 3) -> list[str]:
        """The sentences that share most weight with some stems, best first.

        Args:
            stems: of a sentence.
            n: how many sentences.
        """
        shared: dict[int, int] = defaultdict(int)
        for word in set(stems):
            for at in self._in.get(word, ())[:_POSTINGS]:
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
    """Stems of a text's numbers and names, which no other word can stand for."""
    stems = set(content(text))
    return {*filter(is_number, stems), *(names(text) & stems)}
