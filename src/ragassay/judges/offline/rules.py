"""The rule that answers each type of question."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from ragassay import discovery
from ragassay.judges.question import Question
from ragassay.judges.reply import Reply

Rule = Callable[[Any], Reply | None]
"""From a question to its answer; ``None`` where rules about words cannot answer this question."""

F = TypeVar("F", bound=Rule)
_RULES: dict[type[Question[Any]], Rule] = {}


def rule_for(cls: type[Question[Any]]) -> Callable[[F], F]:
    """Registers a function as the answer to a type of question."""

    def keep(rule: F) -> F:
        _RULES[cls] = rule
        return rule

    return keep


def answer_to(question: Question[Any]) -> Any | None:
    """The rules' answer, or ``None`` where there is none."""
    _load()
    rule = _RULES.get(type(question))
    return None if rule is None else rule(question)


@cache
def _load() -> None:
    for _ in discovery.modules("ragassay.judges.offline"):
        pass
