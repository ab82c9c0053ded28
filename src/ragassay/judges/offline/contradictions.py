"""Do passages contradict a text? Each of its sentences is aligned with those nearest to it.

A sentence that one sentence of the passages agrees with is not contradicted by another one about
something alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ragassay.judges.offline.alignment import COPY, Kind, Nearness, compared
from ragassay.judges.offline.nearest import nearest
from ragassay.judges.offline.places import Parsed, parsed
from ragassay.judges.offline.texts import sentences
from ragassay.judges.offline.words import content

_ASIDE = re.compile(r" ?\([^()]{1,200}\)")


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
    found = (_contradiction(sentence, each, near) for sentence in sentences(text))
    return next(filter(None, found), None)


def _without_asides(sentence: str, other: Parsed) -> str:
    """A sentence without what stands in brackets and shares no word with another sentence: in
    "330 metres (1,083 ft) tall" it parts words that belong together."""
    words = {word.stem for word in other.words}
    return _ASIDE.sub(
        lambda aside: "" if words.isdisjoint(content(aside.group())) else aside.group(), sentence
    )


@lru_cache(maxsize=4096)
def _contradiction(sentence: str, passages: tuple[str, ...], near: Nearness) -> Kind | None:
    own = parsed(sentence)
    found: Kind | None = None
    for other in nearest(sentence, passages, near.either):
        how = compared(own, parsed(other), near) or compared(
            own, parsed(_without_asides(other, own)), near
        )
        if how == "same":
            return None
        found = found or how
    return found
