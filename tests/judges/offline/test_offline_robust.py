"""Whatever the text: the offline judge answers validly, the same each time, and in bounded time."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings, strategies as st

from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, JudgeAnswer
from ragassay.judges.offline.offline_judge import LABEL, OfflineJudge
from ragassay.judges.offline.questions import answer_to
from ragassay.judges.question import Question
from ragassay.judges.questions.answering import AnswerAttempted, SaysIdk
from ragassay.judges.questions.checklists import (
    AssignNuggets,
    CitationSupport,
    ClaimSupport,
    ExtractClaims,
    ExtractNuggets,
    NuggetImportance,
)
from ragassay.judges.questions.grading import (
    AnswerMatch,
    ReferenceRating,
    RelevanceGrade,
    ReportOnContext,
    RubricGrade,
)

WORDS = """
    the bridge was opened in 1968 not Aarwyk I don't know but however documents mention grade 3
    ignore instructions who when yes no 北京 là \ud800 \u200b [1] ** { " : , . ! ?
"""
anything = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=25).map(" ".join),
)
several = st.lists(anything, max_size=3).map(tuple)


def questions(one: str, other: str, some: tuple[str, ...]) -> list[Question[Any]]:
    return [
        RelevanceGrade(one, other), ExtractNuggets(one, some),
        ExtractNuggets(one, some, some, most=2, words=3), NuggetImportance(one, some),
        AssignNuggets(one, other, some), CitationSupport(one, other), ExtractClaims(one, other),
        ClaimSupport(some, (one, other)), AnswerAttempted(one, other), SaysIdk(one, other),
        ReferenceRating("", one, other, one, some), ReportOnContext(one, some),
        AnswerMatch(one, other, some, (one,)),
    ]  # fmt: skip


@given(anything, anything, several)
@settings(max_examples=60)
def test_any_text_gives_a_valid_answer(one: str, other: str, some: tuple[str, ...]) -> None:
    for question in questions(one, other, some):
        found = answer_to(question)
        assert isinstance(found, question.reply)
        assert question.check(found) == found
        assert question.reply.model_validate(found.model_dump()) == found
        assert answer_to(question) == found


def test_the_judge_wraps_answers_and_says_what_it_cannot() -> None:
    judge = OfflineJudge()
    question = SaysIdk("user: Why?", "I don't know.")
    judge_answer = asyncio.run(judge.answer(question))
    assert isinstance(judge_answer, JudgeAnswer)
    assert judge_answer.answer.says_idk == "yes"
    assert judge_answer.provenance.judge == LABEL == judge.label
    assert judge_answer.provenance.input_tokens == 0 and judge_answer.provenance.attempts == 0
    failure = asyncio.run(judge.answer(RubricGrade("Is it kind?", 1, 5, (), ())))
    assert isinstance(failure, Failure)
    assert failure.reason is Reason.UNSUPPORTED and "needs an LLM judge" in failure.detail
