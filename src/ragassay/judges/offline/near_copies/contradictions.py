"""Do passages contradict a text? Each of its sentences is aligned with those nearest to it.

A sentence that one sentence of the passages agrees with is not contradicted by another one about
something alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from ragassay.judges.offline.language import content, sentences, stems_of, tokens
from ragassay.judges.offline.near_copies.alignment import COPY, Kind, Nearness, compared, replaced
from ragassay.judges.offline.near_copies.nearest import nearest
from ragassay.judges.offline.near_copies.places import Parsed, Word, is_verb, parsed

_ASIDE = re.compile(r" ?\([^()]{1,200}\)")
_CLAUSE = re.compile(r"(?:,|;)? (?:and|but|while|whereas) (?=(?:the|a|an) |[^\W\d_a-zà-öø-þ])|; ")
_WORDS = 3
"""Smallest number of content words in a clause."""


def contradiction(text: str, passages: Iterable[str], near: Nearness = COPY) -> Kind | None:
    """How passages contradict a text, if they do.

    Args:
        text: one sentence or more, each of which is compared by itself.
        passages: what it is compared with.
        near: how much of two sentences must match for them to speak of the same thing.

    Returns:
        What contradicts its first sentence that is contradicted; ``None`` where none is. A
        sentence that one of the nearest sentences agrees with is not contradicted.
    """
    each = tuple(passages)
    kinds = (_contradiction(sentence, each, near) for sentence in sentences(text))
    return next(filter(None, kinds), None)


def _without_asides(sentence: str, other: Parsed) -> str:
    """A sentence without what stands in brackets and shares no word with another sentence: in
    "330 metres (1,083 ft) tall" it parts words that belong together."""
    words = {word.stem for word in other.words}
    return _ASIDE.sub(
        lambda aside: "" if words.isdisjoint(content(aside.group())) else aside.group(), sentence
    )


@lru_cache(maxsize=4096)
def _contradiction(sentence: str, passages: tuple[str, ...], near: Nearness) -> Kind | None:
    kind = _verdict(sentence, passages, near)
    parts = clauses(sentence) if kind is None else ()
    each = (_verdict(part, passages, near) for part in parts)
    kind = kind or next((how for how in each if how not in (None, "same")), None)
    return None if kind == "same" else kind


def _verdict(
    sentence: str, passages: tuple[str, ...], near: Nearness
) -> Kind | Literal["same"] | None:
    """How the sentences nearest to a sentence contradict it; ``same`` where one agrees with it."""
    own = parsed(sentence)
    kind: Kind | None = None
    for text in nearest(sentence, passages, near.either):
        how = _against(own, text, near)
        if how in (None, "same"):
            word = replaced(own, parsed(text), near) if _is_sentence(sentence) else None
            how = "word" if word is not None and not _occurs(word, passages) else how
        if how == "same":
            return "same"
        kind = kind or how
    return kind


def _against(own: Parsed, text: str, near: Nearness) -> Kind | Literal["same"] | None:
    """How a sentence contradicts another one: each of its clauses, where two of them do."""
    parts = clauses(text)
    each = [
        compared(own, part, near) or ("word" if replaced(own, part, near) else None)
        for part in map(parsed, parts)
    ]
    against = [how for how in each if how not in (None, "same")]
    if len(against) > 1 and "same" not in each:
        return against[0]
    other = parsed(text)
    return compared(own, other, near) or compared(
        own, parsed(_without_asides(text, other=own)), near
    )


def _is_sentence(text: str) -> bool:
    """Whether a text looks like a sentence: with another word, an item of a list or a line like
    "Website: example.org" is another item, and contradicts none."""
    return text.endswith((".", "!")) or any(map(is_verb, tokens(text)))


def _occurs(word: Word, passages: tuple[str, ...]) -> bool:
    """Whether a word stands in any of the passages."""
    forms = {word.stem, word.filler}
    return any(not forms.isdisjoint(each) for text in passages for each in stems_of(text))


def clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that say something by themselves; none where it has but one.

    A part begins with a capital letter or an article, and has a verb and three words.
    """
    parts = [part for part in _CLAUSE.split(sentence) if part]
    each_says_something = len(parts) > 1 and all(
        len(content(part)) >= _WORDS and any(map(is_verb, tokens(part))) for part in parts
    )
    return tuple(parts) if each_says_something else ()
