"""Does a passage support a statement?"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.judges.offline.language import (
    PreparedPassages,
    content,
    is_hostile,
    is_number,
    piece,
    plain,
)
from ragassay.judges.offline.near_copies import Kind, Nearness, contradiction
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import CitationSupport, Support

FULL, PARTIAL = 0.75, 0.4
"""Smallest share of the statement's weight in one window for full and for partial support."""

FREE = Nearness(held=0.6, within=0.0, spread=0.0, either=True)
"""How much of a statement and a sentence of its passage must match to speak of the same thing."""


@rule_for(
    CitationSupport,
    "passage",
    lambda question, answer: answer.support != "full" and not is_hostile(question.statement),
)
def citation(question: CitationSupport) -> Support:
    """Full where one window holds nearly all of it, with its numbers and names, and no sentence
    contradicts it."""
    statement = plain(question.statement)
    wanted = piece(statement)
    if not wanted.stems or is_hostile(statement):
        return Support(support="none")
    evidence = PreparedPassages((question.passage,))
    share = evidence.coverage(wanted)
    if share < PARTIAL:
        return Support(support="none")
    against = contradicted(statement, (question.passage,))
    if against in ("negation", "opposite", "roles"):
        return Support(support="none")
    if share < FULL or not evidence.exact(wanted) or against:
        return Support(support="partial")
    return Support(support="full")


def contradicted(sentence: str, passages: Sequence[str]) -> Kind | None:
    """The kind of contradiction between passages and a sentence, in near copies (as for claims) or
    in a freer wording; ``None`` for none.

    In a freer wording only two differences count: a negation, and another number in place of one
    that the passages lack.

    Args:
        sentence: its text.
        passages: texts that may contradict it.
    """
    kind = contradiction(sentence, passages)
    if kind is None:
        free = contradiction(sentence, passages, FREE)
        if free == "negation":
            return free
        numbers = set(filter(is_number, content(sentence)))
        if free == "number" and not PreparedPassages(passages).holds(numbers):
            return free
    return kind
