"""Sends a request until it is answered, or until an answer cannot be expected. A `Sender` belongs
to one endpoint and model, and knows when nothing more may be sent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ragassay.base.errors import RagassayError
from ragassay.base.score import Reason
from ragassay.transport.budget import Account, Reservation
from ragassay.transport.endpoints.endpoint import TIMEOUT_S, Completion, EndpointError, Stopped
from ragassay.transport.limits import Breaker, Limiter
from ragassay.transport.secrets import Secret

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
        self.breaker.on_trip = self._wake
        self.account = account or Account()
        self.timeout, self.backoff, self.attempts = timeout, backoff, attempts
        self._stopped: tuple[Reason, str] | None = None
        self._stop = asyncio.Event()
        self._begun = False
        self.ahead = asyncio.Event()  # ends the head start of the first request

    @property
    def stopped(self) -> tuple[Reason, str] | None:
        """Why nothing more is sent, or ``None``."""
        return self._stopped or self.breaker.tripped

    def resume(self) -> None:
        """Sends again after an interrupt (not after the breaker has tripped)."""
        self._stopped = None
        self._stop = asyncio.Event()

    def stop(self, reason: Reason, detail: str) -> None:
        """Sends nothing new from now on. Requests that wait for a place fail at once."""
        self._stopped = self._stopped or (reason, detail)
        self._wake()

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
            last = attempt == self.attempts or self._left(tally) <= wait
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
            self._check()
            self.account.check(*likely)  # or it would wait for a place for nothing
            try:
                async with self.limiter.slot(int(sum(likely[1:])), begun=tally.attempts > 0):
                    self._check()
                    if current is not None and not current():
                        return None
                    if self._left(tally) <= 0:
                        raise self._late()
                    pay = await self.account.claim(*likely)
                    if self.stopped:
                        self.account.settle(pay, None, free=True, sent=False)
                    self._check()
                    return await receive(await self._sent(likely[0], tally, pay))
            except _Woken:
                continue  # perhaps another judge of this endpoint was stopped

    async def _sent(self, body: bytes, tally: Tally, pay: Reservation) -> Completion:
        """The reply to one sending, counted by tally, budget, limiter and breaker."""
        clock = asyncio.get_running_loop().time
        begin, again = clock(), tally.attempts > 0
        completion: Completion | None = None
        failure: EndpointError | None = None
        try:
            async with asyncio.timeout(self._left(tally)):
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

    def _left(self, tally: Tally) -> float:
        """Seconds that are left of a question's time."""
        return self.timeout - tally.seconds - tally.waited

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
            failure.detail += f" It asks to be left alone for {round(pause / 3600, 1):g} hours."
            self.stop(failure.reason, failure.detail)
            return
        if failure.overloaded:
            self.limiter.throttled(pause, again=again)
        elif failure.reason is not Reason.AUTH:
            self.limiter.failed()
        kind = {"permanent": not failure.again, "overloaded": failure.overloaded}
        self.breaker.failed(failure.reason, failure.detail, **kind)

    def _check(self) -> None:
        if self.stopped:
            raise Stopped(*self.stopped)

    def _wake(self) -> None:
        self.ahead.set()
        self._stop.set()
        self.limiter.dismiss(_Woken)
