"""Accounts pay for the requests of a sender: the interface, and the account of a model, which pays
by the model's price and the tokens of each request.
"""

from __future__ import annotations

from typing import Protocol

from ragassay.base.score import Reason
from ragassay.transport.budget import Budget, Reservation
from ragassay.transport.endpoints.endpoint import Completion, EndpointError
from ragassay.transport.prices import Price


class Stopped(EndpointError):  # noqa: N818 - it is a decision
    """Nothing more is sent in this run; the detail says why."""


class Account(Protocol):
    """What pays for the requests of one sender, each attempt by itself."""

    def check(self, body: bytes, input_tokens: float, output_tokens: float) -> None:
        """Refuses a request that could not be paid even if nothing else were in flight.

        Args:
            body: of the request.
            input_tokens, output_tokens: that it plausibly takes.

        Raises:
            Stopped: the budget is spent.
        """
        ...

    async def claim(self, body: bytes, input_tokens: float, output_tokens: float) -> Reservation:
        """Reserves for one attempt; waits while one in flight may leave enough.

        Args:
            body, input_tokens, output_tokens: as of `check`.

        Raises:
            Stopped: the budget is spent.
        """
        ...

    def settle(
        self, pay: Reservation, completion: Completion | None, *, free: bool, sent: bool
    ) -> str | None:
        """Ends the reservation of an attempt.

        Args:
            pay: the reservation.
            completion: that came; ``None`` for a failure.
            free: whether the attempt cost nothing for sure.
            sent: whether it may have reached the endpoint.

        Returns:
            A sentence where nothing more can be paid for, because it is not known what that takes.
        """
        ...


class PricedAccount:
    """An `Account` of one model. Used on one event loop.

    Args:
        budget: of the run; without limits where left out.
        price: of the model, or ``None`` where it is not known.
    """

    def __init__(self, budget: Budget | None = None, price: Price | None = None) -> None:
        self._budget, self._price = budget or Budget(), price

    def check(self, body: bytes, input_tokens: float, output_tokens: float) -> None:
        """Refuses what does not fit into the budget; see `Account`."""
        if not self._budget.fits(*self._likely(input_tokens, output_tokens)):
            raise self._spent()

    async def claim(self, body: bytes, input_tokens: float, output_tokens: float) -> Reservation:
        """Reserves the price of the tokens that an attempt plausibly takes; see `Account`."""
        reservation = await self._budget.claim(*self._likely(input_tokens, output_tokens))
        if reservation is None:
            raise self._spent()
        return reservation

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
