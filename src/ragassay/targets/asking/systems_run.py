"""Asks systems: every query, as often as wanted, of one system or of several side by side."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any

import orjson

from ragassay import __version__
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.base.score import Reason
from ragassay.formats import native
from ragassay.judges.ledger.store import Ledger
from ragassay.judges.ledger.system_answers import KeptFailure, SystemAnswers
from ragassay.targets.asking.asked_queries import request_of
from ragassay.targets.asking.asked_system import AskedQuery, AskedSystem, Key, advice
from ragassay.targets.asking.asking_budget import AskingBudget
from ragassay.targets.asking.measurements import (
    FAILED_BEFORE,
    NOT_ASKED,
    STOPPED,
    failed,
    read,
    stored_answer,
)
from ragassay.targets.target import SystemReply, Target, foreign
from ragassay.targets.target_factory import AskOptions
from ragassay.transport.accounts import Stopped
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.limits import Limiter
from ragassay.transport.sending import INTERRUPTED, Sender, SendRequest, Tally


class SystemsRun:
    """Asks every query of every system, and makes a sample of each answer.

    For each query and repeat the systems are asked one right after the other, in turns first, so
    that load and drift hit them alike. What the ledger holds is not asked.

    While an answer is being kept, the next query is asked already: a commit takes as long as some
    systems do. There are never more answers that are not kept yet than twice the concurrency.

    Attributes:
        targets: who is asked.
        done: samples that are finished.
        stopped: whether it was told to stop.
        from_ledger: for each system when those of its answers were asked that were there before, in
            seconds since 1970.

    Args:
        queries: what is asked; ids are distinct.
        targets: who is asked.
        options: how.
        ledger: where answers are kept, each before it is used.
    """

    def __init__(
        self,
        queries: Sequence[Sample],
        targets: Sequence[Target],
        options: AskOptions,
        ledger: Ledger,
    ) -> None:
        self._queries, self._options, self._ledger = queries, options, ledger
        self.targets = targets
        self._systems: list[AskedSystem] = []
        # Samples that may still be to come.
        self._samples: defaultdict[Key, asyncio.Future[Sample]]
        self._samples = defaultdict(lambda: asyncio.get_running_loop().create_future())
        self._begun: set[Key] = set()
        self._ids = {one.id for one in queries}
        self._by_turns = {_user_turns(one): one for one in reversed(queries)}
        self.done = 0
        self.stopped = False
        self.from_ledger: defaultdict[str, list[float]] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def total(self) -> int:
        """Samples that there will be."""
        return len(self._queries) * len(self.targets) * self._options.repeat

    def stop(self) -> None:
        """Asks nothing new; what is in flight is waited for. From any thread."""
        self.stopped = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and all is stopped
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        for system in self._systems:
            system.sender.stop(Reason.CONNECTION, INTERRUPTED)

    async def run(self, take: Callable[[Sample], None]) -> None:
        """Asks.

        Args:
            take: is given each system's samples in the order of repeats and queries, as soon as
                those before are there.

        Raises:
            RagassayError: a system cannot be asked at all, or the ledger cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        options = self._options
        budget = None if options.budget is None else Budget.parse(options.budget)
        async with AsyncExitStack() as stack:
            self._systems = [self._system(target, budget) for target in self.targets]
            if self.stopped:
                self._stop()
            await self._open(stack)
            units = self._units()
            workers = min(options.concurrency, self.total)
            await _all(
                *(self._work(units) for _ in range(workers)),
                *(self._hand_over(at, take) for at in range(len(self._systems))),
            )

    def _system(self, target: Target, budget: Budget | None) -> AskedSystem:
        options = self._options
        own = None if budget is None else AskingBudget(budget, target.price)
        sender = Sender(
            target,
            # A limiter's own pace is for endpoints that serve many; -j is what is wanted here.
            Limiter(options.concurrency, rpm=options.rpm),
            account=own,
            timeout=options.timeout,
            attempts=options.retries + 1,
        )
        answers = SystemAnswers(self._ledger, target.name, target.fingerprint)
        if answers.has_answered:
            sender.breaker.succeeded()  # by an answer of an earlier run
        asked = {"fingerprint": target.fingerprint, "ragassay": __version__}
        if options.gold_passages:
            asked["passages"] = "gold"
        return AskedSystem(target, sender, answers, asked, own)

    async def _open(self, stack: AsyncExitStack) -> None:
        """Opens the systems, and warms them up."""
        for system in self._systems:
            # Also where opening fails halfway: what was started ends.
            stack.push_async_callback(system.target.close)
            await system.target.open()
            if self._options.gold_passages and not system.target.takes_passages:
                raise UsageError(
                    f"The target {system.target.url} takes no passages, so it cannot be given the "
                    "gold ones. Give it a place for them ({{passages}} in a mapping file, a "
                    "parameter called passages)."
                )
        for query in self._queries[: self._options.warm_up]:
            body = request_of(query, query.history, 0, self._options).body()
            for system in self._systems:
                await self._warm_up(system, body)

    async def _warm_up(self, system: AskedSystem, body: bytes) -> None:
        """Asks once. The answer counts nowhere; what it takes is spent of the budget."""

        async def ignore(completion: Completion) -> None: ...

        account, timeout = system.budget, self._options.timeout
        sender = Sender(system.target, account=account, timeout=timeout, attempts=1)
        with suppress(EndpointError):  # the same shows when the query is asked
            await sender.send(SendRequest(body, 0, 0, Tally(), ignore))

    def _units(self) -> Iterator[tuple[Sample, int, list[int]]]:
        """What one worker takes at a time: a query, its repeat, and the systems in their order.

        Queries that failed in earlier runs come last, those that failed more often after the
        others: failures in a row may end a run, and each run is to get further than the last.
        """
        order = list(range(len(self._systems)))
        units = [(query, at) for at in range(self._options.repeat) for query in self._queries]
        if not self._options.refresh:
            units.sort(key=lambda unit: self._times_failed(unit[0].id, unit[1]))
        for query, repeat in units:
            yield query, repeat, list(order)
            order.append(order.pop(0))

    def _times_failed(self, query: str, repeat: int) -> int:
        """How often a query failed in earlier runs and was not answered since, over all systems."""
        return sum(one.answers.times_failed(query, repeat) for one in self._systems)

    async def _work(self, units: Iterator[tuple[Sample, int, list[int]]]) -> None:
        previous: asyncio.Future[Sample] | None = None
        for query, repeat, order in units:
            for at in order:
                sample = await self._ask(at, query, repeat)
                if previous is not None:
                    await previous  # a ledger that is slow slows the asking down
                previous = sample

    async def _hand_over(self, at: int, take: Callable[[Sample], None]) -> None:
        """Gives the samples of a system away, in the order of repeats and queries."""
        for repeat in range(self._options.repeat):
            for query in self._queries:
                take(await self._samples[at, query.id, repeat])

    def _settle(self, key: Key, sample: Sample) -> None:
        """Gives a sample to those who wait for it."""
        self.done += key[1] in self._ids
        self._samples[key].set_result(sample)

    async def _ask(self, at: int, query: Sample, repeat: int) -> asyncio.Future[Sample]:
        """Asks a system, unless that was begun before.

        Returns:
            The answer as a sample, once it is kept, or the failure.
        """
        key, system = (at, query.id, repeat), self._systems[at]
        if key in self._begun:
            return self._samples[key]
        self._begun.add(key)
        asked = system.asked
        if self._options.history == "own" and query.history:
            asked = {**asked, "history": "own"}
        one = AskedQuery(key, query, system, asked)
        try:
            history = await self._history(at, query, repeat)
            one.request = request_of(query, history, repeat, self._options)
            one.body = one.request.body()
            record = None if self._options.refresh else await self._kept(one)
            if record is None:
                await self._send(one)
            else:
                stored = read(record)
                if query.id in self._ids:
                    self.from_ledger[system.target.name].append(stored.metadata["at"])
                if system.budget is not None:
                    system.budget.learn(stored.metadata)
                self._settle(key, one.answered(stored))
                await asyncio.sleep(0)  # others have their turn, and an interrupt is seen
        except EndpointError as error:
            self._fail(one, error)
        return self._samples[key]

    async def _kept(self, one: AskedQuery) -> str | None:
        """The record of a query's answer that the ledger holds. Where it holds none, no other
        process asks the query until its answer here is kept."""
        answers = one.system.answers
        record = answers.find(one.body)
        if record is None:
            record = await answers.claim(one.body, lambda: self.stopped)
            self._samples[one.key].add_done_callback(lambda _: answers.release(one.body))
        return record

    def _fail(self, one: AskedQuery, error: EndpointError) -> None:
        """Makes a sample of a failure. The failure of a request that was asked is kept; that of an
        earlier run stands for a request that is not asked again."""
        detail = " ".join(filter(None, (f"{error.detail.rstrip('.')}.", advice(error))))
        detail = detail.encode("utf-8", "replace").decode()  # it may quote anything
        reason = STOPPED if isinstance(error, Stopped) else str(error.reason)
        measured: dict[str, Any] = {
            "attempts": one.tally.attempts,
            "seconds": round(one.tally.seconds, 3),
        }
        before = self._failed_before(one)
        times = before.times
        if isinstance(error, Stopped) and times:
            measured, times = {**orjson.loads(before.record), NOT_ASKED: detail}, 0
            reason, detail = measured.pop("failure"), measured.pop("detail")
        again = {FAILED_BEFORE: times} if times else {}
        _, query, repeat = one.key
        name, asked = one.system.target.name, {**measured, **one.asked, **again}
        sample = failed(one.query, name, repeat, reason, detail, asked)
        if one.request is None or isinstance(error, Stopped):
            self._settle(one.key, sample)
            return
        record = orjson.dumps({"failure": reason, "detail": detail, **measured}).decode()
        stored = KeptFailure(times + 1, record)
        keeping = one.system.answers.keep_failure(one.body, query, repeat, stored)
        keeping.add_done_callback(partial(self._deliver, one.key, sample))

    def _failed_before(self, one: AskedQuery) -> KeptFailure:
        """How a request failed in earlier runs: 0 times where all is asked anew."""
        is_new = self._options.refresh or one.request is None
        failure = None if is_new else one.system.answers.failure(one.body)
        return failure or KeptFailure(0, "")

    async def _send(self, one: AskedQuery) -> None:
        """Sends a request until it is answered. The sample is there as soon as the ledger has the
        answer, which may be later."""
        system, (_, query, repeat) = one.system, one.key
        times_failed = self._failed_before(one).times

        async def receive(completion: Completion) -> None:
            assert isinstance(completion, SystemReply)
            stored = stored_answer(completion, one.tally, time.time(), times_failed)
            try:
                record = native.dump(stored).decode()
            except InputError as error:
                raise foreign(
                    f"{system.target.url}: the reply cannot be kept, because a text in it is no "
                    "Unicode (half a pair of surrogates). Correct how the system cuts or decodes "
                    "its texts."
                ) from error
            keeping = system.answers.keep(one.body, query, repeat, record)
            keeping.add_done_callback(partial(self._deliver, one.key, one.answered(stored)))

        try:
            await system.sender.send(SendRequest(one.body, 0, 0, one.tally, receive))
        except EndpointError as error:
            system.learn(error)
            raise
        system.learn(None)

    def _deliver(self, key: Key, sample: Sample, keeping: asyncio.Future[None]) -> None:
        """Settles a sample once the ledger has its answer, or could not keep it."""
        waiting, error = self._samples[key], keeping.exception()
        if waiting.cancelled():
            return  # all has ended
        if error is None:
            self._settle(key, sample)
        else:
            waiting.set_exception(error)
            waiting.exception()  # the first error ends all, and nobody asks for the others

    async def _history(self, at: int, query: Sample, repeat: int) -> tuple[Turn, ...]:
        """The earlier turns that a system is given."""
        users = [place for place, turn in enumerate(query.history) if turn.speaker == "user"]
        if self._options.history == "given" or not users:
            return query.history
        last = users[-1]
        earlier = self._by_turns.get(tuple(query.history[place].text for place in users))
        # A query of the data is an earlier turn of another one where their turns agree.
        if earlier is None or query.history[: len(earlier.history)] != earlier.history:
            name = f"{query.id}/turn-{len(users)}"
            while name in self._ids:  # a query of the data is called like that
                name += "'"
            facts = {"query": query.history[last].text, "history": query.history[:last]}
            earlier = Sample(id=name, metadata=query.metadata, **facts)  # type: ignore[arg-type]
        sample = await asyncio.shield(await self._ask(at, earlier, repeat))
        if sample.answer is None:
            kind, _, detail = str(sample.failure).partition(": ")
            if kind == STOPPED:
                raise Stopped(Reason.CONNECTION, detail)
            raise EndpointError(Reason(kind), f"its earlier turn {earlier.id!r} failed: {detail}")
        turns = Turn("user", earlier.query_text), Turn("agent", sample.answer.text)
        return (*sample.history, *turns)


def _user_turns(query: Sample) -> tuple[str, ...]:
    """What the user said up to and with a query."""
    earlier = (turn.text for turn in query.history if turn.speaker == "user")
    return (*earlier, query.query_text)


async def _all(*work: Coroutine[Any, Any, None]) -> None:
    """Runs coroutines side by side; the first error of one ends them all."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
