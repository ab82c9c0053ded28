"""Refusals, "I do not know" in place of queries and answers."""

from __future__ import annotations

import pytest

from ragassay.synthesis.filters import declined, no_answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I do not know.",
        "I'm sorry, I can't help with that.",
        "I refuse.",
        "I decline to answer.",
        "Sorry, no.",
        "The documents do not say what a card costs.",
        "As an AI language model I cannot access it.",
        "Je ne sais pas.",
        "我不知道。",
    ],
)
def test_a_text_without_an_answer_is_known(text: str) -> None:
    assert no_answer(text) and no_answer(text, "user: What does a card cost?")


@pytest.mark.parametrize(
    "text",
    [
        "No.",
        "0",
        "5 euros",
        "There is no fee.",
        "I'm sorry, the museum is closed on Mondays.",
        "I cannot say for sure, but the fee is 5 euros.",
        "I do not know who founded it, but the card costs 5 euros.",
    ],
)
def test_an_answer_stays_one(text: str) -> None:
    assert not no_answer(text) and not no_answer(text, "user: What does a card cost?")


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.",
        "I'm sorry, I can't help with that. Is there anything else I can help you with?",
        "I am unable to write a query from this passage. Could you provide more text?",
        "I must decline.",
        "Request refused",
        "There is no information in the passage from which to write a query.",
        "Das kann ich leider nicht beantworten.",
    ],
)
def test_a_refusal_to_write_a_query_is_known(text: str) -> None:
    assert declined(text)


@pytest.mark.parametrize(
    "text",
    [
        "I can't log in, what do I do?",
        "I cannot find my card. Could you tell me where I get one?",
        "I'm sorry, what is the fee?",
        "What does the library not know?",
        "Can you give me more information on the fees?",
        "Tell me what is not known about the founder.",
        "library opening hours",
        "Summarize the rules of the pool.",
    ],
)
def test_a_query_stays_one(text: str) -> None:
    assert not declined(text)
