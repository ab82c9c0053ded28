"""A judge that answers without asking: it finds out what a run would ask.

Metrics are walked with the smallest valid answer to each question and with the largest (and those
that fill lists by asking again, with the slowest). What all walks ask is certain; the rest depends
on what the real judge will say. Questions that a ledger can answer get that answer, as in the run.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ragassay.judges.asking import Ask, Asker, Scope
from ragassay.judges.judge import Judge
from ragassay.judges.llm import requests, token_estimate
from ragassay.judges.question import Question
from ragassay.judges.reply import R, R_co, Reply
from ragassay.judges.verdict import Failure, Provenance, Verdict, evidence_id
from ragassay.transport import Price

End = Literal["smallest", "largest", "slowest"]


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
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int


class Estimator:
    """Finds the demand of questions to a judge, each once until `clear`.

    Args:
        judge: who would be asked. Of it and of its leaves only `Judge.known` is called, and what
            says how a request would look.
        price: of all its models, instead of what the leaves say (`Judge.price`).
        fresh: whether the ledger is known to hold nothing of the leaves, so that none is asked what
            it knows: that takes most of the time.
    """

    def __init__(self, judge: Judge, price: Price | None = None, *, fresh: bool = False) -> None:
        self.judge = judge
        self._price = price
        self._fresh = fresh
        self._alone = judge.leaves() == (judge,)
        self._demands: dict[str, Demand] = {}

    def __getitem__(self, name: str) -> Demand:
        return self._demands[name]

    def demand(self, question: Question[Any], repeat: int) -> Demand:
        """The requests, tokens and money that a question takes.

        Args:
            question: that is asked.
            repeat: which time it is asked, from 0.
        """
        name = evidence_id(question, repeat)
        demand = self._demands.get(name)
        if demand is None:
            demand = self._demands[name] = self._estimate(question, repeat)
        return demand

    def clear(self) -> None:
        """Forgets all questions: what is remembered at once stays bounded."""
        self._demands.clear()

    def _estimate(self, question: Question[Any], repeat: int) -> Demand:
        known = None if self._fresh and self._alone else self.judge.known(question, repeat)
        asked = self.judge.requests(question, repeat)
        if known is not None:
            return Demand(question.kind, known, 0, len(asked), 0, 0, 0.0, 0)
        calls = held = unpriced = sent = received = 0
        cost = 0.0
        for leaf, own in asked:
            if not (self._alone or self._fresh) and leaf.known(question, own) is not None:
                held += 1
                continue
            size = math.ceil(
                token_estimate.of_question(question, leaf.model) + _form(type(question))
            )
            calls += 1
            sent += size
            received += question.output_tokens
            price = leaf.price if self._price is None else self._price
            if price is None:
                unpriced += 1
            else:
                cost += price.cost(size, question.output_tokens)
        return Demand(question.kind, None, calls, held, sent, received, cost, unpriced)


class PlanningJudge(Judge):
    """Answers with what is known, else with the smallest or largest answer that is possible.

    Attributes:
        asked: ids of the verdicts that it was asked for; whoever reads them clears them.
    """

    def __init__(self, estimator: Estimator, end: End) -> None:
        self.asked: set[str] = set()
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
        """The known verdict, or an answer that is made up for the plan. Costs nothing.

        Args:
            question: that is asked.
            repeat: which time it is asked, from 0.
        """
        self.asked.add(evidence_id(question, repeat))
        known = self._estimator.demand(question, repeat).known
        if known is not None:
            return known
        answer: R_co = getattr(question, self._end)()
        if self._end != "smallest":
            answer = _own(answer, question)
        return Verdict(question, answer, Provenance(self.label, attempts=0), repeat)


class PlanningAsker(Asker):
    """Asks a `PlanningJudge`, which answers at once: no tasks, and nothing is remembered."""

    def scope(self) -> Scope:
        """A scope that waits for nothing."""
        return _PlanningScope(self)


class _PlanningScope(Scope):
    def ask(self) -> Ask:
        return _PlanningAsk(self)

    async def verdict(self, question: Question[R], repeat: int) -> Verdict[R] | Failure:
        return await self.asker.judge.answer(question, repeat)


class _PlanningAsk(Ask):
    async def verdicts(self, questions: Sequence[Question[R]]) -> list[Verdict[R] | Failure]:
        return [await self.verdict(one) for one in questions]


@cache
def _form(cls: type[Question[Any]]) -> float:
    """The approximate number of tokens of the instruction on the form of the answer."""
    return token_estimate.estimate("\n\n" + requests.keys_wanted(cls))


def _own(answer: R, question: Question[R]) -> R:
    """The answer, with its free texts marked as answers to this very question.

    Two real answers never make the same claims in the same words. Two planned ones would, and the
    questions that follow from them would be counted as one.
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
    names = []
    for name, kind in reply.fields().items():
        inner = [one for one in typing.get_args(kind) if one is not Ellipsis]
        many = typing.get_origin(kind) in (tuple, list) and inner == [str]
        if many or kind is str:
            names.append(name)
    return tuple(names)
