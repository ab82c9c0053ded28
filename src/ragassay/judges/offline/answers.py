"""Who answers which question: a rule for each type."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ragassay import discovery
from ragassay.judges.question import Question, R, Reply

Rule = Callable[[Any], Reply]
_RULES: dict[type[Question[Any]], Rule] = {}


def rule_for(cls: type[Question[Any]]) -> Callable[[Callable[[Any], R]], Callable[[Any], R]]:
    """Registers a function as the answer to a type of question."""

    def keep(rule: Callable[[Any], R]) -> Callable[[Any], R]:
        _RULES[cls] = rule
        return rule

    return keep


def answer_to(question: Question[Any]) -> Any | None:
    """The rules' answer, or ``None`` where there is no rule."""
    _load()
    rule = _RULES.get(type(question))
    return None if rule is None else rule(question)


@cache
def _load() -> None:
    for _ in discovery.modules("ragassay.judges.offline"):
        pass
