"""Does an answer say what a reference says?"""

from __future__ import annotations

import re

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.contradictions import contradiction, holding
from ragassay.judges.offline.evidence import Evidence, Piece, negated, piece, share_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.refusals import says_idk
from ragassay.judges.offline.texts import plain, sentences
from ragassay.judges.offline.values import is_number
from ragassay.judges.offline.words import content, tokens
from ragassay.judges.questions.matching import AnswerMatch, Match

SHORT = 5
"""Content words of a reference at most that must all be found, and close together."""

SAID = 0.6
"""Share of a longer reference's weight beyond the query's words that must be found."""

_YES_NO = re.compile(
    r"\W*(yes|no|true|false|ja|nein|oui|non|s[ií]|sì|是的?|不是?|否|はい|いいえ)\b", re.IGNORECASE
)
_TRUE = {"yes", "true", "ja", "oui", "si", "sí", "sì", "是", "是的", "はい"}


@rule_for(AnswerMatch)
def match(question: AnswerMatch) -> Match | None:
    """True where one of the references is said, and none of the wrong answers better than it.

    Nothing by instructions of the user's own: rules about words cannot follow them.
    """
    if question.instructions:
        return None
    answer = " ".join(evidence_sentences(question.answer))
    right = [_said(question.query, answer, reference) for reference in question.references]
    wrong = [_said(question.query, answer, reference) for reference in question.wrong]
    best = max(right, default=0.0)
    worst = max(wrong, default=0.0)
    if not best:
        return Match(reasoning="None of the references is said.", is_matching=False)
    if worst >= best:
        return Match(reasoning="A wrong answer is said as much as a reference.", is_matching=False)
    at = right.index(best)
    return Match(reasoning=f"Reference {at + 1} is said.", is_matching=True)


def _said(query: str, answer: str, reference: str) -> float:
    """How far the answer says the reference: 0 where it does not match it, else up to 1."""
    wanted_text = plain(reference)
    if not tokens(answer) or not tokens(wanted_text):
        return 0.0
    if tokens(answer) == tokens(wanted_text):
        return 1.0
    if (says_idk(answer) == "yes") != (says_idk(wanted_text) == "yes"):
        return 0.0
    if says_idk(answer) == "yes":
        return 1.0
    stand, wanted_stand = _stand(answer), _stand(wanted_text)
    if stand is not None and wanted_stand is not None and stand != wanted_stand:
        return 0.0
    # A reference of the word "one" alone is the number.
    stems = content(wanted_text) or ["1"] * (tokens(wanted_text) == ["one"])
    asked = set(content(query))
    new = [stem for stem in stems if stem not in asked] or stems
    if not new:
        return 1.0 if wanted_stand is not None and stand == wanted_stand else 0.0
    return _found(answer, wanted_text, new)


def _found(answer: str, reference: str, new: list[str]) -> float:
    evidence = Evidence((answer,))
    wanted = piece(reference)
    wanted = wanted if wanted.stems else Piece(tuple(new), frozenset(new))
    numbers = {stem for stem in wanted.strict if is_number(stem)}
    if not evidence.holds(numbers & set(new)) or not evidence.measures(wanted):
        return 0.0
    held = evidence.window(wanted) if len(new) <= SHORT else set(content(answer))
    share = share_of(new, set(held))
    if share < (1.0 if len(new) <= SHORT else SAID):
        return 0.0
    against = _opposed(answer, reference, set(new)) or contradiction(reference, (answer,))
    return 0.0 if against else share


def _opposed(answer: str, reference: str, new: set[str]) -> bool:
    """Whether all sentences that hold most of a sentence of the reference are negated otherwise
    than it."""
    for sentence in sentences(reference):
        wanted = new.intersection(content(sentence))
        near = holding(wanted, answer)
        denied = negated(sentence, wanted)
        if near and all(negated(part, wanted) != denied for part in near):
            return True
    return False


def _stand(text: str) -> bool | None:
    found = _YES_NO.match(text)
    return None if found is None else found.group(1).casefold() in _TRUE
