"""Does an answer answer, say that it does not know, or ask back?"""

from __future__ import annotations

from ragassay.judges.offline.refusals import asks_back, is_small_talk, says_idk
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import (
    AnswerAttempted,
    Attempt,
    Clarification,
    Idk,
    SaysIdk,
    SaysUnderspecified,
)


# "yes" says that there is no statement, "no" that there is no refusal.
@rule_for(SaysIdk, "answer", lambda _, answer: answer.says_idk != "partial")
def idk(question: SaysIdk) -> Idk:
    """``yes`` for refusals alone, ``partial`` for refusals with an answer, else ``no``.

    Small talk alone is ``yes`` as well, as the question's prompt says.
    """
    return Idk(says_idk=says_idk(question.answer, question.conversation))


@rule_for(AnswerAttempted, "answer", lambda _, answer: answer.answered == "no")
def attempted(question: AnswerAttempted) -> Attempt:
    """``yes`` for any answer that is no refusal; small talk is an answer to small talk."""
    if is_small_talk(question.answer) and is_small_talk(question.query):
        return Attempt(answered="yes")
    return Attempt(answered="no" if says_idk(question.answer, question.query) == "yes" else "yes")


@rule_for(SaysUnderspecified, "answer", lambda _, answer: answer.asks == "no")
def underspecified(question: SaysUnderspecified) -> Clarification:
    """``yes`` where the answer asks for what the query leaves open."""
    return Clarification(asks="yes" if asks_back(question.answer) else "no")
