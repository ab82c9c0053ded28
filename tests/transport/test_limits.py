"""How fast an endpoint may be asked, and when to stop asking. In virtual time: no test waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.sending import (
    ALIKE_IN_A_ROW,
    AUTH_IN_A_ROW,
    Breaker,
    Limiter,
)
from virtual_time import VirtualLoop, in_virtual_time, virtually


class Endpoint:
    """Asks through a limiter as a judge does: a request that is turned away is sent again."""

    def __init__(self, loop: VirtualLoop, limiter: Limiter, latency: float = 0.2) -> None:
        self.loop, self.limiter, self.latency = loop, limiter, latency
        self.sent: list[tuple[float, int]] = []
        self.in_flight = self.most = self.turned_away = self.answered = 0
        self.capacity: int | None = None
        self.stumbles: Callable[[int], bool] = lambda n: False
        self.retry_after: float | None = None

    async def call(self, tokens: int = 1) -> None:
        while True:
            async with self.limiter.slot(tokens):
                self.sent.append((self.loop.time(), tokens))
                number = len(self.sent)
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                full = self.capacity is not None and self.in_flight > self.capacity
                await asyncio.sleep(0.01 if full else self.latency)
                self.in_flight -= 1
                if full:
                    self.turned_away += 1
                    self.limiter.throttled(self.retry_after)
                    continue
            if self.stumbles(number):
                self.limiter.failed()
            else:
                self.limiter.succeeded()
                self.answered += 1
                return

    async def calls(self, n: int, tokens: int = 1) -> float:
        """Seconds that ``n`` calls take."""
        begun = self.loop.time()
        await asyncio.gather(*(self.call(tokens) for _ in range(n)))
        return self.loop.time() - begun


# --- concurrency ------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3, 64, 500])
@in_virtual_time
async def test_never_more_requests_are_in_flight_than_allowed(loop: VirtualLoop, most: int) -> None:
    endpoint = Endpoint(loop, Limiter(most, clock=loop.time))
    await endpoint.calls(2000)
    assert endpoint.most == most
    assert endpoint.limiter.active == 0


@in_virtual_time
async def test_a_wave_that_is_turned_away_halves_the_concurrency_once(loop: VirtualLoop) -> None:
    limiter = Limiter(64, clock=loop.time)

    async def away() -> None:
        async with limiter.slot():
            await asyncio.sleep(0.2)
            limiter.throttled()

    await asyncio.gather(*(away() for _ in range(64)))
    assert int(limiter.limit) in (32, 31)
    await asyncio.gather(*(away() for _ in range(4)))
    assert int(limiter.limit) in (1, 2), "a second wave is a second sign, of what was in flight"


@in_virtual_time
async def test_after_trouble_the_pace_comes_back_to_the_most(loop: VirtualLoop) -> None:
    endpoint = Endpoint(loop, Limiter(64, clock=loop.time))
    endpoint.capacity = 2
    await endpoint.calls(100)
    assert endpoint.limiter.limit <= 6
    endpoint.capacity = None
    await endpoint.calls(3000)
    assert endpoint.limiter.limit == 64


@in_virtual_time
async def test_single_errors_of_a_server_do_not_end_the_pace(loop: VirtualLoop) -> None:
    endpoint = Endpoint(loop, Limiter(64, clock=loop.time))
    endpoint.stumbles = lambda n: n % 10 == 0
    seconds = await endpoint.calls(3000)
    assert seconds <= 1.5 * 3000 * 0.2 / 64


# --- pauses and rates -------------------------------------------------------------------------


@in_virtual_time
async def test_what_was_begun_is_ended_before_anything_new_begins(loop: VirtualLoop) -> None:
    limiter = Limiter(1, clock=loop.time)
    order: list[str] = []

    async def one(name: str, begun: bool) -> None:
        async with limiter.slot(begun=begun):
            order.append(name)
            await asyncio.sleep(1)

    names = {"first": False, "new": False, "begun": True, "also begun": True, "newer": False}
    await asyncio.gather(*(one(*item) for item in names.items()))
    assert order == ["first", "begun", "also begun", "new", "newer"]


@in_virtual_time
async def test_a_request_that_was_alone_and_told_when_to_come_back_costs_no_concurrency(
    loop: VirtualLoop,
) -> None:
    limiter = Limiter(64, clock=loop.time)
    for _ in range(2):
        async with limiter.slot():
            limiter.throttled(1.0)
    assert limiter.limit == 64
    for pause, again in ((None, False), (1.0, True)):
        limiter.limit = 64
        async with limiter.slot():
            limiter.throttled(pause, again=again)
        assert limiter.limit == 1, "without a time, or in vain, only the pace can be lowered"


@given(rpm=st.integers(1, 3000), latency=st.sampled_from([0.01, 0.5, 20.0]))
def test_no_minute_sees_more_requests_than_allowed(rpm: int, latency: float) -> None:
    async def work(loop: VirtualLoop) -> list[float]:
        endpoint = Endpoint(loop, Limiter(64, rpm=rpm, clock=loop.time), latency)
        await endpoint.calls(min(2 * rpm + 10, 150))
        return [at for at, _ in endpoint.sent]

    assert most_in_a_minute([(at, 1) for at in virtually(work)]) <= rpm


@given(tpm=st.integers(6000, 200_000), tokens=st.integers(1, 500))
def test_no_minute_sees_more_tokens_than_allowed(tpm: int, tokens: int) -> None:
    async def work(loop: VirtualLoop) -> list[tuple[float, int]]:
        endpoint = Endpoint(loop, Limiter(64, tpm=tpm, clock=loop.time))
        await endpoint.calls(80, tokens)
        return endpoint.sent

    assert most_in_a_minute(virtually(work)) <= tpm


@in_virtual_time
async def test_a_limit_of_requests_counts_no_tokens(loop: VirtualLoop) -> None:
    endpoint = Endpoint(loop, Limiter(64, rpm=600, clock=loop.time))
    assert await endpoint.calls(100, tokens=500) < 15


def most_in_a_minute(sent: list[tuple[float, int]]) -> int:
    return max(sum(n for at, n in sent if begun <= at < begun + 60 - 1e-6) for begun, _ in sent)


@in_virtual_time
async def test_waiting_ends_for_whoever_is_cancelled_and_for_nobody_else(loop: VirtualLoop) -> None:
    limiter = Limiter(1, clock=loop.time)
    order: list[int] = []

    async def one(number: int) -> None:
        async with limiter.slot():
            order.append(number)
            await asyncio.sleep(1)

    tasks = [asyncio.ensure_future(one(number)) for number in range(5)]
    await asyncio.sleep(0.5)
    tasks[0].cancel()  # holds the slot
    tasks[2].cancel()  # waits
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 1, 3, 4], "first come, first in"
    assert limiter.active == 0


async def hold(limiter: Limiter) -> None:
    async with limiter.slot(1):
        assert limiter.active == 1
        await asyncio.sleep(1)


@in_virtual_time
async def test_who_waits_is_sent_away_once_nothing_more_is_to_be_sent(loop: VirtualLoop) -> None:
    limiter = Limiter(1, clock=loop.time)
    async with limiter.slot():
        waiting = [asyncio.ensure_future(hold(limiter)) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limiter.dismiss(lambda: UsageError("over."))
        found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in found] == [asyncio.CancelledError] + [UsageError] * 4
    assert limiter.active == 0
    await asyncio.wait_for(hold(limiter), 5)  # places can still be had


@pytest.mark.parametrize("wrong", [{"most": 0}, {"rpm": 0}, {"tpm": -5}, {"rpm": float("nan")}])
def test_a_limit_of_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="greater than 0"):
        Limiter(**wrong)


# --- the breaker ------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_a_key_that_was_taken_before_is_tried_a_few_times_more() -> None:
    breaker = Breaker()
    breaker.succeeded()
    for _ in range(AUTH_IN_A_ROW - 1):
        breaker.failed(Reason.AUTH, "no")
    assert breaker.tripped is None
    breaker.succeeded()
    for _ in range(AUTH_IN_A_ROW):
        breaker.failed(Reason.AUTH, "no")
    assert breaker.tripped == (Reason.AUTH, "no")


def test_an_endpoint_that_never_answers_ends_the_run_after_seconds() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(1000):  # a burst at one moment may be a server that is just starting
        breaker.failed(Reason.CONNECTION, "refused")
    assert breaker.tripped is None
    clock.now += 6
    breaker.failed(Reason.CONNECTION, "refused.")
    assert breaker.tripped is not None
    reason, sentence = breaker.tripped
    assert reason is Reason.CONNECTION
    assert "refused (1001 requests in a row failed over 6 seconds" in sentence
    assert "Try again" in sentence


def test_requests_that_are_hopeless_in_the_same_way_end_the_run_at_once() -> None:
    breaker = Breaker()
    breaker.succeeded()
    for at in range(ALIKE_IN_A_ROW):
        assert breaker.tripped is None
        breaker.failed(Reason.SERVER_ERROR, f"rejected: bad (request r{at}-f)", permanent=True)
    assert breaker.tripped is not None
    assert "16 requests in a row failed in the same way" in breaker.tripped[1]


@pytest.mark.parametrize(
    "between",
    [
        lambda breaker: breaker.succeeded(),
        lambda breaker: breaker.failed(Reason.SERVER_ERROR, "another", permanent=True),
        lambda breaker: breaker.failed(Reason.SERVER_ERROR, "failed (503)"),
    ],
)
def test_hopeless_requests_among_others_do_not_end_a_run(
    between: Callable[[Breaker], None],
) -> None:
    breaker = Breaker()
    for _ in range(5):
        for _ in range(ALIKE_IN_A_ROW - 1):
            breaker.failed(Reason.SERVER_ERROR, "rejected", permanent=True)
        between(breaker)
    assert breaker.tripped is None


def test_an_endpoint_that_is_not_ready_yet_is_waited_for() -> None:
    breaker = Breaker()
    for _ in range(10 * ALIKE_IN_A_ROW):
        breaker.failed(Reason.SERVER_ERROR, "loading (503)", overloaded=True)
    assert breaker.tripped is None


def test_an_endpoint_that_answered_before_is_given_more_time() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.succeeded()
    for _ in range(50):
        breaker.failed(Reason.CONNECTION, "reset")
        clock.now += 1
    assert breaker.tripped is None
    clock.now += 10
    breaker.failed(Reason.SERVER_ERROR, "500")
    assert breaker.tripped is not None
    assert breaker.tripped[0] is Reason.SERVER_ERROR


def test_an_endpoint_that_turns_requests_away_for_their_rate_is_waited_for_longest() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.succeeded()
    for _ in range(20):
        breaker.failed(Reason.RATE_LIMITED, "429", overloaded=True)
        clock.now += 14
    assert breaker.tripped is None
    clock.now += 30
    breaker.failed(Reason.RATE_LIMITED, "429", overloaded=True)
    assert breaker.tripped is not None
