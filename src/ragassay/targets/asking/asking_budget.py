"""What asking may cost: a reservation for each request, of what the dearest answer so far took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.base.score import Reason
from ragassay.targets.target import SystemReply
from ragassay.transport.accounts import Stopped
from ragassay.transport.budget import Budget, Reservation
from ragassay.transport.endpoints import Completion
from ragassay.transport.prices import Price

_CHARACTERS = 3.0
"""Of a request, to a token: rather too few than too many."""

_WRITTEN = 1_000
"""Tokens that an answer of a model with a list price takes, until there is a longer one."""

_UNTOLD = {
    "dollars": "what an answer costs. Let it tell that in US dollars: in a mapping file "
    "'usage: {cost: PATH}', of a function, command or tool the key 'cost' beside 'answer'.",
    "tokens": "how many an answer takes. Let it tell that: in a mapping file 'usage: "
    "{input_tokens: PATH, output_tokens: PATH}', of a function, command or tool 'usage' with these "
    "keys beside 'answer'.",
}
"""What a system does not tell of its answers, and how it can, by the unit of the budget."""


class AskingBudget:
    """An `Account`: what one system may spend of a budget that all share. Used on one event loop.

    Until the first answer shows what one takes, the first request reserves all that is left, so
    that no other is sent beside it (unless its model has a list price).

    Args:
        budget: of all systems.
        price: of the system's model, where it has a list price.
    """

    def __init__(self, budget: Budget, price: Price | None) -> None:
        self._budget, self._price = budget, price
        self._dearest: float | None = None
        self._longest: int | None = None

    def check(self, body: bytes, input_tokens: float = 0, output_tokens: float = 0) -> None:
        """Refuses what does not fit into the budget; see `Account`."""
        likely = self._likely(body)
        is_left = self._budget.dollars is None or self._budget.spent_dollars < self._budget.dollars
        if not ((is_left or likely[0] == 0.0) and self._budget.fits(*likely)):
            raise Stopped(Reason.BUDGET, self._spent(*likely))

    async def claim(
        self, body: bytes, input_tokens: float = 0, output_tokens: float = 0
    ) -> Reservation:
        """Reserves what an attempt may take by earlier answers; see `Account`."""
        while True:
            self.check(body)
            reservation = await self._budget.claim(*self._likely(body))
            if reservation is not None:
                return reservation

    def learn(self, measured: Mapping[str, Any]) -> None:
        """Takes note of what an answer of an earlier run took, so that this run need not find out.

        Args:
            measured: what was measured of it (`stored_answer`).
        """
        is_counted = "input_tokens" in measured and "output_tokens" in measured
        tokens = measured["input_tokens"] + measured["output_tokens"] if is_counted else None
        self._note(measured.get("cost"), tokens)

    def _note(self, cost: float | None, tokens: int | None) -> None:
        """Raises what the dearest and the longest answer took."""
        if cost is not None:
            self._dearest = max(self._dearest or 0.0, cost)
        if tokens is not None:
            self._longest = max(self._longest or 0, tokens)

    def settle(
        self, pay: Reservation, completion: Completion | None, *, free: bool, sent: bool
    ) -> str | None:
        """Ends a reservation with the cost and the tokens of the answer; see `Account`."""
        if completion is None:
            # One that nobody knows the price of had reserved all that was left.
            if free or (self._dearest is None and self._price is None):
                self._budget.settle(pay, None, 0, int(sent))
            else:
                self._budget.forfeit(pay)
            return None
        assert isinstance(completion, SystemReply)
        counted = completion.input_tokens + completion.output_tokens
        self._note(completion.cost, counted if completion.counted else None)
        # An answer without its cost or tokens counts like the dearest and longest so far.
        cost = self._dearest if completion.cost is None else completion.cost
        tokens = counted if completion.counted else self._longest
        # Of an answer that gives one of the two counts of tokens, that one counts.
        self._budget.settle(pay, cost, max(tokens or 0, counted))
        for unit, amount in {"dollars": cost, "tokens": tokens}.items():
            if amount is None and getattr(self._budget, unit) is not None:
                other = "tokens, which it tells ('2M tokens'), or " if completion.counted else ""
                return (
                    f"the budget is in {unit}, and the system does not tell {_UNTOLD[unit]} Or "
                    f"give a budget in {other}calls ('200 calls')."
                )
        return None

    def _spent(self, dollars: float, tokens: int) -> str:
        """Why a request does not fit any more, and what to do."""
        budget, next_one = self._budget, ""
        if budget.dollars is not None and budget.spent_dollars < budget.dollars:
            next_one = f"; the next answer may take ${dollars:.2g}"
        elif budget.tokens is not None and budget.spent_tokens < budget.tokens:
            next_one = f"; the next answer may take {tokens:,} tokens"
        return (
            f"the budget is spent ({budget.describe()}{next_one}). The same command asks what is "
            "missing, with a budget of its own."
        )

    def _likely(self, body: bytes) -> tuple[float, int]:
        """Dollars and tokens of a request, as far as can be known."""
        budget, read = self._budget, len(body) / _CHARACTERS
        dollars, tokens = self._dearest, self._longest
        if self._price is not None:
            dollars = max(dollars or 0.0, self._price.cost(read, _WRITTEN))
            tokens = max(tokens or 0, int(read) + _WRITTEN)
        if dollars is None:
            dollars = max(0.0, (budget.dollars or 0.0) - budget.spent_dollars)
        if tokens is None:
            tokens = max(1, (budget.tokens or 0) - budget.spent_tokens)
        return dollars, tokens
