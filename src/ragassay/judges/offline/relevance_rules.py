"""How relevant is a passage to a query: which words of the query it holds, how often, and together.

The query's own words, however often, are no answer: sentences that hold little besides them are
left out before anything is counted, and the higher grades need new words as well.

In a conversation all passages are about its subject. They differ in what the query adds to its
earlier turns, so a word that an earlier turn of the user had weighs less. A query without content
words is replaced by the latest turn that has some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ragassay.counts import grouped
from ragassay.judges.offline.language import (
    Kind,
    answers_by_name,
    content,
    evidence_sentences,
    holds,
    kind_of,
    names,
    sentences,
    subject,
    weigh,
    weight,
)
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import Relevance, RelevanceGrade

RELATED = 0.35
"""Share of a query's weight from which one sentence is near it: for nuggets, which examine
sentences."""

GRADES = (0.1, 0.2, 0.5)
"""Scores from which a passage has grade 1, 2 and 3 (see `QueryMatch.score`). A single sentence that
holds all of the query has two thirds."""

NAMED = 0.15
"""The same for grade 2, where one sentence names what the query is about and holds something of
the kind that it asks for: a sentence can name a book's author without the word "wrote"."""

NEW = 3
"""Content words, not the query's, that a window must hold for grades 2 and 3, unless one of them
is of the kind that the query asks for (a date, a number, a name)."""

FRESH = 1
"""Content words, not the query's, that a sentence must hold to be examined. It must also hold one
of the query's, so that text about something else changes nothing."""

VARIED = 0.25
"""Share of different words among a passage's content words, below which it only repeats words.
Long passages are judged by their first `_HEAD` words."""

GIVEN = 0.3
"""Weight of a word of the query that an earlier turn had, as a share of a new word's."""

MAIN = 0.5
"""Smallest weight of a sentence of the query that counts, as a share of the heaviest one's: thanks
do not count."""

POSITIVE = 2
"""From which grade a passage holds what is asked for."""

_TOGETHER = 1 / 3
"""Part of the score for words that share a sentence; the rest is for each word by itself."""

_REACH = 2
"""Words of the query after a word that should stand in one sentence with it."""

_HEAD = 120
_WINDOW = 3


class QueryMatch(NamedTuple):
    """How much of a query a passage holds.

    Attributes:
        score: 0 to 1. Two thirds of it: of a sentence of the query, the mean over its words, by
            their weights, of ``n / (n + 1)`` for a word in n sentences of the passage (its title is
            one). One third: the share of neighbouring words of the query that one sentence holds.
            Of several sentences of a query the best one counts.
        new: content words, not the query's, in the window of sentences that holds most of it.
        kind: the kind of answer that the query wants.
        fits: whether that window holds one.
        named: whether one sentence of the window names what the query is about, and holds one.
    """

    score: float = 0.0
    new: int = 0
    kind: Kind = "any"
    fits: bool = False
    named: bool = False


@lru_cache(maxsize=1024)
def _parts(query: str, earlier: tuple[str, ...]) -> tuple[Mapping[str, float], ...]:
    """The sentences of a query that count: the words of each in their order, with their weights."""
    earlier_words = frozenset(chain.from_iterable(map(subject, earlier)))
    parts = []
    for sentence in sentences(query):
        about = subject(sentence)
        parts.append(
            {
                word: weight(word) * (GIVEN if word in earlier_words else 1.0)
                for word in content(sentence)
                if word in about
            }
        )
    most = max((sum(part.values()) for part in parts), default=0.0)
    return tuple(part for part in parts if part and sum(part.values()) >= MAIN * most)


def _with_content(query: str, earlier: Sequence[str]) -> str:
    """The query, or where it has no content words the latest turn that has some."""
    return next((turn for turn in (query, *reversed(earlier)) if subject(turn)), query)


