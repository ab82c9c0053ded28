"""A system as a run asks it: within which limits, for how much, and when it is given up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.base.score import Reason
from ragassay.judges.ledger.system_answers import SystemAnswers
from ragassay.targets.reply_shapes import SystemReply
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Target,
)
from ragassay.transport.budget import Account, Reservation
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.endpoint import Stopped
from ragassay.transport.limits import UNUSABLE_IN_A_ROW
from ragassay.transport.sending import INTERRUPTED, Sender

ALIKE_ADDRESSES = 5
"""So many refusals of the address or the key in a row, before the first answer, end the asking of a
system; of other failures of one kind `UNUSABLE_IN_A_ROW`."""

MOST_WAYS = 5
"""Different failures that are listed one by one; the others are counted."""

_ADVICE = {
    Reason.TIMEOUT: "Raise --timeout, or look at why the system is slow.",
    Reason.CONNECTION: "Start the system and run the same command again: it asks what is missing.",
    Reason.RATE_LIMITED: "Ask more slowly (--rpm, -j), or try more often (--retries).",
    Reason.SERVER_ERROR: "Look into the system's log. If it has too much to do, lower -j or --rpm, "
    "or raise --retries.",
}
_CUT = "Look into the system's log; the same command asks what is missing."

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

_VARYING = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.)*' | (?<!\w)"(?:[^"\\]|\\.)*" | (?<!status[ ])\b[\w-]*\d[\w-]*""",
    re.VERBOSE,
)
"""What may differ between failures of one way: words that are quoted, numbers, identifiers."""


@dataclass
class System:
    """A target, and how it is asked: by a sender with limits and retries, with its answers in the
    ledger, and an account (``None``: as much as it takes). ``facts`` are recorded with each of its
    answers."""

    target: Target
    sender: Sender
    answers: SystemAnswers
    facts: Mapping[str, Any]
    account: SystemAccount | None

    def learn(self, error: EndpointError | None) -> None:
        """Takes note of why a request has no answer (``None``: it has one). A system that answers
        nothing is stopped, with one sentence in place of thousands."""
        if error is None:
            self.sender.breaker.usable()
        # The queries that are left may all be bad ones; a key may have expired since.
        elif not isinstance(error, Stopped) and (
            not self.answers.has_answered or isinstance(error, RefusedKeyError)
        ):
            most = ALIKE_ADDRESSES if isinstance(error, RefusedAddressError) else UNUSABLE_IN_A_ROW
            self.sender.breaker.unusable(
                error.detail, error.reason, kind=type(error), most=most, told=_given_up
            )


def _given_up(details: Sequence[str]) -> str:
    """Why no more are asked of a system that answered none of its first queries."""
    n = len(details)
    (first, _), *others = ways = distinct_failures(details)
    if not others:
        alike = f"the first {n} queries failed like that, so no more are asked"
        return f"{first.rstrip('. ')} ({alike})."
    listed = "; ".join(f"{of} of them: {one.rstrip('. ')}" for one, of in ways[:MOST_WAYS])
    more = f"; {len(ways) - MOST_WAYS} further ways" if len(ways) > MOST_WAYS else ""
    return f"the first {n} queries failed, so no more are asked. {listed}{more}."


def told(error: EndpointError) -> str:
    """What a failure says, and what to do about it where that is known."""
    advice = _CUT if isinstance(error, CutReplyError) else _ADVICE.get(error.reason, "")
    words = f"{error.detail.rstrip('.')}. {'' if error.detail == INTERRUPTED else advice}"
    return words.rstrip().encode("utf-8", "replace").decode()  # it may quote anything


def distinct_failures(details: Iterable[str]) -> list[tuple[str, int]]:
    """The different ways in which something failed, the most frequent first: the first sentence of
    each, and how many there are."""
    ways: dict[str, tuple[str, int]] = {}
    for detail in details:
        way = _VARYING.sub("", detail)
        first, n = ways.get(way, (detail, 0))
        ways[way] = first, n + 1
    return sorted(ways.values(), key=lambda one: -one[1])


class SystemAccount(Account):
    """What one system may spend of a budget that all share, by what its answers took so far.

    Until the first answer shows what one takes, the first request reserves all that is left, so
    that no other is sent beside it (unless its model has a list price).
    """

    _dearest: float | None = None
    _longest: int | None = None

    def learn(self, measured: Mapping[str, Any]) -> None:
        """Takes note of what an answer of an earlier run took: this run need not find out."""
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
            unknown = self._dearest is None and self.price is None
            return super().settle(pay, None, free=free or unknown, sent=sent)
        assert isinstance(completion, SystemReply)
        counted = completion.input_tokens + completion.output_tokens
        self._note(completion.cost, counted if completion.counted else None)
        # An answer without its cost or tokens counts like the dearest and longest so far.
        cost = self._dearest if completion.cost is None else completion.cost
        tokens = counted if completion.counted else self._longest
        # Of an answer that gives one of the two counts of tokens, that one counts.
        self.budget.settle(pay, cost, max(tokens or 0, counted))
        for unit, amount in {"dollars": cost, "tokens": tokens}.items():
            if amount is None and getattr(self.budget, unit) is not None:
                other = "tokens, which it tells ('2M tokens'), or " if completion.counted else ""
                return (
                    f"the budget is in {unit}, and the system does not tell {_UNTOLD[unit]} Or "
                    f"give a budget in {other}calls ('200 calls')."
                )
        return None

    def likely(
        self, body: bytes, input_tokens: float, output_tokens: float
    ) -> tuple[float | None, int]:
        """Dollars and tokens of a request by earlier answers, as far as can be known."""
        budget, read = self.budget, len(body) / _CHARACTERS
        dollars, tokens = self._dearest, self._longest
        if self.price is not None:
            dollars = max(dollars or 0.0, self.price.cost(read, _WRITTEN))
            tokens = max(tokens or 0, int(read) + _WRITTEN)
        if dollars is None:
            dollars = max(0.0, (budget.dollars or 0.0) - budget.spent_dollars)
        if tokens is None:
            tokens = max(1, (budget.tokens or 0) - budget.spent_tokens)
        return dollars, tokens

    def spent(self, dollars: float | None, tokens: int) -> Stopped:
        """Why a request does not fit any more, and what to do."""
        budget, next_one = self.budget, ""
        if budget.dollars is not None and budget.spent_dollars < budget.dollars:
            next_one = f"; the next answer may take ${dollars:.2g}"
        elif budget.tokens is not None and budget.spent_tokens < budget.tokens:
            next_one = f"; the next answer may take {tokens:,} tokens"
        sentence = (
            f"the budget is spent ({budget.describe()}{next_one}). The same command asks what is "
            "missing, with a budget of its own."
        )
        return Stopped(Reason.BUDGET, sentence)
