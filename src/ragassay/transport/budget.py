"""What a run may spend (dollars, calls, tokens), and the account that pays for the requests of one
model or system: each reserves its largest plausible price, and settles for what it took."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from ragassay.base.errors import UsageError
from ragassay.base.printable import dollars, plural, share
from ragassay.base.score import Reason
from ragassay.transport.endpoints.endpoint import Completion, Stopped
from ragassay.transport.providers_and_prices import Price

_AMOUNT = re.compile(
    r"(?P<dollar>\$)?\s*(?P<number>(?:\d[\d,_]*)?\.?\d+(?:e\+?\d+)?)\s*(?P<scale>[kKmM](?![a-zA-Z]))?"
    r"\s*(?P<unit>calls?|tokens?|dollars?|usd)?",
    re.IGNORECASE,
)
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6}
_UNITS = {"dollar": "dollars", "usd": "dollars", "call": "calls", "token": "tokens"}
_HOW = "Write dollars ('5.00'), calls ('200 calls') or tokens ('2M tokens')."


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The most that a request in flight may take."""

    dollars: float
    tokens: int


class Budget:
    """What may be spent and what was (dollars, requests, tokens); used on one event loop."""

    def __init__(
        self, *, dollars: float | None = None, calls: int | None = None, tokens: int | None = None
    ) -> None:
        for limit in (dollars, calls, tokens):
            if limit is not None and not (math.isfinite(limit) and limit >= 0):
                raise UsageError(f"A budget of {limit} is not possible. {_HOW}")
        self.dollars, self.calls, self.tokens = dollars, calls, tokens
        self.spent_dollars, self.spent_calls, self.spent_tokens = 0.0, 0, 0
        self._open: set[Reservation] = set()
        self.settled = asyncio.Event()
        self.estimated = False  # whether something of what was spent is an estimate

    @classmethod
    def parse(cls, text: str) -> Budget:
        """``5.00``, ``$5``, ``200 calls``, ``2M tokens``, ``1e6 tokens``; ``5.00, 200 calls``."""
        limits: dict[str, float] = {}
        for piece in re.split(r",\s", text):
            match = _AMOUNT.fullmatch(piece.strip())
            unit = _UNITS[(match["unit"] or "dollars").casefold().rstrip("s")] if match else ""
            if match is None or unit in limits or (match["dollar"] and unit != "dollars"):
                raise UsageError(f"{text!r} is not a budget. {_HOW}")
            number = float(match["number"].replace(",", "").replace("_", ""))
            limits[unit] = number * _SCALES[(match["scale"] or "").casefold()]
        integers = {unit: int(limits[unit]) for unit in ("calls", "tokens") if unit in limits}
        if any(limits[unit] != integers[unit] for unit in integers):
            raise UsageError(f"{text!r}: calls and tokens are whole numbers. {_HOW}")
        return cls(dollars=limits.get("dollars"), **integers)

    def check_price(self, price: object, who: str, how: str = "") -> None:
        """A `UsageError` where the budget is in dollars and somebody's price is not known."""
        if self.dollars is not None and price is None:
            advice = f"Give {how}a budget in calls or tokens (200 calls)."
            raise UsageError(f"The budget is in dollars, and no price of {who} is known. {advice}")

    def reserve(self, dollars: float | None, tokens: int) -> Reservation | None:
        """Reserves one call, or ``None`` when it does not fit beside what is reserved now."""
        if not self.fits(dollars, tokens, self._open):
            return None
        reservation = Reservation(dollars or 0.0, tokens)
        self._open.add(reservation)
        return reservation

    def settle(
        self, reservation: Reservation, dollars: float | None, tokens: int, calls: int = 1
    ) -> None:
        """Ends a reservation with what the request took, and the calls that were sent."""
        if reservation not in self._open:
            raise ValueError("the reservation is not open: it was settled before")
        self._open.remove(reservation)
        self.spent_dollars += dollars or 0.0
        self.spent_tokens += tokens
        self.spent_calls += calls
        self.settled.set()
        self.settled = asyncio.Event()

    def describe(self) -> str:
        """What was spent of what, in words: ``$1.20 of $5.00, 312 calls``."""
        parts = []
        about = "about " if self.estimated else ""
        if self.dollars is not None or self.spent_dollars:
            of = "" if self.dollars is None else f" of {_limit(self.dollars)}"
            parts.append(f"{about}{dollars(self.spent_dollars)}{of}")
        n = self.spent_calls
        parts.append(plural(n, "call") if self.calls is None else share(n, self.calls, "call"))
        if self.tokens is not None or self.spent_tokens:
            of = "" if self.tokens is None else f" of {self.tokens:,}"
            parts.append(f"{about}{self.spent_tokens:,}{of} tokens")
        return ", ".join(parts)

    def fits(
        self, dollars: float | None, tokens: int, beside: Collection[Reservation] = ()
    ) -> bool:
        """Whether a request would fit, beside others that are in flight."""
        if self.dollars is not None:
            self.check_price(dollars, "this model", "its price, or ")
            # A free model fits into a budget of nothing; rounding must not refuse the last cent.
            held = self.spent_dollars + sum(reservation.dollars for reservation in beside)
            if held + (dollars or 0.0) > self.dollars * (1 + 1e-9):
                return False
        if self.calls is not None and self.spent_calls + len(beside) + 1 > self.calls:
            return False
        if self.tokens is None:
            return True
        return (
            self.spent_tokens + sum(reservation.tokens for reservation in beside) + tokens
            <= self.tokens
        )


