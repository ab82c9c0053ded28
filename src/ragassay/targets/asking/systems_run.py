"""Asks systems side by side, in a thread of its own, and gives the samples as they come."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import IO, Any

import orjson

from ragassay import __version__
from ragassay.base.errors import UsageError
from ragassay.base.files import atomic
from ragassay.base.sample import Sample, Turn
from ragassay.base.score import Reason
from ragassay.formats import native
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.system_answers import KeptFailure, SystemAnswers
from ragassay.targets.asking.ask_summary import LOOK_EVERY_S, Answers, Arriving, summarise
from ragassay.targets.asking.system import (
    NOT_ASKED,
    STOPPED,
    AskedQuery,
    System,
    SystemAccount,
    failure_text,
    read,
    request_of,
)
from ragassay.targets.reply_shapes import SystemReply
from ragassay.targets.target import Target
from ragassay.targets.target_factory import AskOptions
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.endpoint import Stopped
from ragassay.transport.sending import INTERRUPTED, Limiter, Sender
from ragassay.user_code import background_loop

_Key = tuple[int, str, int]
"""Number of a system, id of a query, repeat."""

_Unit = tuple[Sample, int, list[int]]
"""A query, its repeat, and the numbers of the systems in the order in which they are asked."""


class _Interrupted(Exception):  # noqa: N818 - it is a signal
    """The asking was stopped; no file is written."""


class SystemsRun:
    """Asks every query of every system in a thread while the block runs, and makes a sample of each
    answer (``arriving``). An error in the block stops the asking, but what is in flight, which is
    paid for, is waited for. For each query the systems are asked one right after the other, in
    turns first, so that load and drift hit them alike; never more than twice the concurrency."""

    def __init__(
        self,
        queries: Sequence[Sample],
        targets: Sequence[Target],
        options: AskOptions,
        ledger: Ledger,
        files: Mapping[str, Path],
    ) -> None:
        self._queries, self._targets, self.files = queries, targets, files
        self._options, self._ledger = options, ledger
        self.arriving = {target.name: Arriving() for target in targets}
        self.done, self.total = 0, len(queries) * len(targets) * options.repeat
        self._systems: list[System] = []
        # Samples that may still be to come.
        self._samples: defaultdict[_Key, asyncio.Future[Sample]]
        self._samples = defaultdict(lambda: asyncio.get_running_loop().create_future())
        self._begun: set[_Key] = set()
        self._places = asyncio.Semaphore(options.concurrency)
        self._ids = {query.id for query in queries}
        self._by_turns = {
            (*query.earlier_queries, query.query_text): query for query in reversed(queries)
        }
        self._from_ledger = Counter[str]()  # answers that an earlier run got, by system
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False
        self._asked: Future[None] | None = None

    def expected(self) -> list[Sample]:
        """The queries without answers yet, as a system that failed would leave them."""
        return [replace(query, failure=STOPPED) for query in self._queries]

    def __enter__(self) -> SystemsRun:
        self._asked = background_loop.run(self._ask_all())
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.wait()
            return
        assert self._asked is not None
        self._stopped = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and all is stopped
                self._loop.call_soon_threadsafe(self._stop)
        with suppress(Exception):
            self._asked.result()

    @property
    def failed(self) -> bool:
        """Whether the asking itself has ended with an error."""
        return self._asked is not None and self._asked.done() and bool(self._asked.exception())

    def wait(self, progress: Callable[[int], None] | None = None) -> Answers:
        """Waits until all is asked, and tells ``progress`` how many samples are done."""
        assert self._asked is not None
        tell = progress or (lambda n: None)
        while not self._asked.done():
            tell(self.done)
            with suppress(FutureTimeout):
                self._asked.exception(LOOK_EVERY_S)
        self._asked.result()
        tell(self.done)
        samples = {name: arriving.samples for name, arriving in self.arriving.items()}
        summaries = {
            target.name: summarise(target, samples[target.name], self._from_ledger[target.name])
            for target in self._targets
        }
        return Answers(tuple(chain.from_iterable(samples.values())), summaries, self.files)

    def _stop(self) -> None:
        for system in self._systems:
            system.sender.stop(Reason.STOPPED, INTERRUPTED)

    async def _ask_all(self) -> None:
        self._loop = asyncio.get_running_loop()
        error: BaseException | None = None
        try:
            with ExitStack() as files:
                streams = {}
                for name, path in self.files.items():
                    packed = native.packed(files.enter_context(atomic(path)), path)
                    streams[name] = files.enter_context(packed)
                async with AsyncExitStack() as stack:
                    await self._open(stack)
                    units = self._units()
                    # Half of them may wait for the ledger: a slow one slows the asking down.
                    workers = min(2 * self._options.concurrency, self.total)
                    await _all(
                        *(self._work(units) for _ in range(workers)),
                        *(self._hand_over(at, streams) for at in range(len(self._systems))),
                    )
                if self._stopped:
                    raise _Interrupted
        except BaseException as caught:
            error = caught
            raise
        finally:
            for place in self.arriving.values():
                place.end(error)

    async def _open(self, stack: AsyncExitStack) -> None:
        """Opens the systems."""
        options = self._options
        budget = None if options.budget is None else Budget.parse(options.budget)
        self._systems = [self._system(target, budget) for target in self._targets]
        if self._stopped:
            self._stop()
        for system in self._systems:
            # Also where opening fails halfway: what was started ends.
            stack.push_async_callback(system.target.close)
            await system.target.open()
            if options.gold_passages and not system.target.takes_passages:
                why = f"The target {system.target.url} takes no passages, so it cannot be given the"
                do = "Give it {{passages}} in a mapping file, or a parameter called passages"
                raise UsageError(f"{why} gold ones. {do}.")

    def _system(self, target: Target, budget: Budget | None) -> System:
        options = self._options
        account = None if budget is None else SystemAccount(budget, target.price)
        sender = Sender(
            target,
            # A limiter's own pace is for endpoints that serve many; -j is what is wanted here.
            Limiter(options.concurrency, rpm=options.rpm),
            account=account,
            timeout=options.timeout,
            attempts=options.retries + 1,
        )
        answers = SystemAnswers(self._ledger, target.name, target.fingerprint)
        if answers.has_answered:
            sender.breaker.succeeded()  # by an answer of an earlier run
        facts = {"fingerprint": target.fingerprint, "ragassay": __version__}
        if options.gold_passages:
            facts["passages"] = "gold"
        return System(target, sender, answers, facts, account)

    def _units(self) -> Iterator[_Unit]:
        """What one worker takes at a time; queries that failed in earlier runs come last."""
        order = list(range(len(self._systems)))
        units = [(query, at) for at in range(self._options.repeat) for query in self._queries]
        if not self._options.refresh:
            units.sort(
                key=lambda unit: sum(
                    system.answers.times_failed(unit[0].id, unit[1]) for system in self._systems
                )
            )
        for query, repeat in units:
            yield query, repeat, list(order)
            order.append(order.pop(0))

    async def _work(self, units: Iterator[_Unit]) -> None:
        for query, repeat, order in units:
            for at in order:
                await self._ask(at, query, repeat)

    async def _hand_over(self, at: int, streams: Mapping[str, IO[bytes]]) -> None:
        """Gives away and writes the samples of a system in the order of repeats and queries."""
        name = self._targets[at].name
        stream = streams.get(name)
        for repeat, query in product(range(self._options.repeat), self._queries):
            sample = await self._samples[at, query.id, repeat]
            if stream is not None:
                stream.write(native.dump(sample))
            self.arriving[name].samples.append(sample)

    async def _ask(self, at: int, query: Sample, repeat: int) -> Sample:
        """The query with the system's answer, which the ledger has, or its failure; asked once."""
        key, system = (at, query.id, repeat), self._systems[at]
        if key in self._begun:
            return await asyncio.shield(self._samples[key])
        self._begun.add(key)
        own = self._options.history == "own" and bool(query.history)
        facts = {**system.facts, "history": "own"} if own else system.facts
        asked = AskedQuery(query, repeat, system, facts)
        is_claimed = False
        try:
            history = await self._history(at, query, repeat) if own else query.history
            gold = self._options.gold_passages
            asked.request = request_of(query, history, repeat, gold=gold)
            asked.body = asked.request.body()
            record = None
            if not self._options.refresh:
                asked.before = system.answers.failure(asked.body) or KeptFailure(0, "")
                record = system.answers.find(asked.body)
                if record is None:  # no other process asks before the answer is kept
                    is_claimed = True
                    record = await system.answers.claim(asked.body, lambda: self._stopped)
            if record is None:
                sample = await self._send(asked)
            else:
                sample = self._taken(asked, read(record))
                await asyncio.sleep(0)  # others have their turn, and an interrupt is seen
        except EndpointError as error:
            sample = await self._failed(asked, error)
        if is_claimed:
            system.answers.release(asked.body)
        self.done += query.id in self._ids
        self._samples[key].set_result(sample)
        return sample

    def _taken(self, asked: AskedQuery, stored: Sample) -> Sample:
        """The sample of an answer that the ledger has; notes what it took."""
        if asked.query.id in self._ids:
            self._from_ledger[asked.system.target.name] += 1
        if asked.system.account is not None:
            asked.system.account.learn(stored.metadata)
        return asked.answered(stored)

    async def _send(self, asked: AskedQuery) -> Sample:
        """Sends a request until it is answered; the sample, when the ledger has the answer."""
        system = asked.system
        kept: list[tuple[Sample, asyncio.Future[None]]] = []

        async def receive(completion: Completion) -> None:
            assert isinstance(completion, SystemReply)
            stored = asked.stored(completion, time.time())
            record = asked.record(stored)
            keeping = system.answers.keep(asked.body, asked.query.id, asked.repeat, record)
            kept.append((stored, keeping))

        async with self._places:
            try:
                await system.sender.send(asked.body, receive, asked.tally)
            except EndpointError as error:
                system.learn(error)
                raise
            system.learn(None)
        [(stored, keeping)] = kept
        await asyncio.shield(keeping)
        return asked.answered(stored)

    async def _failed(self, asked: AskedQuery, error: EndpointError) -> Sample:
        """The sample of a failure, which is kept; for one that was stopped an earlier one counts. A
        query that was answered before keeps that answer."""
        is_stopped, detail = isinstance(error, Stopped), failure_text(error)
        reason = STOPPED if is_stopped else str(error.reason)
        measured: dict[str, Any] = {
            "attempts": asked.tally.attempts,
            "seconds": round(asked.tally.seconds, 3),
        }
        if is_stopped and asked.before.times:
            measured = {**orjson.loads(asked.before.record), NOT_ASKED: detail}
            reason, detail = measured.pop("failure"), measured.pop("detail")
        elif asked.request is not None and not is_stopped:
            record = orjson.dumps({"failure": reason, "detail": detail, **measured}).decode()
            failure = KeptFailure(asked.before.times + 1, record)
            keep = asked.system.answers.keep_failure
            await asyncio.shield(keep(asked.body, asked.query.id, asked.repeat, failure))
        return asked.failed(reason, detail, measured)

    async def _history(self, at: int, query: Sample, repeat: int) -> tuple[Turn, ...]:
        """The earlier turns with the system's own answers."""
        users = [place for place, turn in enumerate(query.history) if turn.speaker == "user"]
        if not users:
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
        sample = await self._ask(at, earlier, repeat)
        if sample.answer is None:
            kind, _, detail = str(sample.failure).partition(": ")
            if kind == STOPPED:
                raise Stopped(Reason.STOPPED, detail)
            raise EndpointError(Reason(kind), f"its earlier turn {earlier.id!r} failed: {detail}")
        turns = Turn("user", earlier.query_text), Turn("agent", sample.answer.text)
        return (*sample.history, *turns)


async def _all(*work: Coroutine[Any, Any, None]) -> None:
    """Runs coroutines side by side; the first error of one ends them all."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
