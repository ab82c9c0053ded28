"""What a run may spend: dollars, calls, tokens.

A request reserves its largest plausible price before it is sent and settles for what it really
took, or for all that it reserved where the endpoint does not say what it took. So a budget is not
overdrawn by what is in flight, beyond what an answer longer than expected costs.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from ragassay.base.counts import plural, share
from ragassay.base.errors import UsageError

_AMOUNT = re.compile(
    r"(?P<dollar>\$)?\s*(?P<number>(?:\d[\d,_]*)?\.?\d+(?:e\+?\d+)?)\s*(?P<scale>[kKmM](?![a-zA-Z]))?"
    r"\s*(?P<unit>calls?|tokens?|dollars?|usd)?",
    re.IGNORECASE,
)
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6}
_HOW = "Write dollars ('5.00'), calls ('200 calls') or tokens ('2M tokens')."


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The most that a request in flight may take, until it is settled for what it took."""

    dollars: float
    tokens: int


class Budget:
    """What may be spent, what was, and what is reserved. Used on one event loop.

    Args:
        dollars: US dollars at most.
        calls: requests at most.
        tokens: tokens at most, in and out.

    Raises:
        UsageError: a limit is negative or not a number.
    """

    def __init__(
        self,
        *,
        dollars: float | None = None,
        calls: int | None = None,
        tokens: int | None = None,
    ) -> None:
        for limit in (dollars, calls, tokens):
            if limit is not None and not (math.isfinite(limit) and limit >= 0):
                raise UsageError(f"A budget of {limit} is not possible. {_HOW}")
        self.dollars, self.calls, self.tokens = dollars, calls, tokens
        self.spent_dollars, self.spent_calls, self.spent_tokens = 0.0, 0, 0
        self._open: set[Reservation] = set()
        self._settled = asyncio.Event()
        self.exhausted = False
        """Whether something was refused."""
        self.estimated = False
        """Whether something of what was spent is an estimate."""

    @classmethod
    def parse(cls, text: str) -> Budget:
        """``5.00``, ``$5``, ``200 calls``, ``2M tokens``, ``1e6 tokens``; ``5.00, 200 calls``.

        Raises:
            UsageError: it is none of these.
        """
        limits: dict[str, float] = {}
        for piece in re.split(r",\s", text):
            match = _AMOUNT.fullmatch(piece.strip())
            if match is None:
                raise UsageError(f"{text!r} is not a budget. {_HOW}")
            unit = (match["unit"] or "dollars").casefold().rstrip("s")
            unit = "dollars" if unit in ("dollar", "usd") else f"{unit}s"
            if unit in limits or (match["dollar"] and unit != "dollars"):
                raise UsageError(f"{text!r} is not a budget. {_HOW}")
            number = float(match["number"].replace(",", "").replace("_", ""))
            limits[unit] = number * _SCALES[(match["scale"] or "").casefold()]
        integers = {unit: int(limits[unit]) for unit in ("calls", "tokens") if unit in limits}
        if any(limits[unit] != integers[unit] for unit in integers):
            raise UsageError(f"{text!r}: calls and tokens are whole numbers. {_HOW}")
        return cls(
            dollars=limits.get("dollars"),
            calls=integers.get("calls"),
            tokens=integers.get("tokens"),
        )

    @property
    def needs_prices(self) -> bool:
        """Whether a model without a known price cannot be asked."""
        return self.dollars is not None

    def fits(self, dollars: float | None, tokens: int) -> bool:
        """Whether a request would fit if nothing else were in flight; sets `exhausted` where it
        does not.

        Args:
            dollars, tokens: as of `reserve`.

        Raises:
            UsageError: as of `reserve`.
        """
        fits = self._fits(dollars, tokens, ())
        self.exhausted = self.exhausted or not fits
        return fits

    def reserve(self, dollars: float | None, tokens: int) -> Reservation | None:
        """Reserves one call, or ``None`` when it does not fit beside what is reserved now.

        Args:
            dollars: the most that it plausibly costs; ``None`` where no price is known.
            tokens: the most that it plausibly takes, in and out.

        Raises:
            UsageError: the budget is in dollars and no price is known.
        """
        if not self._fits(dollars, tokens, self._open):
            return None
        reservation = Reservation(dollars or 0.0, tokens)
        self._open.add(reservation)
        return reservation

    async def claim(self, dollars: float | None, tokens: int) -> Reservation | None:
        """Reserves for a request; waits while a request in flight may still leave enough.

        Args:
            dollars: that the request may cost at most; ``None`` where the price is not known.
            tokens: that it may take at most.

        Returns:
            ``None`` where the budget is spent.
        """
        while (reservation := self.reserve(dollars, tokens)) is None:
            if not self.fits(dollars, tokens):
                return None
            await self._settled.wait()
        return reservation

    def settle(
        self, reservation: Reservation, dollars: float | None, tokens: int, calls: int = 1
    ) -> None:
        """Ends a reservation with what the request really took.

        Args:
            reservation: of the request.
            dollars: that it cost; ``None`` where the price is not known.
            tokens: that it took.
            calls: requests that were really sent; 0 for none.
        """
        if reservation not in self._open:
            raise ValueError("the reservation is not open: it was settled before")
        self._open.remove(reservation)
        self.spent_dollars += dollars or 0.0
        self.spent_tokens += tokens
        self.spent_calls += calls
        self._settled.set()
        self._settled = asyncio.Event()

    def forfeit(self, reservation: Reservation) -> None:
        """Ends a reservation where it is not known what the request took: all of the reservation
        counts.
        """
        self.settle(reservation, reservation.dollars, reservation.tokens)
        self.estimated = True

    def describe(self) -> str:
        """What was spent of what, in words: ``$1.20 of $5.00, 312 calls``."""
        parts = []
        about = "about " if self.estimated else ""
        if self.dollars is not None or self.spent_dollars:
            of = "" if self.dollars is None else f" of {_money(self.dollars)}"
            parts.append(f"{about}{_money(self.spent_dollars)}{of}")
        n = self.spent_calls
        parts.append(plural(n, "call") if self.calls is None else share(n, self.calls, "call"))
        if self.tokens is not None or self.spent_tokens:
            of = "" if self.tokens is None else f" of {self.tokens:,}"
            parts.append(f"{about}{self.spent_tokens:,}{of} tokens")
        return ", ".join(parts)

    def _fits(self, dollars: float | None, tokens: int, beside: Collection[Reservation]) -> bool:
        if self.dollars is not None:
            if dollars is None:
                raise UsageError(
                    "The budget is in dollars, and no price of this model is known. Give its "
                    "price, or a budget in calls or tokens (200 calls)."
                )
            # A free model fits into a budget of nothing; rounding must not refuse the last cent.
            held = self.spent_dollars + sum(one.dollars for one in beside)
            if held + dollars > self.dollars * (1 + 1e-9):
                return False
        if self.calls is not None and self.spent_calls + len(beside) + 1 > self.calls:
            return False
        if self.tokens is None:
            return True
        return self.spent_tokens + sum(one.tokens for one in beside) + tokens <= self.tokens


def _money(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"
