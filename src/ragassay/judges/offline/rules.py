"""The rule that answers each type of question, and what its answer says about a text that it did
not read to the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

from ragassay import discovery
from ragassay.judges.question import Question
from ragassay.judges.reply import Reply

Answer = Callable[[Any], Reply | None]
"""From a question to its answer; ``None`` where rules about words cannot answer this question."""

F = TypeVar("F", bound=Answer)

POSITIVE_STARS = 4
"""From how many stars of five a text holds what is asked for."""


class Rule(NamedTuple):
    """How a type of question is answered.

    Attributes:
        answer: gives the answer.
        field: the field of the question whose texts the answer says something about.
        absent: whether an answer to a question says that something is absent from these texts.
    """

    answer: Answer
    field: str
    absent: Callable[[Any, Any], bool]


_RULES: dict[type[Question[Any]], Rule] = {}


def rule_for(
    cls: type[Question[Any]],
    field: str = "",
    absent: Callable[[Any, Any], bool] = lambda question, answer: False,
) -> Callable[[F], F]:
    """Registers a function as the answer to a type of question; see `Rule`."""

    def keep(answer: F) -> F:
        _RULES[cls] = Rule(answer, field, absent)
        return answer

    return keep


@cache
def rules() -> dict[type[Question[Any]], Rule]:
    """All rules, by the type of question that they answer."""
    for _ in discovery.modules("ragassay.judges.offline"):
        pass
    return _RULES


def answer_to(question: Question[Any]) -> Any | None:
    """The rules' answer, or ``None`` where there is none."""
    rule = rules().get(type(question))
    return None if rule is None else rule.answer(question)
