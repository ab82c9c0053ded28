"""How fast an endpoint may be asked (`Limiter`), and when to stop asking it altogether (`Breaker`).

Concurrency begins at the most that is allowed, is halved by a wave of requests that is turned away,
and grows again by a fixed amount a wave. Single failures take a little each."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason

MOST = 64  # requests in flight to one endpoint, unless ``-j`` says otherwise
_WAVES_TO_MOST = 32  # waves that it takes to grow from nothing to the most that is allowed

_LESS_AFTER_FAILURE = 0.25  # what each failure takes from the concurrency
_BURST_S = 5.0  # requests (or tokens) of so many seconds may go out together
IN_A_ROW = 8  # fewest failures in a row, over the time of the endpoint's patience, that end a run

ALIKE_IN_A_ROW = 16
"""Failures with the same message that end a run: those that would come again, and of an endpoint
that has not answered yet also its own errors."""

UNUSABLE_IN_A_ROW = 16  # questions without a usable reply, where none had one before
AUTH_IN_A_ROW = 3  # rejections of a key that was accepted before

NEVER_ANSWERED_S = {
    Reason.CONNECTION: 5.0,
    Reason.TIMEOUT: 0.0,
    Reason.SERVER_ERROR: 20.0,
    Reason.JUDGE_ERROR: 20.0,
}
"""Patience with an endpoint that has never answered, in seconds, by the reason of the failure."""

ANSWERED_BEFORE_S = 60.0  # patience with an endpoint that has answered
TURNED_AWAY_S = 300.0  # patience with an endpoint that turns every request away for its rate


class Limiter:
    """The pace of one endpoint: requests in flight at most, requests and tokens (by the caller's
    estimates) a minute at most, pauses. ``active`` are in flight. Used on one event loop."""

    def __init__(
        self,
        most: int = MOST,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, limit in (("concurrency", most), ("rpm", rpm), ("tpm", tpm)):
            if limit is not None and not limit > 0:
                raise UsageError(f"{name} is {limit}; it must be greater than 0.")
        self.most = most
        self.limit = float(most)  # requests that may be in flight now
        self._clock = clock
        self._buckets = [
            _Bucket(limit, clock(), by_request=by_request)
            for limit, by_request in ((rpm, True), (tpm, False))
            if limit is not None
        ]
        self._paused_until = 0.0
        self.active = 0
        self._numbers = itertools.count()
        self._waiting: list[tuple[bool, int, asyncio.Future[None], int]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._wave = 0  # requests that were in flight at the last cut and still are

    @asynccontextmanager
    async def slot(self, tokens: int = 0, *, begun: bool = False) -> AsyncIterator[None]:
        """A place for one request of about so many tokens, its answer included. Requests come in
        the order of asking, but those for what was ``begun`` before come first."""
        mine = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not begun, next(self._numbers), mine, tokens))
        self._serve()
        try:
            await mine
            yield
        finally:
            # A wait that was cancelled or dismissed had no place, unless it was just granted.
            if mine.done() and not mine.cancelled() and mine.exception() is None:
                self.active -= 1
                self._wave = max(0, self._wave - 1)
                self._serve()

    def succeeded(self) -> None:
        """The endpoint answered (also where the answer is no good)."""
        if self.limit < self.most:
            step = max(1.0, self.most / _WAVES_TO_MOST) / self.limit
            self.limit = min(float(self.most), self.limit + step)
            self._serve()

    def throttled(self, retry_after: float | None = None, *, again: bool = False) -> None:
        """Notes, while a request still has its place, that the endpoint rejected it because there
        are too many at once, or because it is overloaded. A whole wave that is rejected halves the
        concurrency once. Where the endpoint says when to come back, the limiter pauses until then;
        the concurrency is halved only if a request that waited is rejected ``again``."""
        pauses = retry_after is not None and retry_after > 0
        if pauses:
            self._paused_until = max(self._paused_until, self._clock() + (retry_after or 0.0))
        if self._wave > 0 or (pauses and not again):
            return
        self._wave = self.active
        self.limit = max(1.0, min(self.limit, max(1, self.active)) / 2)

    def failed(self) -> None:
        """Lowers the concurrency a little for a failure that the pace may have caused (a 500)."""
        self.limit = max(1.0, self.limit - _LESS_AFTER_FAILURE)

    def dismiss(self, error: Callable[[], Exception]) -> None:
        """Ends all waiting, each with an error, because nothing more is sent."""
        waiting, self._waiting = self._waiting, []
        for _, _, place, _ in waiting:
            if not place.done():
                place.set_exception(error())

    def _serve(self) -> None:
        while self._waiting and self.active < int(self.limit):
            _, _, place, tokens = self._waiting[0]
            if place.done():  # cancelled while it waited
                heapq.heappop(self._waiting)
                continue
            now = self._clock()
            delays = [bucket.delay(tokens, now) for bucket in self._buckets]
            wait = max(self._paused_until - now, *delays, 0.0)
            if wait > 0:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_later(wait, self._serve)
                return
            heapq.heappop(self._waiting)
            for bucket in self._buckets:
                bucket.take(tokens)
            self.active += 1
            place.set_result(None)


class _Bucket:
    """Requests or tokens a minute: no minute, wherever it begins, gets more than ``limit``. (A
    request of more tokens than a burst holds waits for a full bucket and leaves a debt.)"""

    def __init__(self, limit: float, now: float, *, by_request: bool) -> None:
        least = 1.0 if by_request else 0.0
        self._size = max(least, limit * _BURST_S / 60)
        self._rate = (limit - self._size + least) / 60
        self._level, self._seen, self._by_request = self._size, now, by_request

    def delay(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may be sent."""
        self._level = min(self._size, self._level + (now - self._seen) * self._rate)
        self._seen = now
        lacking = min(1.0 if self._by_request else tokens, self._size) - self._level
        # What rounding takes away must not make a waiter wait for ever smaller times.
        return lacking / self._rate if lacking > 1e-9 * self._size else 0.0

    def take(self, tokens: float) -> None:
        """Takes a request that is sent now."""
        self._level -= 1.0 if self._by_request else tokens


