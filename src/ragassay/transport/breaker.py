"""When to stop asking an endpoint altogether.

A wrong key or model name fails the first request, and would fail ten thousand. An endpoint that is
down lets a run wait a little, and then says so once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from ragassay.base.score import Reason

IN_A_ROW = 8
"""Fewest failures in a row, over the time of the endpoint's patience, that end a run."""

ALIKE_IN_A_ROW = 16
"""Failures in a row with the same message that end a run: the cause is the endpoint and not what is
asked. Counted are failures that would come again, and of an endpoint that has not answered yet also
its own errors."""

UNUSABLE_IN_A_ROW = 16
"""Questions without a usable reply that end a run, where none had a usable one before."""

AUTH_IN_A_ROW = 3
"""Rejections of the key in a row that end a run in which the key was accepted before."""

NEVER_ANSWERED_S = {
    Reason.CONNECTION: 5.0,
    Reason.SERVER_ERROR: 20.0,
    Reason.JUDGE_ERROR: 20.0,
    Reason.TIMEOUT: 0.0,
}
"""Patience with an endpoint that has never answered, in seconds, by the reason of the failure."""

ANSWERED_BEFORE_S = 60.0
"""Patience with an endpoint that has answered in this run, or is known to have answered before."""

TURNED_AWAY_S = 300.0
"""Patience with an endpoint that turns every request away for its rate."""


class Breaker:
    """Counts an endpoint's failures in a row. Used on one event loop.

    Attributes:
        tripped: reason and sentence, once nothing more is to be sent in this run.
        on_trip: called when it trips.

    Args:
        clock: seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.tripped: tuple[Reason, str] | None = None
        self.on_trip: Callable[[], None] = lambda: None
        self._clock = clock
        self._answered = False
        self._failures = 0
        self._rejected = 0
        self._alike = 0
        self._last_message = ""
        self._since = 0.0
        self._usable = False
        self._unusable = 0

    def succeeded(self) -> None:
        """Notes that the endpoint answered (also in an earlier run): failures before this were
        passing."""
        self._answered = True
        self._failures = self._rejected = self._alike = 0

    def usable(self) -> None:
        """Notes that a reply held an answer: the model can give answers."""
        self._usable = True

    def unusable(self, detail: str) -> None:
        """No reply to a question held an answer.

        Args:
            detail: what is wrong with the last reply.
        """
        if self._usable or self.tripped is not None:
            return
        self._unusable += 1
        if self._unusable >= UNUSABLE_IN_A_ROW:
            sentence = (
                f"{detail.rstrip('. ')} (the model gave no usable reply to {self._unusable} "
                "questions, and to none before, so no more are sent). Check the model and its "
                "parameters."
            )
            self._trip(Reason.UNPARSABLE, sentence)

    def failed(
        self, reason: Reason, detail: str, *, permanent: bool = False, overloaded: bool = False
    ) -> None:
        """A request failed.

        Args:
            reason: only reasons that concern the endpoint are counted: a refusal or a reply that
                cannot be parsed is an answer.
            detail: what the endpoint said, one sentence without secrets.
            permanent: whether the same request would fail again.
            overloaded: whether the endpoint says that it is asked too much, or not ready yet.
        """
        if self.tripped is not None or reason not in _COUNTED:
            return
        now = self._clock()
        if self._failures == 0:
            self._since = now
        self._failures += 1
        message = _NUMBERED.sub("", detail)
        own = reason in (Reason.SERVER_ERROR, Reason.JUDGE_ERROR)
        broken = own and not overloaded and not self._answered
        if not (permanent or broken):
            self._alike = 0
        elif message == self._last_message:
            self._alike += 1
        else:
            self._alike, self._last_message = 1, message
        if reason is Reason.AUTH:
            self._rejected += 1
            if not self._answered or self._rejected >= AUTH_IN_A_ROW:
                self._trip(reason, detail)
        elif self._alike >= ALIKE_IN_A_ROW:
            failures = f"{self._alike} requests in a row failed in the same way"
            # The sentence about a judge in Python says what to look into.
            check = "Check the address, the model and its parameters, then try again"
            advice = "Try again" if reason is Reason.JUDGE_ERROR else check
            self._trip(reason, _in_a_row(detail, failures, advice))
        elif self._failures >= IN_A_ROW and now - self._since >= self._patience(reason):
            over = f" over {now - self._since:.0f} seconds" if now - self._since >= 1 else ""
            failures = f"{self._failures} requests in a row failed{over}"
            advice = "Try again when the endpoint is back"
            self._trip(reason, _in_a_row(detail, failures, advice))

    def _patience(self, reason: Reason) -> float:
        if reason is Reason.RATE_LIMITED:
            return TURNED_AWAY_S
        return ANSWERED_BEFORE_S if self._answered else NEVER_ANSWERED_S[reason]

    def _trip(self, reason: Reason, sentence: str) -> None:
        self.tripped = (reason, sentence)
        self.on_trip()


def _in_a_row(detail: str, failures: str, advice: str) -> str:
    sentence = f"{detail.rstrip('. ')} ({failures}, so no more are sent). {advice}"
    return f"{sentence}: nothing that was answered is asked again."


_NUMBERED = re.compile(r"\S*\d\S*")
"""Words that may differ between failures that are alike: numbers, times, identifiers."""

_COUNTED = frozenset({*NEVER_ANSWERED_S, Reason.AUTH, Reason.RATE_LIMITED})
