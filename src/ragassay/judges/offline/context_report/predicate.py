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
    question = _after_question_word(query)
    if question is None:
        return ""
    runs = list(_runs(question.rest))
    if question.asks_who and runs and question.rest.split()[0].casefold() in BEING:
        return runs[0].words[-1].casefold() if runs[0].before in _BEFORE_NOUNS else ""
    if question.asks_who and runs and not runs[0].before:
        return next(filterfalse(_ADVERB.fullmatch, map(str.casefold, runs[0].words)), "")
    if question.noun:
        return question.noun
    if question.counts and runs and not runs[0].before and _is_thing(runs[0]):
        runs = runs[1:]
    # "How many members has the club?": only a participle after "has" is a predicate.
    has = not _HAS.isdisjoint(question.rest.casefold().split())
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


class _Question(NamedTuple):
    """What follows a question word.

    Attributes:
        rest: the words after it, in its sentence.
        noun: the thing that is asked for, where it is part of the question word ("what is the
            capital", "what does the museum cost").
        counts: whether it asks for the thing after it.
        asks_who: whether it asks for a person.
    """

    rest: str
    noun: str
    counts: bool
    asks_who: bool


def _after_question_word(query: str) -> _Question | None:
    """What follows the last question word of the query."""
    question = None
    for sentence in sentences(visible(query)):
        matches = list(asking(sentence))
        if matches:
            last = max(matches, key=lambda match: match.end())
            words = last.group()
            rest = sentence[last.end() :].strip()
            noun = words.split()[-1] if _NAMED.search(words) else ""
            question = _Question(
                rest, noun.casefold(), bool(_COUNTS.search(words)), bool(_WHO.search(words))
            )
    return question


def _runs(text: str) -> Iterator[_Run]:
    kept: list[str] = []
    before = ""
    words = _WORDS.findall(text)
    for at, word in enumerate(words):
        folded = word.casefold()
        # "die Brücke", "war der Krieg": in English these are content words.
        german = folded in _BEFORE_NOUNS and words[at + 1 : at + 2] and words[at + 1][0].isupper()
        german = german or (at == 0 and folded in _AUXILIARIES)
        if not german and (any(map(stem, tokens(word))) or folded in IRREGULAR):
            kept.append(word.rstrip("."))
            continue
        if kept:
            yield _Run(kept, before, folded)
        kept, before = [], folded
    if kept:
        yield _Run(kept, before, "")