def _no_usable_reply(details: Sequence[str]) -> str:
    return (
        f"{details[-1].rstrip('. ')} (the model gave no usable reply to {len(details)} questions, "
        "and to none before, so no more are sent). Check the model and its parameters."
    )


class Breaker:
    """Counts an endpoint's failures in a row. ``tripped`` has reason and sentence, once nothing
    more is to be sent in this run; ``on_trip`` is called then. Used on one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.tripped: tuple[Reason, str] | None = None
        self.on_trip: Callable[[], None] = lambda: None
        self._clock, self._since = clock, 0.0
        self._answered = self._usable = False
        self._failures = self._rejected = self._alike = 0
        self._last_message = ""
        self._unusable: list[str] = []
        self._kind: tuple[Reason, object] | None = None

    def succeeded(self) -> None:
        """Notes that the endpoint answered (also in an earlier run): earlier failures passed."""
        self._answered = True
        self._failures = self._rejected = self._alike = 0

    def usable(self) -> None:
        """Notes that a reply held an answer: the model can give answers."""
        self._usable = True

    def unusable(
        self,
        detail: str,
        reason: Reason = Reason.UNPARSABLE,
        *,
        kind: object = None,
        most: int = UNUSABLE_IN_A_ROW,
        told: Callable[[Sequence[str]], str] = _no_usable_reply,
    ) -> None:
        """Notes that a question has no usable answer, where none had one before. ``most`` of one
        ``reason`` and ``kind`` in a row end the run, with a sentence that ``told`` makes."""
        if self._usable or self.tripped is not None:
            return
        if self._kind != (reason, kind):
            self._unusable, self._kind = [], (reason, kind)
        self._unusable.append(detail)
        if len(self._unusable) >= most:
            self._trip(reason, told(self._unusable))

    def failed(
        self, reason: Reason, detail: str, *, permanent: bool = False, overloaded: bool = False
    ) -> None:
        """A request failed. Only reasons that concern the endpoint are counted: a refusal or a
        reply that cannot be parsed is an answer. ``permanent``: the same request would fail again;
        ``overloaded``: the endpoint says that it is asked too much, or not ready yet."""
        if self.tripped is not None or reason not in _COUNTED:
            return
        now = self._clock()
        if self._failures == 0:
            self._since = now
        self._failures += 1
        patience = ANSWERED_BEFORE_S if self._answered else NEVER_ANSWERED_S.get(reason, 0.0)
        if reason is Reason.RATE_LIMITED:
            patience = TURNED_AWAY_S
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
            advice = "Check the address, the model and its parameters, then try again"
            alike = f"{self._alike} requests in a row failed in the same way"
            self._end(reason, detail, alike, advice)
        elif self._failures >= IN_A_ROW and now - self._since >= patience:
            over = f" over {now - self._since:.0f} seconds" if now - self._since >= 1 else ""
            failures = f"{self._failures} requests in a row failed{over}"
            advice = "Try again when the endpoint is back"
            self._end(reason, detail, failures, advice)

    def _end(self, reason: Reason, detail: str, failures: str, advice: str) -> None:
        sentence = f"{detail.rstrip('. ')} ({failures}, so no more are sent). {advice}"
        self._trip(reason, f"{sentence}: nothing that was answered is asked again.")

    def _trip(self, reason: Reason, sentence: str) -> None:
        self.tripped = (reason, sentence)
        self.on_trip()


_NUMBERED = re.compile(r"\S*\d\S*")  # may differ between failures that are alike
_COUNTED = frozenset({*NEVER_ANSWERED_S, Reason.AUTH, Reason.RATE_LIMITED})
