"""Asks systems: every query, as often as wanted, of one system or of several side by side."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from ragassay import __version__
from ragassay.errors import InputError, UsageError
from ragassay.judges.ledger import KeptFailure, Ledger, SystemAnswers
from ragassay.samples import Passage, Sample, Turn
from ragassay.scores import Reason
from ragassay.targets.ask_summary import MOST_WAYS, told_apart
from ragassay.targets.asking_budget import AskingBudget
from ragassay.targets.measurements import (
    ASKED,
    FAILED_BEFORE,
    NO_ANSWER,
    NOT_ASKED,
    STOPPED,
    answered,
    failed,
    kept_of,
    read,
    written,
)
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Request,
    SystemReply,
    Target,
    foreign,
)
from ragassay.targets.target_factory import AskOptions
from ragassay.transport import (
    INTERRUPTED,
    Budget,
    Limiter,
    Sender,
    SendRequest,
    Stopped,
    Tally,
)
from ragassay.transport.endpoints import Completion, EndpointError

_NO_SYSTEM: Mapping[str, Any] = {
    "system": "", "repeat": 0, "answer": None, "passages": None, "failure": None, "given": {},
    "given_by": {}, "given_unscored": {}, "runs": (),
}  # fmt: skip
"""The fields that a system filled, as they are where none did."""
_MEASURED = frozenset({ASKED, NO_ANSWER})
"""Keys of metadata that belong to an answer."""

_Key = tuple[int, str, int]
"""Number of a system, id of a query, repeat."""

ALIKE = 16
"""So many failures of one kind in a row, before the first answer, end the asking of a system."""

ALIKE_ADDRESSES = 5
"""So many do where the system refuses them for their address or their key."""

_ADVICE = {
    Reason.TIMEOUT: "Raise --timeout, or look at why the system is slow.",
    Reason.CONNECTION: "Start the system and run the same command again: it asks what is missing.",
    Reason.RATE_LIMITED: "Ask more slowly (--rpm, -j), or try more often (--retries).",
    Reason.SERVER_ERROR: "Look into the system's log. If it has too much to do, lower -j or --rpm, "
    "or raise --retries.",
}
_CUT = "Look into the system's log; the same command asks what is missing."


def _advice(error: EndpointError) -> str:
    """What to do about a failure; empty where its sentence says that, or nothing is known."""
    if error.detail == INTERRUPTED:
        return ""
    return _CUT if isinstance(error, CutReplyError) else _ADVICE.get(error.reason, "")


@dataclass
class _System:
    """A target, and how it is asked."""

    target: Target
    sender: Sender
    answers: SystemAnswers
    told: Mapping[str, Any]
    budget: AskingBudget | None = None
    had_answered: bool = False  # in an earlier run
    has_answered: bool = False
    in_a_row: list[str] = field(default_factory=list)  # what failures of one kind said
    last: tuple[Reason, type[EndpointError]] | None = None

    def learn(self, error: EndpointError | None) -> None:
        """Stops a system that answers nothing, with one sentence in place of thousands."""
        if error is None:
            self.has_answered = True
        if error is None or self.has_answered or isinstance(error, Stopped):
            return
        # The queries that are left may all be bad ones; a key may have expired since.
        if self.had_answered and not isinstance(error, RefusedKeyError):
            return
        kind = error.reason, type(error)
        if kind != self.last:
            self.in_a_row, self.last = [], kind
        self.in_a_row.append(error.detail)
        n = len(self.in_a_row)
        if n < (ALIKE_ADDRESSES if isinstance(error, RefusedAddressError) else ALIKE):
            return
        (first, _), *others = ways = told_apart(self.in_a_row)
        if others:
            told = "; ".join(f"{of} of them: {said.rstrip('. ')}" for said, of in ways[:MOST_WAYS])
            more = f"; {len(ways) - MOST_WAYS} further ways" if len(ways) > MOST_WAYS else ""
            sentence = f"the first {n} queries failed, so no more are asked. {told}{more}."
        else:
            sentence = (
                f"{first.rstrip('. ')} (the first {n} queries failed like that, so no more are "
                "asked)."
            )
        self.sender.stop(error.reason, sentence)


class SystemsRun:
    """Asks every query of every system, and makes a sample of each answer.

    For each query and repeat the systems are asked one right after the other, in turns first, so
    that load and drift hit them alike. What the ledger holds is not asked.

    While an answer is being kept, the next query is asked already: a commit takes as long as some
    systems do. There are never more answers that are not kept yet than twice the concurrency.

    Attributes:
        done: samples that are there.
        stopped: whether it was told to stop.
        from_ledger: for each system when those of its answers were asked that were there before, in
            seconds since 1970.

    Args:
        queries: what is asked; ids are distinct.
        targets: who is asked.
        options: how.
        ledger: where answers are kept, each before it is used.
        take: is given each system's samples in the order of repeats and queries, as soon as those
            before are there: the number of the system, and the sample.
    """

    def __init__(
        self,
        queries: Sequence[Sample],
        targets: Sequence[Target],
        options: AskOptions,
        ledger: Ledger,
        take: Callable[[int, Sample], None],
    ) -> None:
        self._take = take
        self._queries, self._options, self._ledger = queries, options, ledger
        self._targets = targets
        self._systems: list[_System] = []
        self._samples: dict[_Key, asyncio.Future[Sample]] = {}
        self._begun: set[_Key] = set()
        self._ids = {one.id for one in queries}
        self._by_turns = {_words(one): one for one in reversed(queries)}
        self.done = 0
        self.stopped = False
        self.from_ledger: defaultdict[str, list[float]] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def total(self) -> int:
        """Samples that there will be."""
        return len(self._queries) * len(self._targets) * self._options.repeat

    def stop(self) -> None:
        """Asks nothing new; what is in flight is waited for. From any thread."""
        self.stopped = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and all is stopped
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        for system in self._systems:
            system.sender.stop(Reason.CONNECTION, INTERRUPTED)

    async def run(self) -> None:
        """Asks.

        Raises:
            RagassayError: a system cannot be asked at all, or the ledger cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        options = self._options
        budget = None if options.budget is None else Budget.parse(options.budget)
        async with AsyncExitStack() as stack:
            for target, known_as in zip(self._targets, ledger_names(self._targets), strict=True):
                # A limiter's own pace is for endpoints that serve many; -j is what is wanted here.
                limiter = Limiter(options.concurrency, rpm=options.rpm)
                own = None if budget is None else AskingBudget(budget, target.price)
                sender = Sender(
                    target,
                    limiter,
                    account=own,
                    timeout=options.timeout,
                    attempts=options.retries + 1,
                )
                answers = SystemAnswers(self._ledger, target.name, known_as)
                if answers.has_answered:
                    sender.breaker.succeeded()  # by an answer of an earlier run
                told = {"fingerprint": target.fingerprint, "ragassay": __version__}
                if options.gold_passages:
                    told["passages"] = "gold"
                system = _System(target, sender, answers, told, own, answers.has_answered)
                self._systems.append(system)
            if self.stopped:
                self._stop()
            await self._open(stack)
            units = self._units()
            workers = min(options.concurrency, self.total)
            await _all(
                *(self._work(units) for _ in range(workers)),
                *(self._hand_over(at) for at in range(len(self._systems))),
            )

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
            for system in self._systems:
                await self._warm_up(
                    system, request_of(query, query.history, 0, self._options).body()
                )

    async def _warm_up(self, system: _System, body: bytes) -> None:
        """Asks once. The answer counts nowhere; what it takes is spent of the budget."""
        account, pay = system.budget, None
        with suppress(Stopped):  # the same shows when the query is asked
            pay = None if account is None else await account.claim(body)
            reply: Completion | None = None
            free, sent = False, True
            try:
                async with asyncio.timeout(self._options.timeout):
                    reply = await system.target.send(body)
            except EndpointError as error:
                free, sent = error.free, error.sent
            except TimeoutError:
                pass
            if account is not None and pay is not None:
                account.settle(pay, reply, free=free, sent=sent)

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
        before: asyncio.Future[Sample] | None = None
        for query, repeat, order in units:
            for at in order:
                now = await self._asked(at, query, repeat)
                if before is not None:
                    await before  # a ledger that is slow slows the asking down
                before = now

    async def _hand_over(self, at: int) -> None:
        """Gives the samples of a system away, in the order of repeats and queries."""
        for repeat in range(self._options.repeat):
            for query in self._queries:
                self._take(at, await self._sample((at, query.id, repeat)))

    def _sample(self, key: _Key) -> asyncio.Future[Sample]:
        """A sample that may still be to come."""
        if key not in self._samples:
            self._samples[key] = asyncio.get_running_loop().create_future()
        return self._samples[key]

    def _settle(self, key: _Key, sample: Sample) -> None:
        """A sample is there."""
        self.done += key[1] in self._ids
        self._sample(key).set_result(sample)

    async def _asked(self, at: int, query: Sample, repeat: int) -> asyncio.Future[Sample]:
        """Asks a system, unless that was begun before.

        Returns:
            The answer as a sample, once it is kept, or the failure.
        """
        key, system = (at, query.id, repeat), self._systems[at]
        if key in self._begun:
            return self._sample(key)
        self._begun.add(key)
        told = system.told
        if self._options.history == "own" and query.history:
            told = {**told, "history": "own"}
        tally = Tally()
        body: bytes | None = None
        try:
            history = await self._history(at, query, repeat)
            body = request_of(query, history, repeat, self._options).body()
            record = None if self._options.refresh else system.answers.find(body)

            def made(kept: Sample) -> Sample:
                if self._options.gold_passages:
                    given = tuple(Passage(text) for text in _gold(query))
                    kept = replace(kept, passages=given)
                return answered(query, system.target.name, repeat, history, kept, told)

            if record is None:
                await self._send(key, system, body, tally, made)
            else:
                kept = read(record)
                if query.id in self._ids:
                    self.from_ledger[system.target.name].append(kept.metadata["at"])
                if system.budget is not None:
                    system.budget.learn(kept.metadata)
                self._settle(key, made(kept))
                await asyncio.sleep(0)  # others have their turn, and an interrupt is seen
        except EndpointError as error:
            self._fail(key, query, body, tally, told, error)
        return self._sample(key)

    def _fail(
        self,
        key: _Key,
        query: Sample,
        body: bytes | None,
        tally: Tally,
        told: Mapping[str, Any],
        error: EndpointError,
    ) -> None:
        """Makes a sample of a failure. The failure of a request that was asked is kept; that of an
        earlier run stands for a request that is not asked again.

        Args:
            key, query: what was to be asked.
            body: of the request; ``None`` where an earlier turn failed, so that there is none.
            tally: of its attempts.
            told: what else is known of the asking.
            error: why there is no answer.
        """
        at, _, repeat = key
        name, answers = self._systems[at].target.name, self._systems[at].answers
        detail = " ".join(filter(None, (f"{error.detail.rstrip('.')}.", _advice(error))))
        detail = detail.encode("utf-8", "replace").decode()  # it may quote anything
        measured: dict[str, Any] = {"attempts": tally.attempts, "seconds": round(tally.seconds, 3)}
        before = None if body is None else self._failed_before(answers, body)
        times = 0 if before is None else before.times
        if isinstance(error, Stopped):
            reason = STOPPED
            if before is not None:
                measured, times = {**orjson.loads(before.record), NOT_ASKED: detail}, 0
                reason, detail = measured.pop("failure"), measured.pop("detail")
        else:
            reason = str(error.reason)
        again = {FAILED_BEFORE: times} if times else {}
        sample = failed(query, name, repeat, reason, detail, {**measured, **told, **again})
        if body is None or isinstance(error, Stopped):
            self._settle(key, sample)
            return
        record = {"failure": reason, "detail": detail, **measured}
        kept = KeptFailure(times + 1, orjson.dumps(record).decode())
        keeping = answers.keep_failure(body, query.id, repeat, kept)
        keeping.add_done_callback(partial(self._kept, key, sample))

    def _failed_before(self, answers: SystemAnswers, body: bytes) -> KeptFailure | None:
        """What is known of a request's failures; nothing where all is asked anew."""
        return None if self._options.refresh else answers.failure(body)

    async def _send(
        self,
        key: _Key,
        system: _System,
        body: bytes,
        tally: Tally,
        made: Callable[[Sample], Sample],
    ) -> None:
        """Sends a request until it is answered. The sample is there as soon as the ledger has the
        answer, which may be later."""
        _, query, repeat = key
        before = self._failed_before(system.answers, body)

        async def receive(completion: Completion) -> None:
            assert isinstance(completion, SystemReply)
            times = 0 if before is None else before.times
            kept = kept_of(completion, tally, time.time(), times)
            try:
                record = written(kept)
            except InputError as error:
                raise foreign(
                    f"{system.target.url}: the reply cannot be kept, because a text in it is no "
                    "Unicode (half a pair of surrogates). Correct how the system cuts or decodes "
                    "its texts."
                ) from error
            keeping = system.answers.keep(body, query, repeat, record)
            keeping.add_done_callback(partial(self._kept, key, made(kept)))

        try:
            await system.sender.send(SendRequest(body, 0, 0, tally, receive))
        except EndpointError as error:
            system.learn(error)
            raise
        system.learn(None)

    def _kept(self, key: _Key, sample: Sample, keeping: asyncio.Future[None]) -> None:
        """Gives a sample to those who wait for it, once its answer is kept, or could not be."""
        there, error = self._sample(key), keeping.exception()
        if there.cancelled():
            return  # all has ended
        if error is None:
            self._settle(key, sample)
        else:
            there.set_exception(error)
            there.exception()  # the first error ends all, and nobody asks for the others

    async def _history(self, at: int, query: Sample, repeat: int) -> tuple[Turn, ...]:
        """The earlier turns that a system is given."""
        users = [place for place, turn in enumerate(query.history) if turn.speaker == "user"]
        if self._options.history == "given" or not users:
            return query.history
        last = users[-1]
        words = (*(query.history[place].text for place in users[:-1]), query.history[last].text)
        earlier = self._by_turns.get(words)
        if earlier is None or not _is_before(earlier, query):
            name = f"{query.id}/turn-{len(users)}"
            while name in self._ids:  # a query of the data is called like that
                name += "'"
            facts = {"query": query.history[last].text, "history": query.history[:last]}
            earlier = Sample(id=name, metadata=query.metadata, **facts)  # type: ignore[arg-type]
        said = await asyncio.shield(await self._asked(at, earlier, repeat))
        if said.answer is None:
            kind, _, why = str(said.failure).partition(": ")
            if kind == STOPPED:
                raise Stopped(Reason.CONNECTION, why)
            raise EndpointError(Reason(kind), f"its earlier turn {earlier.id!r} failed: {why}")
        before = said.history
        return (*before, Turn("user", earlier.query_text), Turn("agent", said.answer.text))


