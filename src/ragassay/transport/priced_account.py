"""Pays for requests to a model by its price and its tokens."""

from __future__ import annotations

from ragassay.scores import Reason
from ragassay.transport.budget import Budget, Reservation
from ragassay.transport.endpoints import Completion
from ragassay.transport.prices import Price
from ragassay.transport.sending import Stopped


class PricedAccount:
    """An `Account` of one model. Used on one event loop.

    Args:
        budget: of the run.
        price: of the model, or ``None`` where it is not known.
    """

    def __init__(self, budget: Budget, price: Price | None) -> None:
        self._budget, self._price = budget, price

    def check(self, body: bytes, input_tokens: float, output_tokens: float) -> None:
        """Refuses what does not fit into the budget; see `Account`."""
        if not self._budget.fits(*self._likely(input_tokens, output_tokens)):
            raise self._spent()

    async def claim(self, body: bytes, input_tokens: float, output_tokens: float) -> Reservation:
        """Reserves the price of the tokens that an attempt plausibly takes; see `Account`."""
        pay = await self._budget.claim(*self._likely(input_tokens, output_tokens))
        if pay is None:
            raise self._spent()
        return pay

    def settle(
        self, pay: Reservation, completion: Completion | None, *, free: bool, sent: bool
    ) -> None:
        """Ends a reservation with what the endpoint counted; see `Account`."""
        if free:
            self._budget.settle(pay, None, 0, int(sent))
        elif completion is None or not completion.counted:
            self._budget.forfeit(pay)
        else:
            read, written = completion.input_tokens, completion.output_tokens
            dollars = None if self._price is None else self._price.cost(read, written)
            self._budget.settle(pay, dollars, read + written)

    def _likely(self, input_tokens: float, output_tokens: float) -> tuple[float | None, int]:
        price = self._price
        dollars = None if price is None else price.cost(input_tokens, output_tokens)
        return dollars, int(input_tokens + output_tokens)

    def _spent(self) -> Stopped:
        return Stopped(Reason.BUDGET, f"the budget is spent ({self._budget.describe()})")
