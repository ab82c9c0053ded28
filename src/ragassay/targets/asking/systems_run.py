"""Asks systems while something else is done: every query, as often as wanted, of one system or of
several side by side; with the samples as they come."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import AsyncExitStack, ExitStack, suppress
from functools import partial
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
    read,
    request_of,
    told,
)
from ragassay.targets.reply_shapes import SystemReply
from ragassay.targets.target import Target
from ragassay.targets.target_factory import AskOptions
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.endpoint import Stopped
from ragassay.transport.limits import Limiter
from ragassay.transport.sending import INTERRUPTED, Sender, Tally
from ragassay.user_code import background_loop

_Key = tuple[int, str, int]
"""Number of a system, id of a query, repeat."""

_Unit = tuple[Sample, int, list[int]]
"""A query, its repeat, and the numbers of the systems in the order in which they are asked."""


class _Interrupted(Exception):  # noqa: N818 - it is a signal
    """The asking was stopped; no file is written."""


class SystemsRun:
    """Asks every query of every system in a thread of its own while the block runs, and makes a
    sample of each answer. The end of the block waits for the last answer; an error in it stops the
    asking, and waits for what is in flight, because that is paid for. The files appear when all is
    asked.

    For each query and repeat the systems are asked one right after the other, in turns first, so
    that load and drift hit them alike. While an answer is being kept, the next query is asked
    already, and never more than twice the concurrency.

    Attributes:
        arriving: the samples of each system.
        done, total: samples that are finished, and that there will be.
    """

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
        self.arriving = {one.name: Arriving() for one in targets}
        self.done, self.total = 0, len(queries) * len(targets) * options.repeat
        self._systems: list[System] = []
        # Samples that may still be to come.
        self._samples: defaultdict[_Key, asyncio.Future[Sample]]
        self._samples = defaultdict(lambda: asyncio.get_running_loop().create_future())
        self._begun: set[_Key] = set()
        self._ids = {one.id for one in queries}
        self._by_turns = {_user_turns(one): one for one in reversed(queries)}
        # When those answers were asked that an earlier run got, by system.
        self._from_ledger: defaultdict[str, list[float]] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False
        self._asked: Future[None] | None = None

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
        samples = {name: one.samples for name, one in self.arriving.items()}
        summaries = {
            one.name: summarise(one, samples[one.name], self._from_ledger[one.name])
            for one in self._targets
        }
        return Answers(tuple(chain.from_iterable(samples.values())), summaries, self.files)

    def _stop(self) -> None:
        for system in self._systems:
            system.sender.stop(Reason.CONNECTION, INTERRUPTED)

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
                    workers = min(self._options.concurrency, self.total)
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
        """Opens the systems, and warms them up."""
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
        for query, system in product(self._queries[: options.warm_up], self._systems):
            await self._warm_up(system, query)

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

    async def _warm_up(self, system: System, query: Sample) -> None:
        """Asks once. The answer counts nowhere; what it takes is spent of the budget."""

        async def ignore(completion: Completion) -> None: ...

        request = request_of(query, query.history, 0, gold=self._options.gold_passages)
        account, timeout = system.account, self._options.timeout
        sender = Sender(system.target, account=account, timeout=timeout, attempts=1)
        with suppress(EndpointError):  # the same shows when the query is asked
            await sender.send(request.body(), ignore, Tally())

    def _units(self) -> Iterator[_Unit]:
        """What one worker takes at a time. Queries that failed in earlier runs come last: failures
        in a row may end a run, and each run is to get further than the last."""
        order = list(range(len(self._systems)))
        units = [(query, at) for at in range(self._options.repeat) for query in self._queries]
        if not self._options.refresh:
            units.sort(
                key=lambda unit: sum(
                    one.answers.times_failed(unit[0].id, unit[1]) for one in self._systems
                )
            )
        for query, repeat in units:
            yield query, repeat, list(order)
            order.append(order.pop(0))

    async def _work(self, units: Iterator[_Unit]) -> None:
        previous: asyncio.Future[Sample] | None = None
        for query, repeat, order in units:
            for at in order:
                sample = await self._ask(at, query, repeat)
                if previous is not None:
                    await previous  # a ledger that is slow slows the asking down
                previous = sample

    async def _hand_over(self, at: int, streams: Mapping[str, IO[bytes]]) -> None:
        """Gives the samples of a system away, in the order of repeats and queries. Their files are
        written on the loop, which waits for replies most of the time: later it would cost extra."""
        name = self._targets[at].name
        stream = streams.get(name)
        for repeat, query in product(range(self._options.repeat), self._queries):
            sample = await self._samples[at, query.id, repeat]
            if stream is not None:
                stream.write(native.dump(sample))
            self.arriving[name].samples.append(sample)

    async def _ask(self, at: int, query: Sample, repeat: int) -> asyncio.Future[Sample]:
        """Asks a system, unless that was begun before; the answer, once it is kept, or the
        failure."""
        key, system = (at, query.id, repeat), self._systems[at]
        if key in self._begun:
            return self._samples[key]
        self._begun.add(key)
        own = self._options.history == "own" and bool(query.history)
        asked = AskedQuery(
            query, repeat, system, {**system.facts, "history": "own"} if own else system.facts
        )
        try:
            history = await self._history(at, query, repeat) if own else query.history
            gold = self._options.gold_passages
            asked.request = request_of(query, history, repeat, gold=gold)
            asked.body = asked.request.body()
            if not self._options.refresh:
                asked.before = system.answers.failure(asked.body) or KeptFailure(0, "")
                if (record := await self._kept(key, asked)) is not None:
                    self._take_kept(key, asked, read(record))
                    await asyncio.sleep(0)  # others have their turn, and an interrupt is seen
                    return self._samples[key]
            await self._send(key, asked)
        except EndpointError as error:
            self._fail(key, asked, error)
        return self._samples[key]

    async def _kept(self, key: _Key, asked: AskedQuery) -> str | None:
        """The record of a query's answer that the ledger holds. Where it holds none, no other
        process asks the query until its answer here is kept."""
        answers = asked.system.answers
        record = answers.find(asked.body)
        if record is None:
            record = await answers.claim(asked.body, lambda: self._stopped)
            self._samples[key].add_done_callback(lambda _: answers.release(asked.body))
        return record

    def _take_kept(self, key: _Key, asked: AskedQuery, stored: Sample) -> None:
        """Takes an answer of the ledger, and notes what it took."""
        if asked.query.id in self._ids:
            self._from_ledger[asked.system.target.name].append(stored.metadata["at"])
        if asked.system.account is not None:
            asked.system.account.learn(stored.metadata)
        self._settle(key, asked.answered(stored))

    async def _send(self, key: _Key, asked: AskedQuery) -> None:
        """Sends a request until it is answered. The sample is there as soon as the ledger has the
        answer, which may be later."""
        system = asked.system

        async def receive(completion: Completion) -> None:
            assert isinstance(completion, SystemReply)
            stored = asked.stored(completion, time.time())
            record = asked.record(stored)
            keeping = system.answers.keep(asked.body, asked.query.id, asked.repeat, record)
            keeping.add_done_callback(partial(self._deliver, key, asked.answered(stored)))

        try:
            await system.sender.send(asked.body, receive, asked.tally)
        except EndpointError as error:
            system.learn(error)
            raise
        system.learn(None)

    def _fail(self, key: _Key, asked: AskedQuery, error: EndpointError) -> None:
        """Makes a sample of a failure. The failure of a request that was asked is kept; that of an
        earlier run stands for a request that is not asked again."""
        is_stopped, detail = isinstance(error, Stopped), told(error)
        reason = STOPPED if is_stopped else str(error.reason)
        measured: dict[str, Any] = {
            "attempts": asked.tally.attempts,
            "seconds": round(asked.tally.seconds, 3),
        }
        if is_stopped and asked.before.times:
            measured = {**orjson.loads(asked.before.record), NOT_ASKED: detail}
            reason, detail = measured.pop("failure"), measured.pop("detail")
        sample = asked.failed(reason, detail, measured)
        if asked.request is None or is_stopped:
            self._settle(key, sample)
            return
        record = orjson.dumps({"failure": reason, "detail": detail, **measured}).decode()
        failure = KeptFailure(asked.before.times + 1, record)
        answers = asked.system.answers
        keeping = answers.keep_failure(asked.body, asked.query.id, asked.repeat, failure)
        keeping.add_done_callback(partial(self._deliver, key, sample))

    def _settle(self, key: _Key, sample: Sample) -> None:
        self.done += key[1] in self._ids
        self._samples[key].set_result(sample)

    def _deliver(self, key: _Key, sample: Sample, keeping: asyncio.Future[None]) -> None:
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
        sample = await asyncio.shield(await self._ask(at, earlier, repeat))
        if sample.answer is None:
            kind, _, detail = str(sample.failure).partition(": ")
            if kind == STOPPED:
                raise Stopped(Reason.CONNECTION, detail)
            raise EndpointError(Reason(kind), f"its earlier turn {earlier.id!r} failed: {detail}")
        turns = Turn("user", earlier.query_text), Turn("agent", sample.answer.text)
        return (*sample.history, *turns)


def _user_turns(query: Sample) -> tuple[str, ...]:
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
