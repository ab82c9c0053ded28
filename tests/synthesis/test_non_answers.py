"""Refusals, "I do not know" in place of queries and answers."""

from __future__ import annotations

import pytest

from ragassay.synthesis.filters import declined, no_answer


@pytest.mark.parametrize(
    ("text", "is_none"),
    [
        ("", True),
        ("I do not know.", True),
        ("I'm sorry, I can't help with that.", True),
        ("I refuse.", True),
        ("I decline to answer.", True),
        ("Sorry, no.", True),
        ("The documents do not say what a card costs.", True),
        ("As an AI language model I cannot access it.", True),
        ("Je ne sais pas.", True),
        ("我不知道。", True),
        ("No.", False),
        ("0", False),
        ("5 euros", False),
        ("There is no fee.", False),
        ("I'm sorry, the museum is closed on Mondays.", False),
        ("I cannot say for sure, but the fee is 5 euros.", False),
        ("I do not know who founded it, but the card costs 5 euros.", False),
    ],
)
def test_a_text_without_an_answer_is_known(text: str, is_none: bool) -> None:
    assert no_answer(text) is no_answer(text, "user: What does a card cost?") is is_none


@pytest.mark.parametrize(
    ("text", "is_declined"),
    [
        ("I can't help with that.", True),
        ("I'm sorry, I can't help with that. Is there anything else I can help you with?", True),
        ("I am unable to write a query from this passage. Could you provide more text?", True),
        ("I must decline.", True),
        ("Request refused", True),
        ("There is no information in the passage from which to write a query.", True),
        ("Das kann ich leider nicht beantworten.", True),
        ("I can't log in, what do I do?", False),
        ("I cannot find my card. Could you tell me where I get one?", False),
        ("I'm sorry, what is the fee?", False),
        ("What does the library not know?", False),
        ("Can you give me more information on the fees?", False),
        ("Tell me what is not known about the founder.", False),
        ("library opening hours", False),
        ("Summarize the rules of the pool.", False),
    ],
)
def test_a_refusal_to_write_a_query_is_known(text: str, is_declined: bool) -> None:
    assert declined(text) is is_declined