def ledger_names(targets: Sequence[Target]) -> list[str]:
    """What the answers of each target are kept under: its fingerprint. Of one system that is asked
    under several names, to see how far its answers differ by themselves, each has its own.

    Args:
        targets: that are asked together.
    """
    names: list[str] = []
    for at, one in enumerate(targets):
        before = sum(other.fingerprint == one.fingerprint for other in targets[:at])
        names.append(f"{one.fingerprint}-{before + 1}" if before else one.fingerprint)
    return names


def request_of(
    query: Sample, history: tuple[Turn, ...], repeat: int, options: AskOptions
) -> Request:
    """What a system is sent.

    Args:
        query: that is asked.
        history: that the system is given.
        repeat: which time it is asked.
        options: how.
    """
    passages = _gold(query) if options.gold_passages else None
    return Request(query.id, query.query_text, history, repeat, query.metadata, passages)


def _gold(query: Sample) -> tuple[str, ...]:
    """The texts of a query's gold passages."""
    return tuple(one.text for one in query.gold or () if one.grade > 0 and one.text)


def _words(query: Sample) -> tuple[str, ...]:
    """What the user said up to and with a query."""
    said = (turn.text for turn in query.history if turn.speaker == "user")
    return (*said, query.query_text)


def _is_before(earlier: Sample, query: Sample) -> bool:
    """Whether a query of the data is an earlier turn of another: their turns agree."""
    return query.history[: len(earlier.history)] == earlier.history


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


def questions_of(samples: Sequence[Sample]) -> list[Sample]:
    """The queries of samples: without what systems made of them, each once.

    Args:
        samples: of any data; those of several systems or repeats share their queries.

    Raises:
        UsageError: there is none, one has no text, or two differ under one id.
    """
    found: dict[str, Sample] = {}
    for sample in samples:
        if not sample.query_text.strip():
            raise UsageError(f"The record {sample.id!r} has no query, so there is nothing to ask.")
        bare = sample
        if any(getattr(sample, name) != value for name, value in _NO_SYSTEM.items()) or (
            not _MEASURED.isdisjoint(sample.metadata)
        ):
            metadata = {k: v for k, v in sample.metadata.items() if k not in _MEASURED}
            bare = replace(sample, metadata=metadata, **_NO_SYSTEM)
        first = found.setdefault(sample.id, bare)
        if (first.query, first.history) != (bare.query, bare.history):
            raise UsageError(
                f"Two records with the id {sample.id!r} ask different things: {first.query!r} and "
                f"{bare.query!r}. Give each query an id of its own."
            )
    if not found:
        raise UsageError("There is no query to ask.")
    return list(found.values())
