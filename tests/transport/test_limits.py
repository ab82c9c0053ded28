"""How fast an endpoint may be asked, and when to stop asking. In virtual time: no test waits."""

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.sending import (
    ALIKE_IN_A_ROW,
    AUTH_IN_A_ROW,
    IN_A_ROW,
    UNUSABLE_IN_A_ROW,
    Breaker,
    Limiter,
)
from virtual_time import VirtualLoop, in_virtual_time, virtually


class Endpoint:
    """Asks through a limiter as a judge does."""

    def __init__(self, loop: VirtualLoop, limiter: Limiter, latency: float = 0.2) -> None:
        self.loop, self.limiter, self.latency = loop, limiter, latency
        self.sent: list[tuple[float, int]] = []
        self.in_flight = self.most = 0

    async def call(self, tokens: int = 1) -> None:
        async with self.limiter.slot(tokens):
            self.sent.append((self.loop.time(), tokens))
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            await asyncio.sleep(self.latency)
            self.in_flight -= 1
        self.limiter.succeeded()

    async def calls(self, n: int, tokens: int = 1) -> float:
        """Seconds that ``n`` calls take."""
        begun = self.loop.time()
        await asyncio.gather(*(self.call(tokens) for _ in range(n)))
        return self.loop.time() - begun


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
async def test_a_wave_of_answers_raises_the_pace_and_a_failure_lowers_it(loop: VirtualLoop) -> None:
    for most, limit, more in ((64, 10.0, 2.0), (640, 100.0, 20.0), (8, 2.0, 1.0)):
        limiter = Limiter(most, clock=loop.time)
        limiter.limit = limit
        for _ in range(int(limit)):
            limiter.succeeded()
        assert limit + 0.8 * more < limiter.limit <= limit + more
        limiter.limit = most - 0.001
        limiter.succeeded()
        assert limiter.limit == most
        for left in (most - 0.25, most - 0.5):
            limiter.failed()
            assert limiter.limit == left
        limiter.limit = 1.1
        limiter.failed()
        assert limiter.limit == 1


@in_virtual_time
async def test_a_pause_is_kept_by_all_and_a_shorter_one_does_not_end_it(loop: VirtualLoop) -> None:
    limiter, begun = Limiter(4, clock=loop.time), loop.time()
    for pause in (30.0, 10.0, 0.5, 0.0):
        async with limiter.slot() if pause == 30 else nullcontext():
            limiter.throttled(pause, again=False)
        assert limiter.limit == (4 if pause else 1), "a time of 0 is none"
    limiter.limit, limiter._wave = 4, 0
    limiter.throttled(1.0, again=True)
    assert limiter.limit == 1, "in vain, only the pace can be lowered"
    await asyncio.gather(*(hold(limiter) for _ in range(2)))
    assert loop.time() - begun == pytest.approx(32)


@in_virtual_time
async def test_a_minute_of_tokens_is_used_and_a_large_request_leaves_a_debt(loop) -> None:
    """Five seconds' worth may go out together: 500 tokens; then 5,500 a minute."""
    endpoint = Endpoint(loop, Limiter(64, tpm=6000, clock=loop.time), latency=0.0)
    assert await endpoint.calls(80, tokens=100) == pytest.approx(7500 / 5500 * 60, rel=0.01)
    large = Endpoint(loop, Limiter(64, tpm=6000, clock=loop.time), latency=0.0)
    assert await large.calls(2, tokens=1000) == pytest.approx(1000 / 5500 * 60, rel=0.01)
    paced = Endpoint(loop, Limiter(64, rpm=120, clock=loop.time), latency=0.0)
    assert await paced.calls(50, tokens=500) == pytest.approx(40 / 111 * 60, rel=0.01)


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


class Clock:
    now = 50.0

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


