"""How relevant is a passage to a query? By what of the query stands together in it, and what else.

The query's own words, however often, are no answer: sentences that hold little besides them are
left out before anything is counted, and the higher grades ask for new words as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.evidence import names, share_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.wanted import Kind, answers_by_name, holds, kind_of, subject
from ragassay.judges.offline.words import WHOLE, content, weigh
from ragassay.judges.questions.relevance import Relevance, RelevanceGrade

RELATED, PARTLY, DEDICATED = 0.35, 0.6, 0.85
"""Share of the query's weight that must be found for grades 1 (in the passage), 2 and 3 (in one
window of it)."""

NAMED = 0.5
"""The same for grade 2, where one sentence names what the query is about and holds something of
the kind that it asks for: who wrote a book is told without the word "wrote"."""

NEW = 3
"""Content words beside the query's that a window must hold for grades 2 and 3, unless one of them
is of the kind that the query asks for (a date, a number, a name)."""

FRESH = 1
"""Content words beside the query's that a sentence must hold to be looked at at all. It must hold
one of the query's as well, so that text about something else changes nothing."""

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
        new: content words beside the query's in that window.
        kind: the kind of answer that the query wants.
        fits: whether that window holds one.
        named: whether one sentence of the window names what the query is about, and holds one.
    """

    anywhere: float = 0.0
    together: float = 0.0
    new: int = 0
    kind: Kind = "any"
    fits: bool = False
    named: bool = False


@lru_cache(maxsize=4096)
def look(query: str, passage: str) -> Found:
    """What of the query stands in the passage."""
    asked = subject(query)
    if not asked:
        return Found()
    parts = [(part, set(content(part))) for part in evidence_sentences(passage)]
    if not parts or _stuffed(passage):
        return Found()
    # A first line without a full stop is a title: it names the subject of all that follows.
    title = parts[0][1] if parts[0][0][-1] not in ".!?。" and len(parts) > 1 else set()
    kept = [
        (at, part, stems)
        for at, (part, stems) in enumerate(parts)
        if stems & asked and len(stems - asked) >= FRESH
    ]
    if not kept:
        return Found()
    best, window = -1.0, kept[:1]
    titled, beside = title & asked, [stems & asked for _, _, stems in kept]
    for start, (first, _, _) in enumerate(kept):
        near = [found for found in kept[start : start + _WINDOW] if found[0] < first + _WINDOW]
        share = share_of(asked, titled.union(*beside[start : start + len(near)]))
        if share > best:
            best, window = share, near
    everything = title.union(*(stems for _, _, stems in kept))
    new = set[str]().union(*(stems for _, _, stems in window)) - asked
    kind = kind_of(query)
    fits = holds(" \n".join(part for _, part, _ in window), kind, asked)
    named = fits and any(
        names(query) <= title | stems and answers_by_name(part, kind, query)
        for _, part, stems in window
    )
    return Found(share_of(asked, everything), best, len(new), kind, fits, named)


def grade(query: str, passage: str) -> int:
    """UMBRELA's grade, 0 to 3."""
    found = look(query, passage)
    if found.anywhere < RELATED:
        return 0
    answers = found.fits and (found.kind != "any" or found.new >= NEW)
    enough = NAMED if found.named else PARTLY
    if found.together < enough or not (answers or found.new >= NEW):
        return 1
    # A query of a single telling word is found in much that does not answer it.
    telling = weigh(sorted(subject(query))) > WHOLE
    return 3 if found.together >= DEDICATED and answers and telling else 2


def _stuffed(passage: str) -> bool:
    words = content(passage)[:_HEAD]
    return len(words) > 20 and len(set(words)) / len(words) < VARIED


@rule_for(RelevanceGrade)
def relevance(question: RelevanceGrade) -> Relevance:
    """All three steps are the one grade: words tell topic and answer apart, but not trust."""
    found = grade(question.query, question.passage)
    return Relevance(match=found, trust=found, grade=found)
