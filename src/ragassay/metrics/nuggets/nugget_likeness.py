"""Which nuggets are one fact in two wordings.

Two are the same where, word by word, they differ in nothing but case, punctuation, articles, forms
of *be* and endings (Porter's stems); or where they are at least 90 % similar word by word and agree
in every number and every negation. The rule is strict on purpose: a wrong merge loses a fact, and a
missed one only gives a fact a little more weight.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ragassay.texts.word_cutting import words

_EMPTY_WORDS = frozenset({
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am",
})  # fmt: skip
_NEGATIONS = frozenset({
    "no", "not", "never", "nor", "none", "neither", "without", "cannot", "nt",
})  # fmt: skip
_ALIKE = 0.9


class Distinct:
    """A growing list of nuggets of which no two are the same.

    Attributes:
        texts: the nuggets, in the order in which they came.
        merged: how many were left out because they were there already.
        refused: how many were left out because they had no word, or too many.

    Args:
        texts: the first nuggets.
        words: most words in a nugget.
    """

    def __init__(self, texts: Iterable[str] = (), *, words: int) -> None:
        self.texts: list[str] = []
        self.merged = 0
        self.refused = 0
        self._words = words
        self._forms: list[tuple[str, ...]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> bool:
        """Adds a nugget that is new and holds 1 to ``words`` words; says whether it did.

        A longer nugget is left out entirely: shortened, it would be another fact.
        """
        nugget = " ".join(text.split())
        form = _form(nugget)
        if not form or len(nugget.split()) > self._words:
            self.refused += 1
            return False
        if any(_same(form, other) for other in self._forms):
            self.merged += 1
            return False
        self.texts.append(nugget)
        self._forms.append(form)
        return True


def _form(text: str) -> tuple[str, ...]:
    """The words that distinguish facts."""
    found = words(text.replace("n't", " not").replace("n’t", " not"), stem=True)
    return tuple(word for word in found if word not in _EMPTY_WORDS) or tuple(found)


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if one == other:
        return True
    if _marks(one) != _marks(other):
        return False
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(one, other) >= _ALIKE


@lru_cache(maxsize=4096)
def _marks(words: tuple[str, ...]) -> list[str]:
    """Numbers and negations, which must agree in two wordings of one fact."""
    return sorted(
        word for word in words if word in _NEGATIONS or any(sign.isdigit() for sign in word)
    )