@lru_cache(maxsize=4096)
def look(query: str, passage: str, earlier: tuple[str, ...] = ()) -> QueryMatch:
    """How much of the query the passage holds.

    Args:
        query: the query.
        passage: a passage.
        earlier: the user's earlier turns, oldest first.
    """
    query = _with_content(query, earlier)
    asked = subject(query)
    parts = [(part, set(content(part))) for part in evidence_sentences(passage)]
    if not asked or not parts or _stuffed(passage):
        return QueryMatch()
    # A first line without a full stop is a title: it names the subject of all that follows.
    title = parts[0][1] if parts[0][0][-1] not in ".!?。" and len(parts) > 1 else set()
    examined = [
        (at, part, stems)
        for at, (part, stems) in enumerate(parts)
        if stems & asked and len(stems - asked) >= FRESH
    ]
    if not examined:
        return QueryMatch()
    titled = title & asked
    places = grouped((word, at) for at, _, stems in examined for word in stems & asked)
    window = _window(examined, asked, titled)
    kind = kind_of(query)
    fits = holds(" \n".join(part for _, part, _ in window), kind, asked)
    named = fits and any(
        names(query) <= title | stems and answers_by_name(part, kind, query)
        for _, part, stems in window
    )
    new = set[str]().union(*(stems for _, _, stems in window)) - asked
    score = max((_score(part, places, titled) for part in _parts(query, earlier)), default=0.0)
    return QueryMatch(score, len(new), kind, fits, named)


_Examined = tuple[int, str, set[str]]


def _window(parts: Sequence[_Examined], asked: Set[str], titled: Set[str]) -> Sequence[_Examined]:
    """The neighbouring sentences that hold most of the query's weight, the first of them."""
    beside = [stems & asked for _, _, stems in parts]
    best, window = -1, parts[:1]
    for start, (first, _, _) in enumerate(parts):
        near = [part for part in parts[start : start + _WINDOW] if part[0] < first + _WINDOW]
        heavy = weigh(set(titled).union(*beside[start : start + len(near)]))
        if heavy > best:
            best, window = heavy, near
    return window


def _score(
    part: Mapping[str, float], places: Mapping[str, Sequence[int]], titled: Set[str]
) -> float:
    """See `QueryMatch.score`.

    Args:
        part: the words of a sentence of the query, with their weights.
        places: in which sentences of the passage each word stands.
        titled: words of the title, which is one more sentence and together with all others.
    """
    counts = {word: len(places.get(word, ())) + (word in titled) for word in part}
    words = list(part)
    alone = total = together = pairs = 0.0
    for at, word in enumerate(words):
        n, heavy = counts[word], part[word]
        alone += heavy * n / (n + 1)
        total += heavy
        for other in words[at + 1 : at + 1 + _REACH]:
            both = heavy + part[other]
            pairs += both
            if not n or not counts[other]:
                continue
            if word in titled or other in titled or set(places[word]) & set(places[other]):
                together += both
    alone /= total
    return (1 - _TOGETHER) * alone + _TOGETHER * (together / pairs if pairs else alone)


def grade(query: str, passage: str, earlier: tuple[str, ...] = ()) -> int:
    """UMBRELA's grade of a passage, from 0 to 3.

    Args:
        query: its text.
        passage: its text.
        earlier: queries before it in the conversation.
    """
    match = look(query, passage, earlier)
    related, partly, dedicated = GRADES
    if match.score < related:
        return 0
    answers = match.fits and (match.kind != "any" or match.new >= NEW)
    enough = NAMED if match.named else partly
    if match.score < enough or not (answers or match.new >= NEW):
        return 1
    return 3 if match.score >= dedicated and answers else 2


def _stuffed(passage: str) -> bool:
    words = content(passage)[:_HEAD]
    return len(words) > 20 and len(set(words)) / len(words) < VARIED


@rule_for(RelevanceGrade, "passage", lambda _, answer: answer.grade < POSITIVE)
def relevance(question: RelevanceGrade) -> Relevance:
    """The grade, used for all three steps: words do not show how far a passage can be trusted."""
    grade_of_passage = grade(question.query, question.passage, question.earlier)
    return Relevance(match=grade_of_passage, trust=grade_of_passage, grade=grade_of_passage)
