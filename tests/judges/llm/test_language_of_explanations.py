"""Explanations come in the query's language; ``language`` sets another one."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.llm.messages import build
from ragassay.judges.question import Question
from ragassay.judges.questions import AnswerMatch, RelevanceGrade
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import Secret

LINE = "Language of explanations: "
ENDPOINT = OpenAIChat("http://localhost:1/v1", Secret("", "NONE"))


def prompt(question: Question[Any], language: str = "") -> str:
    with Ledger(":memory:") as ledger:
        judge = LLMJudge(ENDPOINT, "m", ledger=ledger, language=language)
        made = build(judge, question, 0, frozenset())
    return str(made.prompt.messages[-1]["content"])


def match(query: str) -> AnswerMatch:
    return AnswerMatch(query, "At nine.", ("Nine",))


@pytest.mark.parametrize(
    ("query", "language", "name"),
    [
        ("Wann öffnet das Bad?", "", "German"),
        ("泳池几点开门？", "", "Chinese"),
        ("When does the pool open?", "de", "German"),
        ("When does the pool open?", "Klingon", "Klingon"),
        ("Wann öffnet das Bad?", "en", "English"),
    ],
)
def test_the_prompt_names_the_language(query: str, language: str, name: str) -> None:
    assert prompt(match(query), language).count(f"{LINE}{name}.") == 1


def test_an_english_query_adds_no_line_so_that_paid_answers_stay_valid() -> None:
    assert LINE not in prompt(match("When does the pool open?"))
    assert LINE not in prompt(match("5 + 7?"))


def test_a_question_without_an_explanation_has_no_line() -> None:
    question = RelevanceGrade("Wann öffnet das Bad?", "Um neun.")
    assert prompt(question, "de") == prompt(question)
