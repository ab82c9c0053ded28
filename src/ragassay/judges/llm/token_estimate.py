"""About how many tokens a text has: for plans and budgets, before anything is sent. English prose
comes out within a tenth of what tokenizers count; code and tables a little low, other languages a
little high."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

from ragassay.judges.question import Question
from ragassay.transport.endpoints.endpoint import Message

ASCII, ALPHABETIC, WIDE = 4.0, 2.0, 1.0  # characters a token
PER_MESSAGE = 4  # tokens around each message: its role and its bounds

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    "\U00010000-\U0010ffff]"
)
_PLAIN = re.compile(r"[\x00-\x7f]")


def estimate(text: str) -> float:
    """About how many tokens ``text`` has; not rounded, so that estimates add up."""
    if text.isascii():  # a flag of the string: long English texts cost nothing
        return len(text) / ASCII
    plain, wide = len(_PLAIN.findall(text)), len(_WIDE.findall(text))
    return plain / ASCII + wide / WIDE + (len(text) - plain - wide) / ALPHABETIC


def of_messages(messages: Iterable[Message]) -> float:
    """The approximate number of tokens of a chat, with the tokens around its messages."""
    return sum(estimate(one["content"]) + PER_MESSAGE for one in messages)


def of_question(question: Question[Any], model: str = "", own: str = "") -> float:
    """The tokens of a question's prompt, the answer's schema included. The text around the data is
    the same for all questions of one shape, so it is rendered once: plans ask this a million
    times."""
    values = [one for name, one in question.data.items() if name not in question.unsent]
    shape = (type(question), own or question.template(model), tuple(map(_shape, values)))
    material = sum(map(_material, values))
    around = _around.get(shape)
    if around is None:
        put = of_messages(question.messages(model, own)) + of_schema(type(question))
        if len(_around) >= _SHAPES:
            _around.clear()
        around = _around[shape] = put - material
    return material + around


_SHAPES = 10_000
_around: dict[Hashable, float] = {}


def _shape(value: Any) -> Hashable:
    """What determines a prompt's own words: which texts there are, and how many."""
    if isinstance(value, str):
        return value != ""
    if isinstance(value, tuple | list):
        return tuple(map(_shape, value))
    return repr(value)


def _material(value: Any) -> float:
    if isinstance(value, str):
        return estimate(value)
    if isinstance(value, tuple | list):
        return sum(map(_material, value))
    return 0.0


@cache
def of_schema(cls: type[Question[Any]]) -> float:
    """About how many tokens it takes to say what the answer must look like."""
    return estimate(json.dumps(cls.schema(), separators=(",", ":")))
