"""The thing that a query asks for, as it is named there: "ECTS" in "how many ECTS has it?"."""

from __future__ import annotations

from functools import lru_cache

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.word_weights import content, tokens, visible

_ASKS = lists.patterns("asks_thing")


@lru_cache(maxsize=1024)
def asked_thing(query: str) -> str:
    """The word after "how many", "which" or "what", and what stands in "what is the ... of".

    Empty where the query names no such thing: "when was it opened?", "how much does it cost?".
    """
    text = visible(query)
    match = _ASKS.search(text)
    if match is None:
        return ""
    if match.lastindex:
        return str(match[match.lastindex])
    words = tokens(text[match.end() : match.end() + _LONGEST])
    return words[0] if words and content(words[0]) else ""


_LONGEST = 60
"""Characters after the question word that are searched."""
