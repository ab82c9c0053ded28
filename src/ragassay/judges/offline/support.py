"""Does a passage support a statement, and does it contradict an answer?"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.evidence import Evidence, Piece, negated, piece
from ragassay.judges.offline.hostile import evidence_sentences, is_hostile
from ragassay.judges.offline.texts import plain, sentences
from ragassay.judges.offline.values import is_number
from ragassay.judges.offline.words import content, weigh, weight
from ragassay.judges.questions.report import Contradiction, Stars
from ragassay.judges.questions.support import CitationSupport, Support

FULL, PARTIAL = 0.75, 0.4
"""Share of the statement's weight that one window must hold."""

SAME = 0.7
"""Share of a sentence's weight in a single sentence of the context, from which the two speak of
the same thing, so that a different number or a negation contradicts."""


@rule_for(CitationSupport)
def citation(question: CitationSupport) -> Support:
    """Full where nearly all stands in one window, with its numbers and names; never against it."""
    statement = plain(question.statement)
    wanted = piece(statement)
    if not wanted.stems or is_hostile(statement):
        return Support(support="none")
    evidence = Evidence((question.passage,))
    share = evidence.coverage(wanted)
    if share < PARTIAL:
        return Support(support="none")
    against = contradiction(wanted, statement, question.passage)
    if against == "negation":
        return Support(support="none")
    if share < FULL or not evidence.exact(wanted) or against:
        return Support(support="partial")
    return Support(support="full")


def contradiction(wanted: Piece, said: str, passage: str) -> Literal["number", "negation"] | None:
    """How the most similar sentence of a passage contradicts a sentence, if it does.

    ``negation``: one of the two is negated and the other is not. ``number``: the sentence has a
    number that the passage has nowhere, where the similar sentence has another one.
    """
    closest, share, numbers = _closest(wanted, passage)
    if share < SAME:
        return None
    stems = set(content(closest))
    common = stems & set(wanted.stems)
    if negated(closest, common) != negated(said, common):
        return "negation"
    others = {stem for stem in stems if is_number(stem)}
    return "number" if numbers and others - wanted.strict else None


@lru_cache(maxsize=4096)
def _closest(wanted: Piece, passage: str) -> tuple[str, float, frozenset[str]]:
    """The most similar sentence, how similar it is, and the numbers that the passage lacks.

    Similar is what holds the words of the other, whichever holds the other: words around one of
    them make no difference.
    """
    numbers = frozenset(stem for stem in wanted.strict if is_number(stem))
    words = sorted(stem for stem in wanted.stems if stem not in numbers)
    if len(words) < _FEW:
        return "", 0.0, numbers
    told = _told(passage)
    missing = frozenset(stem for stem in numbers if stem not in told.places)
    held: dict[int, int] = {}
    for stem in words:
        heavy = weight(stem)
        for at in told.places.get(stem, ()):
            held[at] = held.get(at, 0) + heavy
    whole, best, closest = weigh(words), 0.0, ""
    for at in sorted(held):
        one = told.sentences[at]
        share = held[at] / (min(whole, one.weight) if one.long else whole)
        if share > best:
            best, closest = share, one.text
    return closest, best, missing


class _Sentence(NamedTuple):
    text: str
    weight: int
    long: bool


class _Told(NamedTuple):
    """A passage's different sentences, and in which of them each stem stands."""

    sentences: list[_Sentence]
    places: dict[str, list[int]]


@lru_cache(maxsize=1024)
def _told(passage: str) -> _Told:
    told = _Told([], {})
    for sentence in dict.fromkeys(evidence_sentences(passage)):
        stems = set(content(sentence))
        for stem in stems:
            told.places.setdefault(stem, []).append(len(told.sentences))
        told.sentences.append(_Sentence(sentence, weigh(sorted(stems)), len(stems) >= 2 * _FEW))
    return told


_FEW = 2
"""Content words below which sentences are too short to be compared; twice as many where one is
looked for inside the other."""


@rule_for(Contradiction)
def contradicts(question: Contradiction) -> Stars:
    """5 where nothing contradicts; one star less for each fourth, of the sentences that the
    context speaks of, that does. Sentences about something else count for nothing."""
    spoken = 0
    against: list[str] = []
    for sentence in sentences(plain(question.answer)):
        wanted = piece(sentence)
        shares = [_closest(wanted, chunk)[1] for chunk in question.chunks]
        if max(shares, default=0.0) < PARTIAL:
            continue
        spoken += 1
        if any(contradiction(wanted, sentence, chunk) for chunk in question.chunks):
            against.append(sentence)
    if not against:
        return Stars(explanation="No sentence of the context says otherwise.", stars=5)
    stars = 5 - max(1, round(4 * len(against) / spoken))
    detail = f"{len(against)} of {spoken} sentences differ from the context: {against[0]}"
    return Stars(explanation=detail, stars=stars)
