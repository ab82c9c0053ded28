"""Does an answer match a reference?"""

from __future__ import annotations

from ragassay.judges.offline.language import (
    Piece,
    PreparedPassages,
    content,
    differ,
    evidence_sentences,
    is_number,
    lists,
    negated,
    piece,
    plain,
    sentences,
    share_of,
    tokens,
    versions,
    weight,
)
from ragassay.judges.offline.near_copies import contradiction, holding
from ragassay.judges.offline.refusals import says_idk
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import AnswerMatch, Match

SHORT = 5
"""Largest number of content words of a reference that must all be found, and close together."""

FOUND = 0.6
"""Share of a longer reference's weight, without the query's words, that must be found."""

_YES_NO = lists.patterns("begins_with_yes_or_no")
_TRUE = {"yes", "true", "ja", "oui", "si", "sí", "sì", "是", "是的", "はい"}


@rule_for(AnswerMatch, "answer", lambda _, answer: not answer.is_matching)
def match(question: AnswerMatch) -> Match | None:
    """True where the answer matches one of the references, and no wrong answer as well as this one.

    ``None`` where the question has instructions: rules about words cannot follow them.
    """
    if question.instructions:
        return None
    answer = " ".join(evidence_sentences(question.answer))
    right = [_matched(question.query, answer, reference) for reference in question.references]
    wrong = [_matched(question.query, answer, reference) for reference in question.wrong]
    best = max(right, default=0.0)
    worst = max(wrong, default=0.0)
    if not best:
        return Match(reasoning="The answer matches no reference.", is_matching=False)
    if worst >= best:
        return Match(
            reasoning="The answer matches a wrong answer as well as a reference.", is_matching=False
        )
    at = right.index(best)
    return Match(reasoning=f"The answer matches reference {at + 1}.", is_matching=True)


def _matched(query: str, answer: str, reference: str) -> float:
    """How well the answer matches the reference, from 0 (not at all) to 1."""
    wanted_text = plain(reference)
    if not tokens(answer) or not tokens(wanted_text):
        return 0.0
    same = tokens(answer) == tokens(wanted_text)
    if same and not differ(versions(wanted_text), versions(answer)):
        return 1.0
    if (says_idk(answer) == "yes") != (says_idk(wanted_text) == "yes"):
        return 0.0
    if says_idk(answer) == "yes":
        return 1.0
    own, wanted = _yes_no(answer), _yes_no(wanted_text)
    if own is not None and wanted is not None and own != wanted:
        return 0.0
    # A reference of the word "one" alone is the number.
    stems = content(wanted_text) or ["1"] * (tokens(wanted_text) == ["one"])
    asked = set(content(query))
    new = [stem for stem in stems if stem not in asked and weight(stem)] or stems
    if not new:
        return 1.0 if wanted is not None and own == wanted else 0.0
    return _share_found(answer, wanted_text, new)


def _share_found(answer: str, reference: str, new: list[str]) -> float:
    evidence = PreparedPassages((answer,))
    wanted = piece(reference)
    wanted = wanted if wanted.stems else Piece(tuple(new), frozenset(new))
    numbers = {stem for stem in wanted.strict if is_number(stem)}
    if not evidence.holds(numbers & set(new)) or not evidence.measures(wanted):
        return 0.0
    held = evidence.window(wanted) if len(new) <= SHORT else set(content(answer))
    share = share_of(new, set(held))
    if share < (1.0 if len(new) <= SHORT else FOUND):
        return 0.0
    against = _opposed(answer, reference, set(new)) or contradiction(reference, (answer,))
    return 0.0 if against else share


def _opposed(answer: str, reference: str, new: set[str]) -> bool:
    """Whether a sentence of the reference and all sentences that hold most of its words differ in
    being negated."""
    for sentence in sentences(reference):
        wanted = new.intersection(content(sentence))
        near = holding(wanted, answer)
        denied = negated(sentence, wanted)
        if near and all(negated(part, wanted) != denied for part in near):
            return True
    return False


def _yes_no(text: str) -> bool | None:
    """Whether a text begins with a yes or a no; ``None`` where with neither."""
    match = _YES_NO.match(text)
    return None if match is None else match.group(1).casefold() in _TRUE
