"""How fast an endpoint may be asked: adaptive concurrency, requests and tokens a minute, pauses.

Concurrency starts at a healthy endpoint's pace (reached within an eighth of a second) and doubles
with each wave of answers until the first sign of trouble; from then on it grows by a fixed amount a
wave and is halved by a wave that is turned away. Single failures (a 500, a connection that was
dropped) take a little each, so an endpoint that fails one request in ten keeps its pace.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar

from ragassay.base.errors import UsageError

MOST = 64
"""Requests in flight to one endpoint, unless ``-j`` says otherwise."""

START = 64
"""Requests in flight at the beginning: two waves of answers later there are 256, if allowed."""

_SPREAD_S = 0.0005
"""Seconds between the first requests; with the time that a timer comes late, about a millisecond.
Requests that are sent at one moment are answered at one
moment, and all of them then wait until the last answer is processed, again and again."""

_WAVES_TO_MOST = 32
"""Waves that it takes, after trouble, to grow from nothing to the most that is allowed."""

_HALF = 0.5
_LESS_AFTER_FAILURE = 0.25
"""What each failure takes from the concurrency: a whole wave of them takes a quarter."""

_BURST_S = 5.0
"""Requests (or tokens) of so many seconds may go out together."""

_numbers = itertools.count(1)
_sent: ContextVar[tuple[int, bool]] = ContextVar("ragassay_sent", default=(0, False))
"""Number of the request that the running task sent last, which tells the waves apart, and whether
another was sent for the same purpose before it."""


class Limiter:
    """The pace of one endpoint. Used on one event loop.

    Attributes:
        active: requests in flight.

    Args:
        most: requests in flight at most.
        rpm: requests a minute at most.
        tpm: tokens a minute at most, by the caller's estimates.
        clock: seconds; for tests.

    Raises:
        UsageError: a limit is not positive.
    """

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
        self._limit = float(min(most, START))
        self._clock = clock
        self._buckets: list[tuple[_Bucket, Callable[[int], float]]] = []
        if rpm is not None:
            self._buckets.append((_Bucket(rpm, clock(), least=1.0), lambda _: 1.0))
        if tpm is not None:
            self._buckets.append((_Bucket(tpm, clock()), float))
        self._paused_until = 0.0
        self.active = 0
        self._opened = 0
        self._opening: asyncio.TimerHandle | None = None
        self._waiting: list[tuple[bool, int, asyncio.Future[None], int]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._doubling = True
        self._barrier = 0

    @property
    def limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self, tokens: int = 0, *, begun: bool = False) -> AsyncIterator[None]:
        """A place for one request: ``async with limiter.slot(tokens): ...``. Requests come in the
        order of asking, but those of questions that were begun come before new ones.

        Args:
            tokens: about how many the request will use, its answer included.
            begun: whether a request for the same purpose was sent before.
        """
        await self.enter(tokens, begun)
        try:
            yield
        finally:
            self.leave()

    def succeeded(self) -> None:
        """The endpoint answered (also where the answer is no good)."""
        if self._limit < self.most:
            step = 1.0 if self._doubling else max(1.0, self.most / _WAVES_TO_MOST) / self._limit
            self._limit = min(float(self.most), self._limit + step)
            self._serve()

    def throttled(self, retry_after: float | None = None) -> None:
        """Notes that the endpoint rejected the running task's request because there are too many at
        once, or because it is overloaded.

        A whole wave that is rejected halves the concurrency once. Where the endpoint says when to
        come back, the limiter pauses until then; the concurrency is halved only if a request that
        waited is rejected again.

        Args:
            retry_after: seconds for which it wants no request at all.
        """
        pauses = retry_after is not None and retry_after > 0
        if pauses:
            self._paused_until = max(self._paused_until, self._clock() + (retry_after or 0.0))
            self._opened = START  # no spreading: else few requests would be sent between two pauses
        self._doubling = False
        number, begun = _sent.get()
        if number and number < self._barrier:
            return  # sent before the last cut: the same wave
        if pauses and not begun:
            return
        self._barrier = next(_numbers)
        self._limit = max(1.0, min(self._limit, max(1, self.active)) * _HALF)

    def failed(self) -> None:
        """Notes a failure that the pace may or may not have caused (a 500, a dropped connection):
        lowers the concurrency by a little.
        """
        self._doubling = False
        self._limit = max(1.0, self._limit - _LESS_AFTER_FAILURE)

    def dismiss(self, error: Callable[[], Exception]) -> None:
        """Ends all waiting, each with an error, because nothing more is sent."""
        waiting, self._waiting = self._waiting, []
        for _, _, place, _ in waiting:
            if not place.done():
                place.set_exception(error())

    async def enter(self, tokens: int, begun: bool = False) -> None:
        """Waits for a place for a request; see `slot`.

        Args:
            tokens: that the request may take.
            begun: whether it belongs to a question that was begun before; such requests come first.
        """
        mine = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not begun, next(_numbers), mine, tokens))
        self._serve()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.exception() is None:
                self.leave()
            raise
        _sent.set((next(_numbers), begun))

    def leave(self) -> None:
        """Gives a place back; see `slot`."""
        self.active -= 1
        if not self.active and self._opening is not None:
            # The loop may end with the last request, and the timer with the loop.
            self._opening.cancel()
            self._opening = None
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self.active < self.limit:
            _, _, place, tokens = self._waiting[0]
            if place.done():  # cancelled while it waited
                heapq.heappop(self._waiting)
                continue
            if self.active == self._opened and self._opening is not None:
                return
            now, loop = self._clock(), asyncio.get_running_loop()
            delays = [bucket.delay(takes(tokens), now) for bucket, takes in self._buckets]
            wait = max(self._paused_until - now, *delays, 0.0)
            if wait > 0:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_later(wait, self._serve)
                return
            heapq.heappop(self._waiting)
            for bucket, takes in self._buckets:
                bucket.take(takes(tokens))
            self.active += 1
            if self.active > self._opened:
                self._opened += 1
                if self._opened < START:
                    self._opening = loop.call_later(_SPREAD_S, self._open_next)
            place.set_result(None)

    def _open_next(self) -> None:
        self._opening = None
        self._serve()


class _Bucket:
    """An amount a minute: no minute, wherever it begins, gets more than ``limit``.

    (A single request of more tokens than a burst holds waits for a full bucket and leaves a debt.)

    Args:
        limit: amount a minute.
        now: the clock.
        least: the smallest burst that makes sense: one request.
    """

    def __init__(self, limit: float, now: float, least: float = 0.0) -> None:
        self._size = max(least, limit * _BURST_S / 60)
        self._rate = (limit - self._size + least) / 60
        self._level = self._size
        self._seen = now

    def delay(self, amount: float, now: float) -> float:
        """Seconds until ``amount`` may be taken."""
        self._level = min(self._size, self._level + (now - self._seen) * self._rate)
        self._seen = now
        lacking = min(amount, self._size) - self._level
        # What rounding takes away must not make a waiter wait for ever smaller times.
        return lacking / self._rate if lacking > 1e-9 * self._size else 0.0

    def take(self, amount: float) -> None:
        """Takes an amount; the level becomes negative if that is more than a burst."""
        self._level -= amount
