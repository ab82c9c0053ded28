"""Forms of verbs: which verb a form belongs to, and which forms may be participles."""

from __future__ import annotations

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.word_weights import stem

_VERBS = lists.groups("irregular_verbs")
BASES = {form: line[0] for line in _VERBS for form in line[1:]}
"""Base form of each irregular form ("wrote": "write")."""

IRREGULAR = frozenset(form for line in _VERBS for form in line)
"""All forms of irregular verbs that no ending makes, base forms among them."""


def root(word: str) -> str:
    """What the forms of a word share: the stem of its base form. A small word, which has no stem,
    is its own root.

    Args:
        word: case-folded; empty for none.
    """
    base = BASES.get(word, word)
    return (stem(base) if base else "") or base


def is_participle(word: str) -> bool:
    """Whether a word may be a past participle: it ends with "ed" or "en", or is a form of an
    irregular verb (of some verbs the base form is one, too: "has become", "is run by")."""
    return word.endswith(("ed", "en")) or word in IRREGULAR
