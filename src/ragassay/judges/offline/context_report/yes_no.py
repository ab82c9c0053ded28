"""Does a sentence answer a question for yes or no?"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

from ragassay.judges.offline.language import (
    content,
    lists,
    sentences,
    stem,
    subject,
    tokens,
    visible,
)
from ragassay.judges.offline.near_copies import opposed

_AUXILIARIES = lists.words("auxiliaries") - {"to", "be", "been", "being"}
_INDIRECT = lists.words("indirect_questions")

_FEWEST = 2
"""Content words that a question must have: "is it open?" says too little of what it asks about."""


@lru_cache(maxsize=1024)
def yes_no_question(query: str) -> str:
    """The last sentence of a query where it begins with an auxiliary ("is the pool open?"), and
    says what it is about; else empty."""
    last = next(reversed(sentences(visible(query))), "")
    return last if _begins_with_auxiliary(last) and len(subject(last)) >= _FEWEST else ""


@lru_cache(maxsize=4096)
def settles(query: str, sentence: str) -> bool:
    """Whether a sentence states what a yes/no question asks, or the opposite.

    It does where it holds all content words of the question, one of them perhaps by its opposite,
    and an auxiliary, and is no question itself, neither direct nor indirect ("ask whether ...").

    Args:
        query: any query; one that asks for something else is settled by no sentence.
        sentence: of a passage.
    """
    question = yes_no_question(query)
    if not question or sentence.rstrip().endswith("?"):
        return False
    words = tokens(visible(sentence))
    if _begins_with_auxiliary(sentence) or _AUXILIARIES.isdisjoint(words):
        return False
    # "The pool is open if the sun shines" answers; "ask if the pool is open" does not.
    stated = takewhile(lambda word: word not in _INDIRECT, words)
    if subject(question).isdisjoint(map(stem, stated)) and not _INDIRECT.isdisjoint(words):
        return False
    lacking = subject(question) - frozenset(content(sentence))
    if not lacking:
        return True
    (one, *others) = lacking
    asked = [word for word in tokens(visible(question)) if stem(word) == one]
    return not others and any(opposed(word, other) for word in asked for other in words)


def _begins_with_auxiliary(sentence: str) -> bool:
    return next(iter(tokens(sentence)), "") in _AUXILIARIES
