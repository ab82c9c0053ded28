"""A judge that asks nobody: it finds out what a run would ask.

Where the answer to a question is known already (from a ledger, a rule or a file), that is its
answer. Any other has none, which ends its metric: what was asked until then is certain. Or it has a
stand-in at one end (`Question.stand_in`): what is asked after those may be asked.
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError
from typing_extensions import override

from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance, evidence_id
from ragassay.judges.llm.messages import keys_wanted, tokens_of, tokens_of_question
from ragassay.judges.question import Question, R_co
from ragassay.transport.providers_and_prices import Price

NOT_ASKED = Reason.BUDGET
"""Why a question of a plan has no answer: it would have to be sent. No ledger keeps this reason."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What the answer to a question takes: the answer or failure that is ``known`` without a
    request, or ``calls`` (one a judge that has no answer yet, without retries), their estimated
    tokens and ``cost`` in US dollars (without the ``unpriced`` ones). ``held`` answers of judges
    are in the ledger."""

    kind: str
    known: JudgeAnswer[Any] | Failure | None
    calls: int = 0
    held: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0


class PlanningJudge(Judge):
    """Answers with what another judge (whose `Judge.known` alone is called) knows without a
    request, and finds the demand of the rest: ``demands`` by the id of the answer; whoever reads
    them clears them. ``price`` is of all its models, in place of what the leaves say. ``largest``:
    at which end the stand-ins for other answers are; ``None``: there are none. `at` makes another
    with the same demands."""

    label = "plan"
    remembered = False

    largest: bool | None = None

    def __init__(self, judge: Judge, price: Price | None) -> None:
        self.demands: dict[str, Demand] = {}
        self._judge, self._price = judge, price

    def at(self, *, largest: bool) -> PlanningJudge:
        """The same with stand-ins for answers, at their smallest or largest."""
        other = copy(self)
        other.largest = largest
        return other

    @override
    def leaves(self) -> tuple[Judge, ...]:
        return ()

    @override
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        provenance = Provenance(self.label, attempts=0)
        name = evidence_id(question, repeat)
        if name not in self.demands:
            self.demands[name] = self._estimate(question, repeat)
        if known := self.demands[name].known:
            return known
        if self.largest is not None:
            with suppress(ValidationError):  # of a form that only its own class can fill in
                reply = cast(R_co, question.stand_in(largest=self.largest))
                return JudgeAnswer(question, reply, provenance, repeat)
        return Failure(question, NOT_ASKED, "a plan asks nobody", provenance, repeat)

    def _estimate(self, question: Question[Any], repeat: int) -> Demand:
        asked = self._judge.requests(question, repeat)
        results = [leaf.known(question, own) for leaf, own in asked]
        if None not in results:
            alone = self._judge.leaves() == (self._judge,)
            result = results[0] if alone else self._judge.known(question, repeat)
            return Demand(question.kind, result, held=len(asked))
        models = [leaf for (leaf, _), answer in zip(asked, results, strict=True) if answer is None]
        form = tokens_of("\n\n" + keys_wanted(type(question)))
        kind, size = question.kind, tokens_of_question
        needs = (size(question, leaf.model, leaf.prompts.get(kind, "")) for leaf in models)
        sizes = [math.ceil(need + form) for need in needs]
        prices = [leaf.price if self._price is None else self._price for leaf in models]
        received = question.output_tokens
        return Demand(
            kind,
            known=None,
            calls=len(models),
            held=len(asked) - len(models),
            input_tokens=sum(sizes),
            output_tokens=received * len(models),
            cost=sum(p.cost(n, received) for p, n in zip(prices, sizes, strict=True) if p),
            unpriced=prices.count(None),
        )
