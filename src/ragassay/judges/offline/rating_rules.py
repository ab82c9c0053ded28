"""How good is an answer, compared with a reference and passages (RB_llm), and for its user?"""

from __future__ import annotations

from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.language import (
    KINDS,
    content,
    evidence_sentences,
    holds,
    kind_of,
    share_of,
    subject,
)
from ragassay.judges.offline.refusals import is_small_talk, says_idk
from ragassay.judges.offline.rules import POSITIVE_STARS, rule_for
from ragassay.judges.questions import Rating, ReferenceRating, Satisfaction, Stars


def _rated_unsupported(question: ReferenceRating, _: Rating) -> bool:
    """Whether phrases without support lowered the rating."""
    if says_idk(question.answer) == "yes" or says_idk(question.reference) == "yes":
        return False
    share = supported_share(question.answer, (*question.passages, question.reference))
    return share is not None and share < 1


@rule_for(ReferenceRating, "passages", _rated_unsupported)
def rating(question: ReferenceRating) -> Rating:
    """The mean of the agreement with the reference and the support by the passages, as 1 to 10.

    Agreement is the harmonic mean of weighted word precision and recall. Where only one of answer
    and reference declines, the rating is 1; where both do, 10.
    """
    declines = says_idk(question.answer) == "yes"
    if declines != (says_idk(question.reference) == "yes"):
        return Rating(explanation="One of answer and reference declines to answer.", rating=1)
    if declines:
        return Rating(explanation="Answer and reference both decline to answer.", rating=10)
    agreement = _agreement(question.answer, question.reference)
    support = supported_share(question.answer, (*question.passages, question.reference))
    value = agreement if support is None else (agreement + support) / 2
    supported = (
        "nothing to support" if support is None else f"{support:.0%} of its phrases supported"
    )
    return Rating(
        explanation=f"Agreement with the reference {agreement:.0%}; {supported}.",
        rating=1 + round(9 * value),
    )


def _agreement(answer: str, reference: str) -> float:
    stems = {stem for part in evidence_sentences(answer) for stem in content(part)}
    wanted = {stem for part in evidence_sentences(reference) for stem in content(part)}
    precision, recall = share_of(stems, wanted), share_of(wanted, stems)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@rule_for(Satisfaction, "answer", lambda _, answer: answer.stars < POSITIVE_STARS)
def satisfaction(question: Satisfaction) -> Stars:
    """1 for a refusal, 2 for an answer about something else, 3 for one about the query, one more
    for the kind that is asked for, and one where it is complete; one less for a partial refusal.

    An answer is complete where it holds the kind that is asked for and names what the query is
    about, or where it goes into detail. Small talk has 5 as an answer to small talk, 1 otherwise.
    """
    query, answer = question.query, question.answer
    if is_small_talk(query) and is_small_talk(answer):
        return Stars(explanation="Small talk is answered with small talk.", stars=5)
    declines = says_idk(answer, query)
    if declines == "yes":
        return Stars(explanation="The response declines to answer.", stars=1)
    parts = evidence_sentences(answer)
    held = {stem for part in parts for stem in content(part)}
    asked = frozenset(content(query))
    kind = kind_of(query)
    fits = holds(" ".join(parts), kind, asked)
    share = share_of(subject(query), held)
    if not held or not (share >= _NEAR or (kind != "any" and fits)):
        return Stars(explanation="The response has little to do with the query.", stars=2)
    names_subject = kind != "any" and fits and share >= _NAMED
    complete = names_subject or len(held - asked) >= _DETAILED
    stars = 3 + fits + complete - (declines == "partial")
    words = "on the query"
    if kind != "any":
        words += f", {'' if fits else 'not '}of the kind asked for ({KINDS[kind]})"
    words += "; it declines in part" if declines == "partial" else ""
    return Stars(explanation=f"The response is {words}.", stars=stars)


_NEAR = 0.35
_NAMED = 0.75
"""Share of the query's word weight from which an answer names what the query is about."""
_DETAILED = 8
"""Content words without the query's, from which an answer goes into detail."""
