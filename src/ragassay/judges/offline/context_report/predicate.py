"""What a query asks about its subject: "renovated" in "when was the Louvre renovated?".

The predicate is found by its place, without a dictionary of verbs. It ends a run of content words
that no article, possessive or preposition begins ("[Louvre renovated]", "[live] in Lyon"), or one
of several words that one begins ("the [guinea pigs sleep]"). The word after "how many" and "which"
is the thing that is asked for and no predicate; after "who is the" it is what a name stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import filterfalse
from typing import NamedTuple

from ragassay.judges.offline.language import (
    IRREGULAR,
    asking,
    is_participle,
    lists,
    sentences,
    stem,
    tokens,
    visible,
)

_AUXILIARIES = lists.words("auxiliaries")
_PREPOSITIONS = lists.words("prepositions")
_BEFORE_NOUNS = _PREPOSITIONS | lists.words("determiners")
BEING = {"is", "are", "was", "were", "ist", "sind", "war", "waren", "est", "era", "es"}
_HAS = {"has", "have", "had"}
_ADVERB = re.compile(r"first|last|\w+ly")
_COUNTS = re.compile(r"\b(?:how (?:many|much)|what|which)$", re.IGNORECASE)
_WHO = re.compile(r"\b(?:who|wer|qui|qui[eé]n|chi)$", re.IGNORECASE)
_NAMED = lists.patterns("asks_named_thing")
_WORDS = re.compile(r"[^\W_][\w'’.-]*|[,;:()]")


class _Run(NamedTuple):
    """Neighbouring content words of a query: the words before and after them, which are small."""

    words: Sequence[str]
    before: str
    after: str


@lru_cache(maxsize=1024)
def predicate(query: str) -> str:
    """The word that says what the query asks about its subject; empty where there is none, as in
    "how tall is Mount Fuji?"."""
    asking_words, rest = _last_question(query)
    if not asking_words:
        return ""
    runs = list(_runs(rest))
    if runs and _WHO.search(asking_words):
        if rest.split()[0].casefold() in BEING:
            return runs[0].words[-1].casefold() if runs[0].before in _BEFORE_NOUNS else ""
        if not runs[0].before:
            return next(filterfalse(_ADVERB.fullmatch, map(str.casefold, runs[0].words)), "")
    # The thing that is asked for may be part of the question words: "what does the museum cost".
    if _NAMED.search(asking_words):
        return asking_words.split()[-1].casefold()
    if _COUNTS.search(asking_words) and runs and not runs[0].before and _is_thing(runs[0]):
        runs = runs[1:]
    # "How many members has the club?": only a participle after "has" is a predicate.
    has = not _HAS.isdisjoint(rest.casefold().split())
    weak = ""
    for run in runs:
        small = [word for word in run.words if not word[0].isupper() and word[0].isalpha()]
        if not small:
            continue
        candidate = small[-1].casefold()
        if has and not is_participle(candidate):
            continue
        if run.before not in _BEFORE_NOUNS:
            return candidate
        if len(run.words) == 1 or small[-1] != run.words[-1]:
            continue
        if run.after not in _PREPOSITIONS | _AUXILIARIES:
            return candidate
        weak = weak or candidate
    return weak


def _is_thing(run: _Run) -> bool:
    """Whether a run after "how many" names the thing alone, without a verb."""
    return len(run.words) == 1 or run.after in _AUXILIARIES or not run.after


def _last_question(query: str) -> tuple[str, str]:
    """The last question words of the query, and the words after them in their sentence; empty where
    it has none."""
    for sentence in reversed(sentences(visible(query))):
        last = max(asking(sentence), key=lambda match: match.end(), default=None)
        if last is not None:
            return last.group(), sentence[last.end() :].strip()
    return "", ""


def _runs(text: str) -> Iterator[_Run]:
    run: list[str] = []
    before = ""
    words = _WORDS.findall(text)
    for at, word in enumerate(words):
        folded = word.casefold()
        # "die Brücke", "war der Krieg": in English these are content words.
        german = folded in _BEFORE_NOUNS and words[at + 1 : at + 2] and words[at + 1][0].isupper()
        german = german or (at == 0 and folded in _AUXILIARIES)
        if not german and (any(map(stem, tokens(word))) or folded in IRREGULAR):
            run.append(word.rstrip("."))
            continue
        if run:
            yield _Run(run, before, folded)
        run, before = [], folded
    if run:
        yield _Run(run, before, "")
