"""How relevant is a passage to a query? By what of the query stands together in it, and what else.

The query's own words, however often, are no answer: sentences that hold little besides them are
left out before anything is counted, and the higher grades ask for new words as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.evidence import share_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.wanted import holds, kind_of
from ragassay.judges.offline.words import content, tokens, weigh
from ragassay.judges.questions.relevance import Relevance, RelevanceGrade

RELATED, PARTLY, DEDICATED = 0.35, 0.6, 0.85
"""Share of the query's weight that must be found for grades 1 (in the passage), 2 and 3 (in one
window of it)."""

NEW = 3
"""Content words beside the query's that a window must hold for grades 2 and 3."""

FRESH = 2
"""Content words beside the query's that a sentence must hold to be looked at at all."""

VARIED = 0.25
"""Share of different words among a passage's content words, below which it is stuffed: repeated
words only. Long passages are judged by their first `_HEAD` words."""

_HEAD = 120
_WINDOW = 3


class Found(NamedTuple):
    """What of a query stands in a passage.

    Attributes:
        anywhere: share of the query's weight in the passage, 0 to 1.
        together: the largest share in a window of sentences.
        new: content words in that window beside the query's.
        fits: whether that window holds the kind of answer that the query wants.
    """

    anywhere: float = 0.0
    together: float = 0.0
    new: int = 0
    fits: bool = False


@lru_cache(maxsize=4096)
def look(query: str, passage: str) -> Found:
    """What of the query stands in the passage."""
    asked = frozenset(content(query))
    if not asked:
        return Found()
    kept = [
        (sentence, stems)
        for sentence in evidence_sentences(passage)
        if len((stems := set(content(sentence))) - asked) >= FRESH
    ]
    if not kept or _stuffed(passage):
        return Found()
    everything = {stem for _, stems in kept for stem in stems}
    # A first line without a full stop is a title: it names the subject of all that follows.
    title = kept[0][1] if kept[0][0][-1] not in ".!?。" else set()
    best, at = -1.0, 0
    for start in range(max(1, len(kept) - _WINDOW + 1)):
        found = {stem for _, stems in kept[start : start + _WINDOW] for stem in stems}
        share = share_of(asked, found | title)
        if share > best:
            best, at = share, start
    window = kept[at : at + _WINDOW]
    new = {stem for _, stems in window for stem in stems} - asked
    text = " ".join(sentence for sentence, _ in window)
    fits = holds(text, kind_of(query), frozenset(tokens(query)))
    return Found(share_of(asked, everything), best, len(new), fits)


def grade(query: str, passage: str) -> int:
    """UMBRELA's grade, 0 to 3."""
    found = look(query, passage)
    if found.anywhere < RELATED:
        return 0
    if found.together < PARTLY or found.new < NEW:
        return 1
    # A query of a single telling word is found in much that does not answer it.
    telling = weigh(set(content(query))) > 1
    return 3 if found.together >= DEDICATED and found.fits and telling else 2


def _stuffed(passage: str) -> bool:
    words = content(passage)[:_HEAD]
    return len(words) > 20 and len(set(words)) / len(words) < VARIED


@rule_for(RelevanceGrade)
def relevance(question: RelevanceGrade) -> Relevance:
    """All three steps are the one grade: words tell topic and answer apart, but not trust."""
    found = grade(question.query, question.passage)
    return Relevance(match=found, trust=found, grade=found)
