"""Does a passage support a statement, and does it contradict an answer?"""

from __future__ import annotations

from typing import Literal

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.evidence import Evidence, Piece, negated, piece, share_of
from ragassay.judges.offline.hostile import evidence_sentences, is_hostile
from ragassay.judges.offline.texts import plain, sentences
from ragassay.judges.offline.words import content
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
    if share < FULL or not evidence.holds(wanted.strict) or against:
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
    others = {stem for stem in stems if stem[0].isdigit()}
    return "number" if numbers and others - wanted.strict else None


def _closest(wanted: Piece, passage: str) -> tuple[str, float, set[str]]:
    """The most similar sentence, how similar it is, and the numbers that the passage lacks.

    Similar is what holds the words of the other, whichever holds the other: words around one of
    them make no difference.
    """
    numbers = {stem for stem in wanted.strict if stem[0].isdigit()}
    words = {stem for stem in wanted.stems if stem not in numbers}
    best, closest = 0.0, ""
    missing = set(numbers)
    if len(words) < _FEW:
        return closest, best, missing
    for sentence in evidence_sentences(passage):
        stems = set(content(sentence))
        missing -= stems
        share = share_of(words, stems)
        if len(stems) >= 2 * _FEW:
            share = max(share, share_of(stems, words))
        if share > best:
            best, closest = share, sentence
    return closest, best, missing


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
