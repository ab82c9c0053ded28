"""Sends a request until it is answered, or until an answer cannot be expected (`Sender`): how fast
an endpoint may be asked (`Limiter`), and when to stop asking it altogether (`Breaker`).

Concurrency begins at the most that is allowed, is halved by a wave of requests that is turned away,
and grows again by a fixed amount a wave. Single failures take a little each."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ragassay.base.errors import RagassayError, UsageError
from ragassay.base.score import Reason
from ragassay.transport.budget import Account, Reservation
from ragassay.transport.endpoints.endpoint import TIMEOUT_S, Completion, EndpointError, Stopped
from ragassay.transport.secrets import Secret

MOST = 64  # requests in flight to one endpoint, unless ``-j`` says otherwise
_WAVES_TO_MOST = 32  # waves that it takes to grow from nothing to the most that is allowed

_LESS_AFTER_FAILURE = 0.25  # what each failure takes from the concurrency
BURST_S = 5.0  # requests (or tokens) of so many seconds may go out together
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


ATTEMPTS = 10  # attempts at most for one request, unless its sender is made with another number
BACKOFF_S = 0.5  # about how long the first wait is; each further one is twice as long
LONGEST_BACKOFF_S = 20.0
LONGEST_PAUSE_S = 600.0  # an endpoint that asks for more (a quota of the day) ends the run

HEAD_START_S = 1.0
"""Seconds for which the very first request is the only one, at most: it shows whether the key is
wrong or a parameter is rejected before many requests are sent."""

INTERRUPTED = "interrupted before it was answered; run the same command again to go on"


@dataclass
class Tally:
    """What the answer to one question took so far: requests that were sent, seconds on their way
    and between, tokens (``counted``: all replies came with them), the model of the last reply."""

    attempts: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = True
    replies: int = 0
    model: str = ""


T = TypeVar("T")
Receive = Callable[[Completion], Awaitable[T]]


class _Woken(Exception):  # noqa: N818 - it is a signal
    """Ends a wait for a place, so that the task checks whether anything may still be sent."""


class Receiver(Protocol):
    """Who is sent requests (an endpoint, a system under test); its key shows in no message."""

    key: Secret

    @property
    def shown(self) -> str:
        """What messages call it."""
        ...

    async def send(self, body: bytes) -> Completion:
        """Sends a body once, or raises an `EndpointError`."""
        ...


class Sender:
    """Sends requests to one endpoint, each attempt in its place at the limiter and paid for by the
    account. Used on one event loop.

    ``timeout`` seconds are for all that shares a tally (retries, the waits between them, the repair
    turn); waiting for a place or through a pause that the endpoint asked for is not counted.
    ``backoff`` is the first wait, ``attempts`` those of one request at most."""

    def __init__(
        self,
        endpoint: Receiver,
        limiter: Limiter | None = None,
        breaker: Breaker | None = None,
        account: Account | None = None,
        *,
        timeout: float = TIMEOUT_S,
        backoff: float = BACKOFF_S,
        attempts: int = ATTEMPTS,
    ) -> None:
        self.endpoint = endpoint
        self.limiter, self.breaker = limiter or Limiter(), breaker or Breaker()
        self.breaker.on_trip = self.stop
        self.account = account
        self.timeout, self.backoff, self.attempts = timeout, backoff, attempts
        self.stopped: tuple[Reason, str] | None = None  # why nothing more is sent
        self._stop = asyncio.Event()
        self._begun = False
        self.ahead = asyncio.Event()  # ends the head start of the first request

    def resume(self) -> None:
        """Sends again after an interrupt (not after the breaker has tripped)."""
        self.stopped = self.breaker.tripped
        self._stop = asyncio.Event()

    def stop(self, reason: Reason, detail: str) -> None:
        """Sends nothing new from now on. Requests that wait for a place fail at once."""
        self.stopped = self.stopped or (reason, detail)
        self.ahead.set()
        self._stop.set()
        self.limiter.dismiss(_Woken)

    async def kept(self, writing: Awaitable[None]) -> None:
        """Waits until what was paid for is written; sends nothing more where it cannot be."""
        try:
            await writing
        except Exception as error:
            problem = str(error) if isinstance(error, RagassayError) else f"the ledger: {error!r}"
            self.stop(Reason.CONNECTION, problem)
            raise

    async def send(
        self,
        body: bytes,
        receive: Receive[T],
        tally: Tally,
        input_tokens: float = 0,
        output_tokens: float = 0,
        current: Callable[[], bool] | None = None,
    ) -> T | None:
        """The result that ``receive`` makes of the reply to a request; ``None`` where the request
        is not ``current`` any more once it has a place (then nothing was sent).

        ``receive`` takes the reply while the request still has its place: where it waits for the
        ledger, a crash loses no more replies than may be in flight. The numbers of tokens are what
        the request plausibly takes. Raises `Stopped` where nothing more is sent, and an
        `EndpointError` where the endpoint gave no reply, and will give none."""
        likely = body, input_tokens, output_tokens
        if self._begun:
            await self.ahead.wait()
        elif not self.ahead.is_set():
            self._begun = True
            asyncio.get_running_loop().call_later(HEAD_START_S, self.ahead.set)
        for attempt in range(1, self.attempts + 1):
            try:
                return await self._attempt(likely, receive, tally, current)
            except EndpointError as error:
                failure = error
            longest = min(LONGEST_BACKOFF_S, self.backoff * 2.0 ** (attempt - 1))
            paused = failure.retry_after is not None  # the limiter waits as long as the server asks
            wait = 0.0 if paused else longest * random.uniform(0.5, 1.0)
            left = self.timeout - tally.seconds - tally.waited
            last = attempt == self.attempts or left <= wait
            if not failure.again or last or self.stopped:
                raise failure
            if wait:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), wait)
                tally.waited += wait
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(
        self,
        likely: tuple[bytes, float, float],
        receive: Receive[T],
        tally: Tally,
        current: Callable[[], bool] | None,
    ) -> T | None:
        """One sending, once there is a place for it."""
        while True:
            stopped = self.stopped
            if stopped:
                raise Stopped(*stopped)
            if self.account is not None:
                self.account.check(*likely)  # or it would wait for a place for nothing
            try:
                async with self.limiter.slot(int(sum(likely[1:])), begun=tally.attempts > 0):
                    stopped = self.stopped
                    if stopped:
                        raise Stopped(*stopped)
                    if current is not None and not current():
                        return None
                    left = self.timeout - tally.seconds - tally.waited
                    if left <= 0:
                        raise self._late()
                    pay = None
                    if self.account is not None:
                        pay = await self.account.claim(*likely)
                        if self.stopped:  # while it waited for money
                            self.account.settle(pay, None, free=True, sent=False)
                            raise Stopped(*self.stopped)
                    return await receive(await self._sent(likely[0], tally, pay, left))
            except _Woken:
                continue  # perhaps another judge of this endpoint was stopped

    async def _sent(
        self, body: bytes, tally: Tally, pay: Reservation | None, left: float
    ) -> Completion:
        """The reply to one sending (in ``left`` seconds at most), counted by tally, budget, limiter
        and breaker."""
        clock = asyncio.get_running_loop().time
        begin, again = clock(), tally.attempts > 0
        completion: Completion | None = None
        failure: EndpointError | None = None
        try:
            async with asyncio.timeout(left):
                completion = await self.endpoint.send(body)
        except EndpointError as error:
            failure = error
        except TimeoutError:
            failure = self._late()
        except Exception as error:  # a defect of the endpoint's code, which may be a package's
            detail = f"{self.endpoint.shown}: {type(error).__name__}: {error}"
            failure = EndpointError(Reason.SERVER_ERROR, self.endpoint.key.hidden_in(detail))
            failure.__cause__ = error
        finally:
            sent = failure is None or failure.sent
            tally.attempts += sent
            tally.seconds += clock() - begin
            if self.account is not None and pay is not None:
                free = failure is not None and failure.free
                problem = self.account.settle(pay, completion, free=free, sent=sent)
                if problem is not None:
                    self.stop(Reason.BUDGET, problem)
        if completion is None:
            assert failure is not None
            self._learn(failure, again=again)
            raise failure
        tally.replies += 1
        tally.input_tokens += completion.input_tokens
        tally.output_tokens += completion.output_tokens
        tally.counted = tally.counted and completion.counted
        tally.model = completion.model or tally.model
        self.limiter.succeeded()
        self.breaker.succeeded()
        self.ahead.set()
        return completion

    def _late(self) -> EndpointError:
        seconds = "1 second" if self.timeout == 1 else f"{self.timeout:g} seconds"
        detail = f"{self.endpoint.shown} did not answer within {seconds}"
        return EndpointError(Reason.TIMEOUT, detail)

    def _learn(self, failure: EndpointError, *, again: bool) -> None:
        """What an error says about the endpoint."""
        if failure.rejected or failure.reason in (Reason.REFUSED, Reason.CONTEXT_TOO_LONG):
            return  # it works, and answers: it only does not take this request
        pause = failure.retry_after
        if pause is not None and pause > LONGEST_PAUSE_S:
            failure.again = False
            failure.detail += f" It asks for a pause of {round(pause / 3600, 1):g} hours."
            self.stop(failure.reason, failure.detail)
            return
        if failure.overloaded:
            self.limiter.throttled(pause, again=again)
        elif failure.reason is not Reason.AUTH:
            self.limiter.failed()
        kind = {"permanent": not failure.again, "overloaded": failure.overloaded}
        self.breaker.failed(failure.reason, failure.detail, **kind)


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
        self._size = max(least, limit * BURST_S / 60)
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


@dataclass(eq=False)
class Breaker:
    """Counts an endpoint's failures in a row. ``tripped`` has reason and sentence, once nothing
    more is to be sent in this run; ``on_trip`` is called with them then. ``usable``: a reply held
    an answer, so the model can give answers. Used on one event loop."""

    clock: Callable[[], float] = time.monotonic
    tripped: tuple[Reason, str] | None = None
    on_trip: Callable[[Reason, str], None] = lambda *_: None
    usable: bool = False
    _answered: bool = False
    _since: float = 0.0
    _failures: int = 0
    _rejected: int = 0
    _alike: int = 0
    _last_message: str = ""
    _unusable: list[str] = field(default_factory=list)
    _kind: tuple[Reason, object] | None = None

    def succeeded(self) -> None:
        """Notes that the endpoint answered (also in an earlier run): earlier failures passed."""
        self._answered = True
        self._failures = self._rejected = self._alike = 0

    def unusable(
        self,
        detail: str,
        reason: Reason = Reason.UNPARSABLE,
        *,
        kind: object = None,
        most: int = UNUSABLE_IN_A_ROW,
        sentence: Callable[[Sequence[str]], str] = _no_usable_reply,
    ) -> None:
        """Notes that a question has no usable answer, where none had one before. ``most`` of one
        ``reason`` and ``kind`` in a row end the run, with what ``sentence`` makes of them."""
        if self.usable or self.tripped is not None:
            return
        if self._kind != (reason, kind):
            self._unusable, self._kind = [], (reason, kind)
        self._unusable.append(detail)
        if len(self._unusable) >= most:
            self._trip(reason, sentence(self._unusable))

    def failed(
        self, reason: Reason, detail: str, *, permanent: bool = False, overloaded: bool = False
    ) -> None:
        """A request failed. Only reasons that concern the endpoint are counted: a refusal or a
        reply that cannot be parsed is an answer. ``permanent``: the same request would fail again;
        ``overloaded``: the endpoint says that it is asked too much, or not ready yet."""
        if self.tripped is not None or reason not in _COUNTED:
            return
        now = self.clock()
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
        self._trip(reason, f"{detail.rstrip('. ')} ({failures}, so no more are sent). {advice}.")

    def _trip(self, reason: Reason, sentence: str) -> None:
        self.tripped = (reason, sentence)
        self.on_trip(reason, sentence)


_NUMBERED = re.compile(r"\S*\d\S*")  # may differ between failures that are alike
_COUNTED = frozenset({*NEVER_ANSWERED_S, Reason.AUTH, Reason.RATE_LIMITED})
