"""A system that is asked: how it is reached, when it is given up; and a query that it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Reason
from ragassay.judges.ledger.system_answers import SystemAnswers
from ragassay.targets.asking.ask_summary import MOST_WAYS, distinct_failures
from ragassay.targets.asking.asking_budget import AskingBudget
from ragassay.targets.asking.measurements import answered
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Request,
    Target,
)
from ragassay.transport.accounts import Stopped
from ragassay.transport.endpoints import EndpointError
from ragassay.transport.sending import INTERRUPTED, Sender, Tally

Key = tuple[int, str, int]
"""Number of a system, id of a query, repeat."""

ALIKE = 16
"""So many failures of one kind in a row, before the first answer, end the asking of a system."""

ALIKE_ADDRESSES = 5
"""The same number for a system that refuses requests for their address or their key."""

_ADVICE = {
    Reason.TIMEOUT: "Raise --timeout, or look at why the system is slow.",
    Reason.CONNECTION: "Start the system and run the same command again: it asks what is missing.",
    Reason.RATE_LIMITED: "Ask more slowly (--rpm, -j), or try more often (--retries).",
    Reason.SERVER_ERROR: "Look into the system's log. If it has too much to do, lower -j or --rpm, "
    "or raise --retries.",
}
_CUT = "Look into the system's log; the same command asks what is missing."


def advice(error: EndpointError) -> str:
    """What to do about a failure; empty where its sentence says that, or nothing is known.

    Args:
        error: the failure.
    """
    if error.detail == INTERRUPTED:
        return ""
    return _CUT if isinstance(error, CutReplyError) else _ADVICE.get(error.reason, "")


@dataclass
class AskedSystem:
    """A target, and how it is asked.

    Attributes:
        target: the system.
        sender: sends requests to it, with limits and retries.
        answers: its answers and failures in the ledger.
        asked: what is recorded with each of its answers: its fingerprint, our version.
        budget: what it may spend; ``None``: as much as it takes.
    """

    target: Target
    sender: Sender
    answers: SystemAnswers
    asked: Mapping[str, Any]
    budget: AskingBudget | None
    _has_answered: bool = False
    _failures: list[str] = field(default_factory=list)  # sentences of those in a row
    _kind: tuple[Reason, type[EndpointError]] | None = None  # of these failures

    def learn(self, error: EndpointError | None) -> None:
        """Stops a system that answers nothing, with one sentence in place of thousands.

        Args:
            error: why a request has no answer; ``None``: it has one.
        """
        if error is None:
            self._has_answered = True
        if error is None or self._has_answered or isinstance(error, Stopped):
            return
        # The queries that are left may all be bad ones; a key may have expired since.
        if self.answers.has_answered and not isinstance(error, RefusedKeyError):
            return
        kind = error.reason, type(error)
        if kind != self._kind:
            self._failures, self._kind = [], kind
        self._failures.append(error.detail)
        n = len(self._failures)
        if n < (ALIKE_ADDRESSES if isinstance(error, RefusedAddressError) else ALIKE):
            return
        (first, _), *others = ways = distinct_failures(self._failures)
        if others:
            shown = "; ".join(f"{of} of them: {one.rstrip('. ')}" for one, of in ways[:MOST_WAYS])
            more = f"; {len(ways) - MOST_WAYS} further ways" if len(ways) > MOST_WAYS else ""
            sentence = f"the first {n} queries failed, so no more are asked. {shown}{more}."
        else:
            sentence = (
                f"{first.rstrip('. ')} (the first {n} queries failed like that, so no more are "
                "asked)."
            )
        self.sender.stop(error.reason, sentence)


@dataclass
class AskedQuery:
    """A query that a system is asked.

    Attributes:
        key: of its sample.
        query: that is asked.
        system: who is asked.
        asked: what is recorded of the asking, before anything is measured.
        tally: of its attempts.
        request: that is sent; ``None`` while an earlier turn has no answer.
        body: of the request.
    """

    key: Key
    query: Sample
    system: AskedSystem
    asked: Mapping[str, Any]
    tally: Tally = field(default_factory=Tally)
    request: Request | None = None
    body: bytes = b""

    def answered(self, stored: Sample) -> Sample:
        """The sample of the answer that a ledger keeps.

        Args:
            stored: as `stored_answer` made it.
        """
        assert self.request is not None
        if self.request.passages is not None:
            passages = tuple(map(Passage, self.request.passages))
            stored = replace(stored, passages=passages, passages_prescribed=True)
        return answered(
            self.query,
            self.system.target.name,
            self.key[2],
            self.request.history,
            stored,
            self.asked,
        )
