"""A judge that answers without asking: it finds out what a run would ask.

Metrics are walked twice, once with the smallest valid answer to each question and once with the
largest. What both walks ask is certain; the rest depends on what the real judge will say. Questions
that a ledger can answer get that answer, as they will in the run.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from ragassay.judges import tokens
from ragassay.judges.judge import Judge
from ragassay.judges.prices import Price
from ragassay.judges.question import Question, R_co, Reply
from ragassay.judges.verdict import Failure, Provenance, Verdict, evidence_id

End = Literal["smallest", "largest"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What a question asks of judges.

    Attributes:
        kind: of the question.
        known: what the ledger (or a rule, or a file) says already.
        calls: requests to send, one a judge that has no answer yet; retries are not foreseen.
        held: answers that the ledger has and that cost nothing.
        input_tokens, output_tokens: of the requests to send, estimated.
        cost: US dollars, of the requests with a known price.
        unpriced: requests without one.
    """

    kind: str
    known: Verdict[Any] | Failure | None
    calls: int
    held: int
    input_tokens: float
    output_tokens: float
    cost: float
    unpriced: int


class Estimator:
    """Finds the demand of questions to a judge, each once until `clear`.

    Args:
        judge: who would be asked. Nothing but `Judge.known` of it and of its leaves is called.
        price_of: the price of a leaf, ``None`` where none is known.
    """

    def __init__(self, judge: Judge, price_of: Callable[[Judge], Price | None]) -> None:
        self.judge = judge
        self._leaves = [(leaf, price_of(leaf)) for leaf in judge.leaves()]
        self._found: dict[str, Demand] = {}

    def __getitem__(self, name: str) -> Demand:
        return self._found[name]

    def demand(self, question: Question[Any], repeat: int) -> Demand:
        """The demand of a question."""
        name = evidence_id(question, repeat)
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._estimate(question, repeat)
        return found

    def clear(self) -> None:
        """Forgets all questions: what is remembered at once stays bounded."""
        self._found.clear()

    def _estimate(self, question: Question[Any], repeat: int) -> Demand:
        known = self.judge.known(question, repeat)
        if known is not None:
            return Demand(question.kind, known, 0, len(self._leaves), 0.0, 0.0, 0.0, 0)
        calls = held = unpriced = 0
        sent = received = cost = 0.0
        sizes: dict[str, float] = {}
        for leaf, price in self._leaves:
            if leaf is not self.judge and leaf.known(question, repeat) is not None:
                held += 1
                continue
            template = question.template(leaf.model)
            if template not in sizes:
                messages = question.messages(leaf.model)
                sizes[template] = tokens.of_messages(messages) + tokens.of_schema(type(question))
            size = sizes[template]
            calls += 1
            sent += size
            received += question.output_tokens
            if price is None:
                unpriced += 1
            else:
                cost += price.cost(size, question.output_tokens)
        return Demand(question.kind, None, calls, held, sent, received, cost, unpriced)


class PlanningJudge(Judge):
    """Answers with what is known, else with the smallest or the largest answer there is."""

    def __init__(self, estimator: Estimator, end: End) -> None:
        self._estimator = estimator
        self._end = end

    @property
    def label(self) -> str:
        """``plan``."""
        return "plan"

    @property
    def model(self) -> str:
        """The model of the judge that is planned for."""
        return self._estimator.judge.model

    def leaves(self) -> tuple[Judge, ...]:
        """None: it sends nothing."""
        return ()

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The answer that costs nothing."""
        known = self._estimator.demand(question, repeat).known
        if known is not None:
            return known
        if self._end == "smallest":
            answer = question.smallest()
        else:
            answer = _own(question.largest(), question)
        return Verdict(question, answer, Provenance(self.label, attempts=0), repeat)


def _own(answer: R_co, question: Question[Any]) -> R_co:
    """The answer with its free texts marked as answers to this very question.

    Two real answers never claim the same in the same words; two planned ones would, and the
    questions that follow from them would be taken for one.
    """
    names = [name for name in _free_texts(type(answer)) if getattr(answer, name)]
    if not names:
        return answer
    code = question.key[:8]
    return answer.model_copy(update={name: _marked(getattr(answer, name), code) for name in names})


def _marked(value: str | tuple[str, ...] | list[str], code: str) -> object:
    if isinstance(value, str):
        return f"{value}-{code}"
    return type(value)(f"{item}-{code}" for item in value)


@cache
def _free_texts(reply: type[Reply]) -> tuple[str, ...]:
    """The fields of an answer that hold any text, or any number of texts."""
    found = []
    for name, field in reply.model_fields.items():
        inner = [one for one in typing.get_args(field.annotation) if one is not Ellipsis]
        many = typing.get_origin(field.annotation) in (tuple, list) and inner == [str]
        if many or cast(object, field.annotation) is str:
            found.append(name)
    return tuple(found)