@pytest.mark.parametrize(("reason", "answered", "seconds"), [
    (Reason.CONNECTION, False, 5), (Reason.CONNECTION, True, 60), (Reason.TIMEOUT, False, 0),
    (Reason.TIMEOUT, True, 60), (Reason.SERVER_ERROR, False, 20),
    (Reason.SERVER_ERROR, True, 60), (Reason.JUDGE_ERROR, False, 20),
    (Reason.RATE_LIMITED, False, 300), (Reason.RATE_LIMITED, True, 300),
])  # fmt: skip
def test_eight_failures_in_a_row_end_a_run_after_a_while(reason, answered, seconds: int) -> None:
    clock, told = Clock(), list[Any]()
    breaker = Breaker(clock, on_trip=lambda *said: told.append(said))

    def fail(n: int) -> None:
        for _ in range(n):  # a burst at one moment may be a server that is just starting
            breaker.failed(reason, "busy (503).", overloaded=True)

    if answered:
        fail(1)
        clock.now += 1000
        breaker.succeeded()
    fail(IN_A_ROW - 1)
    clock.now += seconds - 0.1
    fail(1 if seconds else 0)
    assert breaker.tripped is None and not told
    clock.now += 0.1
    fail(1)
    assert breaker.tripped is not None and breaker.tripped[0] is reason
    n = IN_A_ROW + (seconds > 0)
    over = f" over {seconds} seconds" if seconds else ""
    assert f"busy (503) ({n} requests in a row failed{over}, so no more" in breaker.tripped[1]
    fail(20)
    assert told == [breaker.tripped], "said once"


def test_a_long_row_of_failures_at_one_moment_is_waited_for() -> None:
    breaker = Breaker(Clock())
    for _ in range(10 * ALIKE_IN_A_ROW):
        breaker.failed(Reason.CONNECTION, "refused")
        breaker.failed(Reason.SERVER_ERROR, "loading (503)", overloaded=True)
        breaker.failed(Reason.REFUSED, "no", permanent=True)  # it is an answer
    assert breaker.tripped is None


@pytest.mark.parametrize(("answered", "permanent", "overloaded", "ends"), [
    (False, False, False, True), (True, True, False, True), (True, False, False, False),
    (False, False, True, False), (False, True, True, True),
])  # fmt: skip
def test_hopeless_requests_in_a_row_end_a_run(answered, permanent, overloaded, ends: bool) -> None:
    breaker = Breaker(Clock())
    if answered:
        breaker.succeeded()
    for at in range(ALIKE_IN_A_ROW):
        assert breaker.tripped is None
        kind = {"permanent": permanent, "overloaded": overloaded}
        breaker.failed(Reason.SERVER_ERROR, f"500: bad (request r{at}-f)", **kind)
    assert (breaker.tripped is not None) == ends
    if breaker.tripped:
        assert "16 requests in a row failed in the same way" in breaker.tripped[1]


def test_questions_without_a_usable_reply_end_a_run_where_none_had_one() -> None:
    breaker = Breaker()
    for n in range(UNUSABLE_IN_A_ROW - 1):
        breaker.unusable(f"prose {n}.")
    breaker.unusable("another", kind="other")  # of another kind: the row begins anew
    for n in range(UNUSABLE_IN_A_ROW):
        assert breaker.tripped is None
        breaker.unusable(f"prose {n}.")
    assert breaker.tripped is not None
    reason, told = breaker.tripped
    assert reason is Reason.UNPARSABLE and told.startswith("prose 15 (") and "16 questions" in told
    few = Breaker(usable=True)
    few.unusable("prose", most=1)
    assert few.tripped is None, "the model can give answers"
    few.usable = False
    for _ in range(2):
        few.unusable("x", Reason.FAILED, most=2, sentence=lambda said: f"{len(said)} of them")
    assert few.tripped == (Reason.FAILED, "2 of them")


@pytest.mark.parametrize("between", [
    lambda breaker: breaker.succeeded(),
    lambda breaker: breaker.failed(Reason.SERVER_ERROR, "another", permanent=True),
    lambda breaker: breaker.failed(Reason.SERVER_ERROR, "failed (503)"),
])  # fmt: skip
def test_hopeless_requests_among_others_do_not_end_a_run(between) -> None:
    breaker = Breaker()
    for _ in range(5):
        for _ in range(ALIKE_IN_A_ROW - 1):
            breaker.failed(Reason.SERVER_ERROR, "rejected", permanent=True)
        between(breaker)
    assert breaker.tripped is None
