"""Whatever the text: the offline judge answers validly, the same each time, and in bounded time."""

from typing import Any

from hypothesis import example, given, settings, strategies as st

from ragassay.judges import questions as asked
from ragassay.judges.offline.questions import answer_to
from ragassay.judges.question import Question

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
        asked.RelevanceGrade(one, other), asked.ExtractNuggets(one, some),
        asked.ExtractNuggets(one, some, some, most=2, words=3), asked.NuggetImportance(one, some),
        asked.AssignNuggets(one, other, some), asked.CitationSupport(one, other),
        asked.ExtractClaims(one, other), asked.ClaimSupport(some, (one, other)),
        asked.AnswerAttempted(one, other), asked.SaysIdk(one, other),
        asked.ReferenceRating("", one, other, one, some), asked.ReportOnContext(one, some),
        asked.AnswerMatch(one, other, some, (one,)),
    ]  # fmt: skip


@given(anything, anything, several)
@example("Who?", "Ann.", ("[1]",))  # a reference that is nothing but a citation
@settings(max_examples=60)
def test_any_text_gives_a_valid_answer(one: str, other: str, some: tuple[str, ...]) -> None:
    for question in questions(one, other, some):
        found = answer_to(question)
        assert isinstance(found, question.reply)
        assert question.check(found) == found
        assert question.reply.model_validate(found.model_dump()) == found
        assert answer_to(question) == found