@dataclass(eq=False)
class Account:
    """Pays for the requests of one model, each attempt by itself, out of the run's budget. Used on
    one event loop."""

    budget: Budget
    price: Price | None = None

    def check(self, body: bytes, input_tokens: float, output_tokens: float) -> None:
        """Raises `Stopped` for a request (with the tokens that it plausibly takes) that cannot be
        paid, even if nothing else were in flight."""
        likely = self.likely(body, input_tokens, output_tokens)
        if not self.budget.fits(*likely):
            raise self.spent(*likely)

    async def claim(self, body: bytes, input_tokens: float, output_tokens: float) -> Reservation:
        """Reserves for one attempt, once there is enough for it; raises as `check`."""
        size = body, input_tokens, output_tokens
        while (reservation := self.budget.reserve(*self.likely(*size))) is None:
            self.check(*size)
            await self.budget.settled.wait()
        return reservation

    def settle(
        self, pay: Reservation, completion: Completion | None, *, free: bool, sent: bool
    ) -> str | None:
        """Ends the reservation of an attempt that brought a completion (``None``: it failed), cost
        nothing for sure (``free``), and may have reached the endpoint (``sent``). Returns a
        sentence where nothing more can be paid for. What nobody counted costs all of it."""
        if free:
            self.budget.settle(pay, None, 0, int(sent))
        elif completion is None or not completion.counted:
            self.budget.settle(pay, pay.dollars, pay.tokens)
            self.budget.estimated = True
        else:
            read, written = completion.input_tokens, completion.output_tokens
            dollars = None if self.price is None else self.price.cost(read, written)
            self.budget.settle(pay, dollars, read + written)
        return None

    def likely(
        self, body: bytes, input_tokens: float, output_tokens: float
    ) -> tuple[float | None, int]:
        """The dollars and tokens that a request plausibly takes."""
        price = self.price
        dollars = None if price is None else price.cost(input_tokens, output_tokens)
        return dollars, int(input_tokens + output_tokens)

    def spent(self, dollars: float | None, tokens: int) -> Stopped:
        """Why a request that may take so much is not sent any more."""
        return Stopped(Reason.BUDGET, f"the budget is spent ({self.budget.describe()})")


def _limit(amount: float) -> str:
    """A limit with all its digits."""
    return dollars(amount) if round(amount, 2) == amount else f"${amount:.10g}"
