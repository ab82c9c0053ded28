from __future__ import annotations

from typing import Annotated, Literal

import pytest

from ragassay.judges import Question, Reply, whole_number
from ragassay.judges.schema_bounds import extreme


class Inner(Reply):
    flag: bool


class Everything(Reply):
    grade: Annotated[int, *whole_number(1, 5)]
    label: Literal["low", "high"]
    why: str
    inner: Inner
    several: tuple[Inner, ...]
    perhaps: str | None


def test_every_field_stands_at_its_end() -> None:
    small, large = (extreme(Everything, largest=one) for one in (False, True))
    assert (small.grade, large.grade) == (1, 5)
    assert (small.label, large.label) == ("low", "high")
    assert (small.inner.flag, large.inner.flag) == (False, True)
    assert (small.several, len(large.several)) == ((), 1)
    assert small.perhaps is None and large.perhaps == "text"
    for one in (small, large):
        assert Everything.model_validate_json(one.model_dump_json()) == one


def test_a_question_of_ones_own_needs_no_more_than_kind_reply_and_prompt() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Own(Question[Everything]):
        text: str

        kind, reply = "own", Everything
        prompt = "--- user ---\nJudge this. {{ rule }}\n{{ text | data('text') }}"

    question = Own("{{ 1 + 1 }}")
    (message,) = question.messages()
    assert message["role"] == "user" and "\n{{ 1 + 1 }}\n</data" in message["content"]
    assert question.largest().grade == 5
    before = question.prompt_hash()
    Own.prompt = Own.prompt.replace("Judge", "Grade")
    assert question.prompt_hash() != before


def test_a_type_without_ends_says_so() -> None:
    class Odd(Reply):
        made: dict[str, int]

    with pytest.raises(TypeError, match="dict"):
        extreme(Odd, largest=True)
